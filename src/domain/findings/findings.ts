/**
 * The findings of a study: reasons why it does not run, or should not be trusted, each with a remedy. One table of rules;
 * a further finding is one more entry of the list to which it belongs. Pure.
 */
import type { Finding } from '../../contract/types.ts';
import { CODE_RULES } from './code.ts';
import { DAMAGE_RULES } from './damage.ts';
import { FAILURE_RULES } from './failures.ts';
import { FILE_RULES } from './files.ts';
import type { Rule, Situation } from './finding.ts';
import { NEVER_READ } from './inputs/never-read.ts';
import { WITHOUT_EFFECT } from './inputs/without-effect.ts';
import { LIMIT_RULES } from './limits.ts';
import { MACHINE_RULES } from './machines.ts';
import { PRECISION_RULES } from './precision.ts';
import { WAITING_RULES } from './waiting.ts';

export const RULES: readonly Rule[] = [
  ...LIMIT_RULES,
  ...PRECISION_RULES,
  NEVER_READ,
  WITHOUT_EFFECT,
  ...CODE_RULES,
  ...DAMAGE_RULES,
  ...FAILURE_RULES,
  ...FILE_RULES,
  ...WAITING_RULES,
  ...MACHINE_RULES,
];

/**
 * Returns the findings in the order of the table: doubts about the results, inputs, code, damage, failures, files, pending runs,
 * machines.
 */
export function findingsOf(situation: Situation): Finding[] {
  return RULES.flatMap((rule) => {
    const found = rule.find(situation);
    return found === undefined ? [] : [{ code: rule.code, ...found }];
  });
}
