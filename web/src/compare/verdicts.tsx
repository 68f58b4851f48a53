/** The verdicts on the requirements of two studies, side by side. */
import type { BatchStatusResponse, RequirementVerdict } from '../../../src/contract/types.ts';
import { verdictWord } from '../../../src/analysis/requirements/sentence.ts';
import { requirementClaim } from '../../../src/analysis/wording.ts';
import { Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count, share } from '../parts/time.tsx';
import { shareAxis, type ShareAxis } from '../requirements/axis.ts';
import { Bounds, ShareLabels } from '../requirements/bounds.tsx';

type Judged = Pick<BatchStatusResponse, 'requirements'>;

/** Nothing where neither study has a requirement. Requirements of one name are compared, also where their claims differ. */
export function ComparedVerdicts({ before, after }: { before: Judged; after: Judged }) {
  const [earlier, later] = [before.requirements ?? [], after.requirements ?? []];
  const names = [...new Set([...earlier, ...later].map(({ name }) => name))];
  if (names.length === 0) return null;
  const axis = shareAxis([...earlier, ...later]);
  const of = (all: readonly RequirementVerdict[], name: string): RequirementVerdict | undefined =>
    all.find((it) => it.name === name);
  return (
    <Panel
      title="Requirements, before and after"
      aside={
        <span className="small soft">bars: one-sided bounds at the stated confidence; the runs of each study</span>
      }
      flush
    >
      <Table
        label="Requirements of both studies"
        className="compared-verdicts"
        columns={['Requirement', 'Before', 'After']}
      >
        {names.map((name) => {
          const sides = [of(earlier, name), of(later, name)] as const;
          const claims = [...new Set(sides.flatMap((it) => (it === undefined ? [] : claimOf(it))))];
          return (
            <tr key={name}>
              <td>
                <strong>{name}</strong>
                {claims.map((claim, at) => (
                  <span key={claim} className="small soft mono claim">
                    {claims.length > 1 && (at === 0 ? 'before: ' : 'after: ')}
                    {claim}
                  </span>
                ))}
              </td>
              {sides.map((it, at) => (
                <td key={at === 0 ? 'before' : 'after'}>
                  <Side of={it} axis={axis} />
                </td>
              ))}
            </tr>
          );
        })}
        <tr className="axis-row" aria-hidden="true">
          <td />
          <td>
            <ShareLabels axis={axis} />
          </td>
          <td>
            <ShareLabels axis={axis} />
          </td>
        </tr>
      </Table>
    </Panel>
  );
}

const claimOf = (it: RequirementVerdict): string =>
  `${requirementClaim(it)}, ≥ ${share(it.probability)} at ${share(it.confidence)}`;

function Side({ of: it, axis }: { of: RequirementVerdict | undefined; axis: ShareAxis }) {
  if (it === undefined) return <span className="soft">not required</span>;
  return (
    <div className={`compared-verdict v-${it.verdict ?? 'none'}`} title={it.sentence}>
      <span className="word">{verdictWord(it.verdict)}</span>
      <span className="estimate">{it.estimate === null ? '–' : share(it.estimate)}</span>
      <span className="small soft nowrap">
        {count(it.passed)} of {count(it.judged)}
      </span>
      <Bounds of={it} axis={axis} />
    </div>
  );
}
