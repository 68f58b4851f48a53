/** Words that are a whole test by themselves: how a run ended, or `state:failed`, `class:crashed`, `runner:lab-1`. */
import { JOB_STATUSES } from '../../contract/enums.ts';
import { RUN_CLASSES } from '../table/run-class.ts';
import type { Test } from './expression.ts';

/** The classes of runs that have ended without a result of their own: those of the states Failed and Timeout. */
const FAILED = ['terminated', 'crashed', 'timeout', 'lost'];

/** The test that a word means; undefined for a word that is a name alone. */
export function shortForm(word: string, at: number): Test | undefined {
  const [, kind, value] = /^(state|status|class|runner):(.+)$/i.exec(word) ?? [];
  if (kind === undefined || value === undefined) return classTest(word, at);
  switch (kind.toLowerCase()) {
    case 'class':
      return { kind: 'compare', column: 'class', at, operator: '=', value };
    case 'runner':
      return { kind: 'compare', column: 'runner_id', at, operator: '=', value };
    default:
      return stateTest(value, at);
  }
}

function classTest(word: string, at: number): Test | undefined {
  const name = word.toLowerCase();
  if (name === 'failed') return { kind: 'in', column: 'class', at, values: FAILED };
  const value = name === 'completed' ? 'ok' : RUN_CLASSES.find((it) => it === name);
  return value === undefined ? undefined : { kind: 'compare', column: 'class', at, operator: '=', value };
}

/** `state:failed` means both kinds of failure that the bar of a study shows in red and amber. */
function stateTest(text: string, at: number): Test | undefined {
  const name = text.toLowerCase();
  if (name === 'failed' || name === 'completed') return classTest(name, at);
  const value = JOB_STATUSES.find((it) => it.toLowerCase() === name) ?? text;
  return { kind: 'compare', column: 'status', at, operator: '=', value };
}
