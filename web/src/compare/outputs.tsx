/** The outputs of two studies compared, with the interval of each difference. */
import type { StudyComparison } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { Panel } from '../parts/common.tsx';
import { Table } from '../parts/table.tsx';
import { brief, count, figure } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

export type Paired = Extract<StudyComparison, { paired: true }>;
export type Unpaired = Extract<StudyComparison, { paired: false }>;

/** The interval of a difference against 0. */
export function Difference({ value, range }: { value: number | null; range: readonly [number, number] | null }) {
  if (value === null) return <span className="soft">–</span>;
  if (range === null) return figure(value);
  const [low, high] = range;
  const reach = Math.max(Math.abs(low), Math.abs(high), Number.MIN_VALUE) * 1.1;
  const x = (at: number): number => 60 + (at / reach) * 56;
  const isClear = low > 0 || high < 0;
  return (
    <span className="difference">
      <svg viewBox="0 0 120 16" role="img" aria-label={`${brief(value)}, interval ${brief(low)} to ${brief(high)}`}>
        <line className="required" x1="60" x2="60" y1="1" y2="15" />
        <line className={isClear ? 'range clear' : 'range'} x1={x(low)} x2={x(high)} y1="8" y2="8" />
        <circle cx={x(value)} cy="8" r="3" />
      </svg>
      <span className="nowrap">
        {brief(value)}{' '}
        <span className="soft small">
          [{brief(low)} to {brief(high)}]
        </span>
      </span>
    </span>
  );
}

export const pText = (p: number | null): string => (p === null ? '–' : p < 1e-4 ? '< 0.0001' : brief(p));

export function PairedOutputs({ data, after }: { data: Paired; after: string }) {
  return (
    <Panel title="Outputs, run by run" flush>
      <Table
        label="Outputs of both studies"
        columns={[
          'Output',
          { name: 'Identical', right: true, late: true },
          'Mean difference (after − before)',
          { name: 'p, adjusted', right: true },
          { name: 'Largest changes', late: true },
        ]}
      >
        {data.outputs.map((it) => (
          <tr key={it.name}>
            <td className="mono">{it.name}</td>
            <td className="right nowrap narrow-hide">
              {count(it.identical)} of {count(it.pairs)}
            </td>
            <td title={it.reason ?? undefined}>
              <Difference value={it.mean_difference} range={it.interval} />
            </td>
            <td className="right">{pText(it.p_holm)}</td>
            <td className="inline narrow-hide">
              {it.largest.slice(0, 3).map((one) => (
                <a
                  key={one.run_id}
                  className="nowrap"
                  href={hrefOf(['jobs', jobId(after, one.run_id)])}
                  title={`${figure(one.before)} to ${figure(one.after)}`}
                >
                  #{one.run_id}{' '}
                </a>
              ))}
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

export function UnpairedOutputs({ data }: { data: Unpaired }) {
  return (
    <Panel title="Outputs, as distributions" flush>
      <Table
        label="Outputs of both studies"
        columns={[
          'Output',
          { name: 'Values', right: true, late: true },
          'Difference of means (after − before)',
          { name: 'Largest distance', right: true, late: true },
          { name: 'p, adjusted', right: true },
        ]}
      >
        {data.outputs.map((it) => (
          <tr key={it.name}>
            <td className="mono">{it.name}</td>
            <td className="right nowrap narrow-hide">
              {count(it.n_before)} and {count(it.n_after)}
            </td>
            <td title={it.reason ?? undefined}>
              <Difference value={it.mean_difference} range={it.welch} />
            </td>
            <td className="right narrow-hide">{it.ks_d === null ? '–' : brief(it.ks_d)}</td>
            <td className="right">{pText(it.p_holm)}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
