/** The resources that the coordinator holds for all runners: how much is in use, by which studies, and the runs that wait. */
import type { SitePool } from '../../../src/contract/types.ts';
import { poolText } from '../../../src/domain/counted/counts.ts';
import { shortId } from '../../../src/domain/ids.ts';
import { hrefOf } from '../router.ts';
import { Panel } from '../parts/common.tsx';

export function SiteResources({ pools }: { pools: readonly SitePool[] }) {
  if (pools.length === 0) return null;
  return (
    <Panel title="Resources of the site">
      <ul>
        {pools.map((it) => (
          <li key={it.name}>
            {poolText(it)}
            {it.batches.length > 0 && (
              <span className="small soft"> by {it.batches.length === 1 ? 'study' : 'studies'}</span>
            )}
            {it.batches.map((id) => (
              <span key={id}>
                {' '}
                <a className="mono small" href={hrefOf(['batches', id])}>
                  {shortId(id)}
                </a>
              </span>
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
