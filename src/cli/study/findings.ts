/** Findings of a study as lines of text. */
import type { Finding } from '../../contract/types.ts';
import type { Tone } from '../terminal/colour.ts';

/** True for a finding that puts the results in doubt. */
export const isDoubtful = ({ severity }: Finding): boolean => severity === 'doubtful';

const HEADS: Record<Finding['severity'], string> = {
  doubtful: 'DOUBTFUL',
  blocked: 'NOT RUNNING',
  warning: 'WARNING',
  waiting: 'WAITING',
  fine: 'OK',
};

/** Returns the lines of the findings: the message, and the remedy except where all is fine. */
export function findingLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ severity, message, remedy }) => [
    `${HEADS[severity]}: ${message}`,
    ...(severity === 'fine' ? [] : [`  -> ${remedy}`]),
  ]);
}

const TONES: Record<Finding['severity'], Tone> = {
  doubtful: 'bad',
  blocked: 'bad',
  warning: 'warning',
  waiting: 'active',
  fine: 'good',
};

/** The colour of a finding. */
export const findingTone = ({ severity }: Finding): Tone => TONES[severity];
