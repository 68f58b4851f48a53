/** The design of a study, as a digest by which it is found again, and the members in which two submissions differ. Pure. */
import { createHash } from 'node:crypto';
import type { BatchSubmission } from '../../contract/types.ts';
import { historyName } from '../histories/points.ts';
import { orderedScenarios } from '../scenarios/cells.ts';
import { MEMBERS, type Member, type Part } from './members.ts';
import { valuesOf } from './values.ts';

const SEED = '/config/monte_carlo/seed';
const DESIGN = MEMBERS.filter((it) => it.part === 'design');
const COUNT = MEMBERS.filter((it) => it.part === 'count');
const RUN_IDS = COUNT.filter((it) => /\/(?:cell_)?run_ids$/.test(it.pointer));

/**
 * The submission with the identity of its function alone, its source where that is known, else the digest of its bytes; with the size of
 * its replicates for their number, which grows with the runs; and with the name of each history.
 */
function identified({ code: _, ...submission }: BatchSubmission): object {
  const { simulation, monte_carlo: design } = submission.config;
  const { source, python } = simulation.code ?? {};
  const code = source === undefined ? simulation.code : { source, python };
  const { replicates } = design;
  const sized = typeof replicates === 'number' ? { ...design, replicates: design.runs / replicates } : design;
  const config = { ...submission.config, simulation: { ...simulation, code }, monte_carlo: sized };
  const { histories } = config;
  if (histories != null) config.histories = histories.map((it) => ({ ...it, name: historyName(it) }));
  if (config.scenarios === undefined) return { ...submission, config };
  return { ...submission, config: { ...config, scenarios: orderedScenarios(config.scenarios) } };
}

/** SHA-256 (64 hex digits) of the design without its seed, which is drawn where a submission has none: equal for equal designs. */
export function designHash(submission: BatchSubmission): string {
  const values = valuesOf(identified(submission), DESIGN);
  values.delete(SEED);
  return digestOf('simbatch-design/1', values);
}

/** The members of the count that no extension changes: the runs that a study selects, and the budget of an adaptive one. */
export const fixedMembers = ({ config }: BatchSubmission): readonly Member[] =>
  config.adaptive === undefined ? RUN_IDS : COUNT;

/** SHA-256 (64 hex digits) of the design without its seed, and of the number of runs as far as none can be added: equal for studies that continue each other. */
export function continuationHash(submission: BatchSubmission): string {
  const values = valuesOf(submission, fixedMembers(submission));
  return digestOf(`simbatch-continuation/1\n${designHash(submission)}`, values);
}

function digestOf(format: string, values: ReadonlyMap<string, string>): string {
  const lines = [...values].map(([pointer, text]) => `${JSON.stringify(pointer)}:${text}`).sort();
  return createHash('sha256')
    .update(`${format}\n${lines.join('\n')}`)
    .digest('hex');
}

/** The JSON Pointers of the members in which two submissions differ, by their part, in the order of the table. */
export type Differences = Record<Part, string[]>;

/** Compares two submissions in these members. A function with the same source is the same, whatever its bytes. */
export function differences(
  before: BatchSubmission,
  after: BatchSubmission,
  members: readonly Member[] = MEMBERS,
): Differences {
  const [first, second] = [identified(before), identified(after)];
  const found: Differences = { design: [], judgement: [], count: [], execution: [] };
  for (const member of members) {
    const [old, changed] = [valuesOf(first, [member]), valuesOf(second, [member])];
    for (const pointer of new Set([...old.keys(), ...changed.keys()]))
      if (old.get(pointer) !== changed.get(pointer)) found[member.part].push(pointer);
  }
  return found;
}
