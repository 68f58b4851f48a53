/** Named views of a study's plots: one record for each study, which the dashboard reads and changes. */
import { LIMITS } from '../../contract/limits.ts';
import type { Uuid, ViewList, ViewRequest, ViewsRecord } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import type { Store } from '../kernel/storage/store.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';

interface ViewParts {
  store: Store;
  turns: Turns;
}

const parsed = (record: string | undefined): ViewsRecord =>
  record === undefined ? { views: [] } : (JSON.parse(record) as ViewsRecord);

/** @throws SimbatchError `unknown-batch` */
export function views(parts: ViewParts, batchId: Uuid): ViewList {
  readBatch(parts.store, batchId);
  return parsed(parts.store.get(keys.views(batchId)));
}

/**
 * Keeps a view, in place of one of the same name. A repeat changes nothing.
 * @throws SimbatchError `unknown-batch`; `invalid-request` for an empty name, or when the study has as many views as it may
 */
export function keepView(parts: ViewParts, batchId: Uuid, { name: given, query }: ViewRequest): Promise<ViewList> {
  const name = given.trim();
  if (name === '') throw new SimbatchError('invalid-request', 'the name of the view is empty; give it one');
  return parts.turns.run('keep-view', (turn) => {
    const before = viewsIn(turn, batchId);
    const known = before.views.find((it) => it.name === name);
    if (known?.query === query) return before;
    const others = before.views.filter((it) => it !== known);
    if (others.length >= LIMITS.views) {
      throw new SimbatchError(
        'invalid-request',
        `study ${batchId} has ${String(others.length)} views, the most that are kept; remove one first`,
      );
    }
    const after = [...others, { name, query, kept_at: timestamp(turn.now) }];
    return put(turn, batchId, { views: after.sort((a, b) => (a.name < b.name ? -1 : 1)) });
  });
}

/** Removes a view; a view that is not there is removed already. @throws SimbatchError `unknown-batch`; `malformed-query` without a name */
export function removeView(parts: ViewParts, batchId: Uuid, name: string): Promise<ViewList> {
  if (name.trim() === '')
    throw new SimbatchError('malformed-query', 'name is missing; give the name of the view to remove');
  return parts.turns.run('remove-view', (turn) => {
    const before = viewsIn(turn, batchId);
    const after = before.views.filter((it) => it.name !== name.trim());
    return after.length === before.views.length ? before : put(turn, batchId, { views: after });
  });
}

function viewsIn(turn: Turn, batchId: Uuid): ViewsRecord {
  batchOrThrow(turn, batchId);
  return parsed(turn.read(keys.views(batchId)));
}

function put(turn: Turn, batchId: Uuid, record: ViewsRecord): ViewsRecord {
  turn.put(keys.views(batchId), record.views.length === 0 ? null : JSON.stringify(record));
  return record;
}
