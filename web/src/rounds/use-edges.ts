/** The first rounds of the bands of a study, read once each while it grows. */
import { useEffect, useState } from 'react';
import type { Batch, Round } from '../../../src/contract/types.ts';
import { request } from '../data/api.ts';
import { roundsPerBand, type Edge } from './bands.ts';

export interface Edges {
  edges: readonly Edge[];
  /** Rounds of a band. */
  step: number;
  error: string | undefined;
}

const NONE = { edges: [], error: undefined };

/** Reads the rounds that the bar does not have yet. A request stays in flight while the study grows, or a fast one would never have an answer. */
export function useEdges({ id, rounds = 0 }: Batch): Edges {
  const [known, setKnown] = useState<Omit<Edges, 'step'> & { id: string }>({ ...NONE, id });
  const step = roundsPerBand(rounds);
  const edges = known.id === id ? known.edges.filter(({ round }) => round % step === 0) : [];
  const from = edges.length * step;
  useEffect(() => {
    if (from >= rounds) return;
    request<Round[]>(`/batches/${id}/rounds?from=${from}&step=${step}`).then(
      ({ data }) =>
        setKnown((before) => {
          const kept = before.id === id ? before.edges.filter(({ round }) => round < from) : [];
          return { id, edges: [...kept, ...data], error: undefined };
        }),
      (error: Error) => setKnown((before) => ({ ...before, id, error: error.message })),
    );
  }, [id, from, rounds, step]);
  return { edges, step, error: known.id === id ? known.error : undefined };
}
