/** Findings about records of a study that damage to the data directory has lost. */
import { plural } from '../plural.ts';
import { isOpen, listed, MOST_NAMED, type Rule } from './finding.ts';

const REMEDY =
  'stop the coordinator, see with `simbatch verify` what is damaged, and restore a backup or save the rest with `simbatch repair`';

const SUBMISSION_DAMAGED: Rule = {
  code: 'submission-damaged',
  find(situation) {
    const { submissionFault: fault } = situation;
    if (fault === undefined) return undefined;
    return {
      severity: isOpen(situation) ? 'blocked' : 'doubtful',
      message: `the submission of the study cannot be read, so that none of its runs can be executed: ${fault}`,
      remedy: REMEDY,
    };
  },
};

const RUNS_DAMAGED: Rule = {
  code: 'runs-damaged',
  find({ unreadableRuns: runs = [] }) {
    if (runs.length === 0) return undefined;
    return {
      severity: 'blocked',
      message: `the records of ${plural(runs.length, 'pending run')} (${listed(runs.map(String))}) are missing or damaged: no runner gets ${runs.length === 1 ? 'it' : 'them'}, and the study does not end`,
      remedy: REMEDY,
      count: runs.length,
      runs: runs.slice(0, MOST_NAMED),
    };
  },
};

const ROWS_LOST: Rule = {
  code: 'rows-lost',
  find({ rowsLost: runs }) {
    if (runs === undefined) return undefined;
    return {
      severity: 'doubtful',
      message: `damage to the data directory has lost the rows of ${plural(runs, 'run')}: those that had not ended were cancelled, and the parameters of the others are not known`,
      remedy:
        'see the rounds with `simbatch rounds verify`; append the lost rows again, as a new round under a new key',
      count: runs,
    };
  },
};

export const DAMAGE_RULES: readonly Rule[] = [SUBMISSION_DAMAGED, RUNS_DAMAGED, ROWS_LOST];
