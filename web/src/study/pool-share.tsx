/** The use of the pool on the overview of a study: slots taken by this study, by others, and free. */
import { batchIdOf } from '../../../src/domain/ids.ts';
import { usableSlots } from '../../../src/domain/scheduling.ts';
import { usePool } from '../data/use-pool.ts';
import { Empty, Panel } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

/** Number of runners that have a bar. */
const SHOWN = 6;

export function PoolShare({ batchId }: { batchId: string }) {
  const { data } = usePool();
  if (data === undefined) return null;
  const rows = [...data.runners.values()]
    .filter((it) => it.status === 'Idle' || it.status === 'Busy')
    .map((it) => {
      const slots = usableSlots(it.capabilities, it.slots_lost);
      const mine = it.current_jobs.filter((id) => batchIdOf(id) === batchId).length;
      return {
        id: it.id,
        name: it.name,
        slots,
        mine: Math.min(mine, slots),
        others: Math.min(it.current_jobs.length, slots) - Math.min(mine, slots),
      };
    })
    .sort((a, b) => b.slots - a.slots);
  const sum = (of: 'slots' | 'mine' | 'others'): number => rows.reduce((total, it) => total + it[of], 0);
  const [slots, mine, others] = [sum('slots'), sum('mine'), sum('others')];
  return (
    <Panel
      title={slots === 0 ? 'Pool' : `Pool, ${Math.round((100 * (mine + others)) / slots)} % used`}
      aside={
        <a className="small" href={hrefOf(['runners'])}>
          {count(rows.length)} runner{rows.length === 1 ? '' : 's'}
        </a>
      }
    >
      {slots === 0 ? (
        <Empty title="No runner takes new runs." />
      ) : (
        <div className="stack tight">
          <p className="small soft">
            {count(mine)} of {count(slots)} slots run this study, {count(others)} other studies,{' '}
            {count(slots - mine - others)} free
          </p>
          {rows.slice(0, SHOWN).map((it) => (
            <div key={it.id} className="pool-row small">
              <a className="clip" href={hrefOf(['runners', it.id])} title={it.name}>
                {it.name}
              </a>
              <span
                className="status-bar"
                role="img"
                aria-label={`${it.mine} of ${it.slots} slots run this study, ${it.others} others`}
              >
                <span className="s-Running" style={{ flex: it.mine }} />
                <span className="s-Claimed" style={{ flex: it.others }} />
                <span style={{ flex: it.slots - it.mine - it.others }} />
              </span>
              <span className="right soft">{it.slots}</span>
            </div>
          ))}
          {rows.length > SHOWN && <p className="small soft">and {count(rows.length - SHOWN)} more</p>}
        </div>
      )}
    </Panel>
  );
}
