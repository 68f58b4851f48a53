/** The rows of the table of runs, from the coordinator: filtered and sorted there, read as the viewer scrolls. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { StudyTable } from '../../../src/contract/types.ts';
import { request } from '../data/api.ts';

const FIRST = 200;
const NEXT = 1_000;
/** The largest page of the API: a study that runs is read again in one page. */
const MOST = 10_000;

export type Row = Readonly<Record<string, unknown>>;

export interface Rows {
  rows: readonly Row[];
  /** Runs that the filters select; undefined before the first answer. */
  matched: number | undefined;
  isDone: boolean;
  error: string | undefined;
  more: () => void;
}

export interface Wanted {
  batchId: string;
  columns: readonly string[];
  where: string | undefined;
  sort: string | undefined;
}

interface State {
  key: string;
  rows: readonly Row[];
  matched: number | undefined;
  next: string | undefined;
  error: string | undefined;
}

const EMPTY: State = { key: '', rows: [], matched: undefined, next: undefined, error: undefined };

/** `round`: the rows that are shown are read again when it changes. */
export function useRows({ batchId, columns, where, sort }: Wanted, round: unknown): Rows {
  const query = new URLSearchParams({ columns: columns.join(',') });
  if (where !== undefined) query.set('where', where);
  if (sort !== undefined) query.set('sort', sort);
  // Commas separate names in lists: they are not escaped.
  const key = `/batches/${batchId}/table?format=json&${query.toString().replaceAll('%2C', ',')}`;
  const [state, setState] = useState<State>(EMPTY);
  const latest = useRef(state);
  latest.current = state;
  const isReading = useRef(false);
  useEffect(() => {
    const abort = new AbortController();
    const isSame = latest.current.key === key;
    const limit = isSame ? Math.min(MOST, Math.max(FIRST, latest.current.rows.length)) : FIRST;
    page(`${key}&limit=${limit}`, abort.signal).then(
      (found) => setState({ key, error: undefined, ...found }),
      (error: Error) => {
        if (!abort.signal.aborted) setState({ ...EMPTY, key, error: error.message });
      },
    );
    return () => abort.abort();
  }, [key, round]);
  const more = useCallback(() => {
    const { next } = latest.current;
    if (next === undefined || isReading.current) return;
    isReading.current = true;
    page(next, undefined)
      .then(
        (found) =>
          setState((before) =>
            before.next === next ? { ...before, ...found, rows: [...before.rows, ...found.rows] } : before,
          ),
        (error: Error) => setState((before) => ({ ...before, error: error.message })),
      )
      .finally(() => {
        isReading.current = false;
      });
  }, []);
  const { rows, matched, next, error } = state;
  return { rows, matched, isDone: state.key === key && next === undefined, error, more };
}

async function page(path: string, signal: AbortSignal | undefined): Promise<Pick<State, 'rows' | 'matched' | 'next'>> {
  const { data, headers } = await request<StudyTable>(path, signal === undefined ? {} : { signal });
  const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return { rows: data.rows, matched: data.matched, next: next?.replace(/limit=\d+/, `limit=${NEXT}`) };
}
