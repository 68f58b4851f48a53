/** Pages of lists, and the iteration over all of them. */

/** `limit`: 1 to 10,000 (default 1,000); `cursor`: the `next` of the previous page. */
export interface PageQuery {
  limit?: number;
  cursor?: string;
  signal?: AbortSignal;
}

export interface Page<T> {
  items: T[];
  /** The cursor of the next page; undefined on the last page. */
  next: string | undefined;
  /** Number of items that match, where the coordinator knows it. */
  total: number | undefined;
}

/** Options of a paged iteration: at most `pageSize` (1,000) items are in memory at a time. */
export interface ListOptions {
  pageSize?: number;
  signal?: AbortSignal;
}

export const DEFAULT_PAGE = 1000;

/** Every item of all pages. */
export async function* everyItem<T>(
  fetchPage: (page: PageQuery) => Promise<Page<T>>,
  options: ListOptions,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page: PageQuery = { limit: options.pageSize ?? DEFAULT_PAGE };
    if (cursor !== undefined) page.cursor = cursor;
    if (options.signal !== undefined) page.signal = options.signal;
    const { items, next } = await fetchPage(page);
    yield* items;
    cursor = next;
  } while (cursor !== undefined);
}

/** The cursor in `Link: <...>; rel="next"` (RFC 8288) and the number in `X-Total-Count`. */
export function position(headers: Headers): { next: string | undefined; total: number | undefined } {
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(headers.get('link') ?? '')?.[1];
  const next = target === undefined ? null : new URL(target, 'http://relative.invalid').searchParams.get('cursor');
  const total = headers.get('x-total-count');
  return { next: next ?? undefined, total: total !== null && /^\d+$/.test(total) ? Number(total) : undefined };
}
