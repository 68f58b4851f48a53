/** Injected bugs of the stop at settled requirements and reached precisions. */
import { batchMachine } from '../../machines/batch.ts';
import { StudyPrecision } from '../../src/analysis/precision/study-precision.ts';
import { Judgements } from '../../src/coordinator/judgement/judgements.ts';
import { StudyJudgement } from '../../src/coordinator/judgement/study-judgement.ts';
import { altered, replaced, type SoughtBug } from './finds.ts';
import type { Bug } from './scenario.ts';

/** An injected bug, of the program or of its surroundings. */
export interface Mutation extends SoughtBug {
  bug?: Bug;
}

export const JUDGEMENT_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a stop is decided on the runs that ended and not on the complete prefix',
    patch: () => {
      const add = Reflect.get(StudyJudgement.prototype, 'add');
      const arrived = new WeakMap<StudyJudgement, number>();
      return replaced(
        StudyJudgement.prototype,
        'add',
        function (this: StudyJudgement, _index: number, outcomes: string) {
          const place = arrived.get(this) ?? this.prefix;
          arrived.set(this, place + 1);
          add.call(this, place, outcomes);
        },
      );
    },
    says: /was stopped at run .*, its prefix (settles|is precise) at|has judged .* of .* runs|has the (verdicts|stop) .*, and its runs give/,
  },
  {
    name: 'runs with a value alone count for a precision',
    patch: () => {
      const take = Reflect.get(StudyPrecision.prototype, 'take');
      return replaced(
        StudyPrecision.prototype,
        'take',
        function (this: StudyPrecision, ...args: Parameters<typeof take>) {
          if (!Number.isNaN(args[0](0))) take.apply(this, args);
        },
      );
    },
    says: /is precise at|and its runs give/,
  },
  {
    name: 'a cancelled run does not end the sequence of a precision',
    patch: () => replaced(StudyPrecision.prototype, 'takeCancelled', () => {}),
    says: /is precise at|and its runs give/,
  },
  {
    name: 'the verdicts are forgotten at a restart, and the place in the prefix is not',
    bug: {
      read: (key, value) =>
        key.startsWith('!verdicts!') ? altered(value, (it) => ({ ...it, requirements: [] })) : value,
    },
    says: /was stopped at run .*, its prefix settles at|has the verdicts .*, and its runs give/,
  },
  {
    name: 'a study that had ended at a restart is never judged to its end',
    patch: () => {
      const restores = ['verdictsOf', 'precisionOf'].map((it) => replaced(Judgements.prototype, it, () => undefined));
      return () => {
        for (const restore of restores) restore();
      };
    },
    says: /has ended, and is not judged/,
  },
  {
    name: 'a stop is not acted on',
    patch: () => replaced(batchMachine.implementations.guards, 'stopsByItself', () => false),
    says: /is (settled|precise) at run .* and was not stopped/,
  },
];
