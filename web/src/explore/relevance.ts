/** The relevance of all variables to the target: of inputs as the coordinator answers it, of outputs from the runs that are drawn. */
import { useMemo } from 'react';
import type { BatchStatusResponse, StudyAttribution, StudySensitivity } from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { sentenceOf } from '../parts/common.tsx';
import type { Variable } from '../plots/variables.ts';
import { failingContrast, noiseFloor, rankCorrelation, relevanceOf, type Relevance, type Target } from './target.ts';

interface Found {
  relevance: ReadonlyMap<string, Relevance>;
  measure: string;
  note: string;
}

interface Asked {
  progress: BatchStatusResponse;
  target: Target | undefined;
  variables: readonly Variable[];
  status: Uint8Array;
  sample: Uint32Array;
}

export function useRelevance({ progress, target, variables, status, sample }: Asked): Found {
  const { data, error } = useAnswer<StudySensitivity | StudyAttribution>(progress, target?.question);
  return useMemo(() => {
    const relevance = new Map<string, Relevance>();
    if (target === undefined) return { relevance, measure: '', note: '' };
    const answered = data === undefined ? new Map<string, Relevance>() : relevanceOf(data);
    const drawn = variables.find((it) => it.kind === 'output' && it.name === target.output);
    for (const it of variables) {
      const known = it.kind === 'parameter' ? answered.get(it.name) : undefined;
      if (known !== undefined) relevance.set(it.key, known);
      if (it.kind === 'parameter' || it === drawn || it.categories !== undefined) continue;
      const { value, n } =
        drawn === undefined ? failingContrast(it, status, sample) : rankCorrelation(it, drawn, sample);
      if (Number.isFinite(value)) relevance.set(it.key, { value, isApart: Math.abs(value) > noiseFloor(n) });
    }
    return { relevance, measure: measureOf(target), note: noteOf(data, error?.message) };
  }, [data, error, target?.key, variables, status, sample]);
}

/** How the inputs are ranked: for an output by its ranks, for a requirement or failure by the failing runs. */
const measureOf = ({ question }: Target): string =>
  question.startsWith('sensitivity') ? 'partial rank correlation' : 'how much greater in failing runs (2 AUC − 1)';

function noteOf(answer: StudySensitivity | StudyAttribution | undefined, error: string | undefined): string {
  if (error !== undefined) return `The inputs could not be ranked: ${error}`;
  if (answer === undefined) return 'Ranking the inputs …';
  const warnings = answer.warnings.map(({ message }) => message).filter((it) => !answer.sentence.includes(it));
  return ['Pale: not told apart from no influence', answer.sentence, ...warnings].map(sentenceOf).join('. ');
}

/** The variables of each kind with the most relevant first; those without a relevance keep their order. */
export function byRelevance(variables: readonly Variable[], relevance: Found['relevance']): Variable[] {
  const size = ({ key }: Variable): number => Math.abs(relevance.get(key)?.value ?? 0);
  const rank = (it: Variable): number => (it.kind === 'parameter' ? 0 : 1);
  return variables.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a));
}
