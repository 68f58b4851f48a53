/** The resources that the coordinator holds for all runners: how much is in use, by which studies, and the runs that wait. */
import type { BatchStatusResponse, SitePool } from '../../../src/contract/types.ts';
import { poolText } from '../../../src/domain/counted/counts.ts';
import { shortId } from '../../../src/domain/ids.ts';
import { useRequest } from '../data/api.ts';
import { hrefOf } from '../router.ts';
import { Panel } from '../parts/common.tsx';
import { count } from '../parts/time.tsx';

/** Studies that are named; the others are counted. */
const MOST_NAMED = 5;

export function SiteResources({ pools }: { pools: readonly SitePool[] }) {
  if (pools.length === 0) return null;
  return (
    <Panel title="Resources of the site">
      <ul>
        {pools.map((it) => (
          <li key={it.name}>
            {poolText({ ...it, waiting: 0 })}
            {it.batches.length > 0 && <span className="soft"> by {it.batches.length === 1 ? 'study' : 'studies'}</span>}
            {it.batches.slice(0, MOST_NAMED).map((id, at) => (
              <span key={id}>
                {at === 0 ? ' ' : ', '}
                <StudyLink id={id} />
              </span>
            ))}
            {it.batches.length > MOST_NAMED && <> and {it.batches.length - MOST_NAMED} more</>}
            {it.waiting !== undefined && (
              <span className="soft">
                ; {count(it.waiting)} {it.waiting === 1 ? 'run waits' : 'runs wait'}
              </span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** A link to a study by its name, and by its id while or where that is not known. */
function StudyLink({ id }: { id: string }) {
  const { data } = useRequest<BatchStatusResponse>(`/batches/${id}`);
  const name = data?.batch.name ?? '';
  return (
    <a className={name === '' ? 'mono small' : undefined} href={hrefOf(['batches', id])} title={id}>
      {name === '' ? shortId(id) : name}
    </a>
  );
}
