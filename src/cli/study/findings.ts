/** Findings of a study as lines of text. */
import type { Finding } from '../../contract/types.ts';

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
