/** The bar above the list of studies while some are ticked: two are compared. */
import type { Batch } from '../../../src/contract/types.ts';
import { count } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

/** Leads from two ticked studies to their comparison, in which the earlier one is before. */
export function TickedBar({ studies, onClear }: { studies: readonly Batch[]; onClear: () => void }) {
  if (studies.length === 0) return null;
  const [before, after] = [...studies].sort((a, b) => (a.id < b.id ? -1 : 1));
  return (
    <div className="row ticked-bar" role="status" aria-label="Ticked studies">
      {studies.length === 2 ? (
        <a className="button primary" href={hrefOf(['batches', before!.id, 'compare'], { with: after!.id })}>
          Compare {before!.name} with {after!.name}
        </a>
      ) : (
        <span>{count(studies.length)} ticked: two studies are compared</span>
      )}
      <button type="button" className="quiet" onClick={onClear}>
        Clear
      </button>
    </div>
  );
}
