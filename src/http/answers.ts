/** Answers that are more than one JSON value, and how lists of them are laid out. */
import type { Listing } from '../coordinator/reads/listings.ts';
import type { ExportedRecord, ExportListing } from '../coordinator/reads/export.ts';
import type { FileReading } from '../coordinator/files/place.ts';
import type { FileRedirect } from '../coordinator/files/place.ts';
import type { Query } from './route.ts';

/** An answer that is sent unchanged, whole or in pieces. */
export interface RawAnswer {
  /** Absent where the client has the version of the tag. */
  body?: string | Uint8Array | Iterable<string> | AsyncIterable<string | Uint8Array>;
  /** Media type, where the route has several. */
  media?: string;
  /** Entity tag; absent where the answer may be another one at any time. */
  tag?: string | undefined;
  /** The position of the page after this one, if there is one; beside it the number of items on all pages. */
  next?: string | undefined;
  total?: number | undefined;
}

/** A JSON value that is sent once it is known. Until then the request keeps its response and little else in memory. */
export class LateAnswer {
  readonly value: Promise<unknown>;

  constructor(value: Promise<unknown>) {
    this.value = value;
  }
}

/** A JSON value with another status than 200. */
export class StatusAnswer {
  readonly status: 201 | 202;
  readonly value: object;

  constructor(status: 201 | 202, value: object) {
    this.status = status;
    this.value = value;
  }
}

/** A file, or a part of it. */
export interface FileAnswer {
  reading: FileReading | FileRedirect;
  path: string;
  /** A file at another address is answered by a redirect, else by the address. */
  isRedirected: boolean;
}

/** A list that is sent item by item, between a head and a tail. */
export interface ListAnswer {
  listing: Listing<unknown>;
  before: unknown;
  /** Layout of the answer, where it is not the default one. */
  layout?: ListLayout;
}

/** Head, tail and separator of a list, and the text of each item. */
export interface ListLayout {
  head: string;
  separator: string;
  tail: string;
  itemToJson(item: unknown): string;
}

export const list = (listing: Listing<unknown>, before?: unknown): ListAnswer => ({ listing, before });

/** One record per line, so that the file can be read line by line and compared. */
export function exported({ head, records }: ExportListing): ListAnswer {
  const layout: ListLayout = {
    head: `${JSON.stringify(head).slice(0, -1)},"records":[`,
    separator: ',',
    tail: '\n]}\n',
    itemToJson: (item) => {
      const { key, json } = item as ExportedRecord;
      return `\n{"key":${JSON.stringify(key)},"value":${json}}`;
    },
  };
  return { listing: records, before: undefined, layout };
}

/** The filter in a query: its parameters without those of the page. */
export function filterOf<Q extends Query>({
  limit: _limit,
  cursor: _cursor,
  ...filter
}: Q): Omit<Q, 'limit' | 'cursor'> {
  return filter;
}
