/** Why runs of a study fail: the inputs that set the failed runs apart, and the failures by message. */
import type { BatchStatusResponse, StudyAttribution, StudySummary } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { writeRanges } from '../plots/variables.ts';
import { hrefOf } from '../router.ts';
import { plainOrQuoted, quoted } from '../runs/filter.ts';

const SHOWN = 4;
const MOST = 30;
const RUNS = 4;

export function WhyItFails({ progress }: { progress: BatchStatusResponse }) {
  const failed = progress.jobs_by_status.Failed + progress.jobs_by_status.Timeout;
  const { data } = useAnswer<StudyAttribution>(progress, failed === 0 ? undefined : 'attribution');
  if (failed === 0 || data === undefined) return null;
  const levels = (data.levels ?? []).filter((it) => it.told_apart && (it.difference ?? 0) > 0).slice(0, 3);
  const causes = data.parameters.filter((it) => it.told_apart).slice(0, 3);
  return (
    <Panel title="Why it fails">
      <div className="stack tight">
        {data.causes.map((it) => (
          <p key={it.id}>
            <strong>
              {it.pattern} ({it.class}, {count(it.failing)} runs):
            </strong>{' '}
            {it.sentence}
          </p>
        ))}
        {data.causes.length > 0 && <p className="soft">All failing runs together:</p>}
        <p>
          {causes.length === 0
            ? sentence(data)
            : `${count(data.failing)} failed and ${count(data.passing)} passed; most of the failures have`}
        </p>
        {causes.length > 0 &&
          levels.map(({ axis, level, sentence: found }) => (
            <p key={`${axis} ${level}`}>
              <strong>{found}</strong>{' '}
              <a
                className="nowrap"
                href={hrefOf(['batches', progress.batch.id, 'runs'], {
                  where: `${plainOrQuoted(axis)} = ${quoted(level)}`,
                })}
              >
                Runs
              </a>
            </p>
          ))}
        {causes.map(({ name, best_interval: { first, last, sentence: found } }) => (
          <p key={name}>
            <strong>{found}</strong>{' '}
            <a
              className="nowrap"
              href={hrefOf(['batches', progress.batch.id, 'explore'], {
                select: writeRanges(new Map([[`p.${name}`, [first ?? -Infinity, last ?? Infinity]]])),
              })}
            >
              Explore
            </a>
          </p>
        ))}
        <p className="small soft" title={data.warnings.map((it) => it.message).join('. ')}>
          A description of these runs, not a proof: confirm a cause with a new study.
        </p>
      </div>
    </Panel>
  );
}

/** The answer without its first clause, which says how many runs it uses: the page says so elsewhere. */
function sentence({ sentence: text, n_used: used, of }: StudyAttribution): string {
  const clause = /^statistics of [^;]*; (.+)$/s.exec(text)?.[1] ?? text;
  const rest = used < of ? ` (${count(used)} of ${count(of)} runs so far)` : '';
  return clause.charAt(0).toUpperCase() + clause.slice(1) + rest;
}

export function Failures({ progress, summary }: { progress: BatchStatusResponse; summary: StudySummary | undefined }) {
  const { batch } = progress;
  if (summary === undefined) return null;
  const groups = summary.failures;
  const total = groups.reduce((sum, it) => sum + it.count, 0);
  const several = (number: number, what: string): string => `${count(number)} ${what}${number === 1 ? '' : 's'}`;
  // That no run has failed is in the answer, above all cards.
  if (groups.length === 0) return null;
  return (
    <Panel
      title={`Failures: ${several(total, 'run')}, ${several(groups.length, 'kind')}`}
      aside={
        groups.length > SHOWN ? (
          <a className="small" href={hrefOf(['batches', batch.id, 'runs'], { status: 'Failed,Timeout' })}>
            All failed runs
          </a>
        ) : null
      }
      flush
    >
      <div className="failures">
        <Table label="Failures by message" columns={[{ name: 'Runs', right: true }, 'Message pattern', 'Example']}>
          {groups.slice(0, MOST).map((group) => (
            <tr key={group.id}>
              <td className="right nowrap">
                <strong>{count(group.count)}</strong>
                <div className="small soft">{group.class}</div>
              </td>
              <td className="message">
                <a
                  href={hrefOf(['batches', batch.id, 'runs'], { status: 'Failed,Timeout', message: group.pattern })}
                  title={group.pattern}
                >
                  {group.pattern}
                </a>
              </td>
              <td className="mono nowrap inline">
                {group.run_ids.slice(0, RUNS).map((run) => (
                  <a key={run} href={hrefOf(['jobs', jobId(batch.id, run)])}>
                    #{run}{' '}
                  </a>
                ))}
                {group.count > RUNS && <span className="soft">…</span>}
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </Panel>
  );
}
