/** Actions on several runs: compare them side by side, run them again, download them. */
import { useState } from 'react';
import type { Batch, StudyTable, SubmissionResponse } from '../../../src/contract/types.ts';
import { post, useRequest } from '../data/api.ts';
import { download, FORMATS, type Format } from '../data/download.ts';
import { newKey } from '../data/idempotency.ts';
import { Act, Dialog, Failure, Waiting } from '../parts/common.tsx';
import { Menu } from '../parts/menu.tsx';
import { count, figure } from '../parts/time.tsx';
import { go, hrefOf } from '../router.ts';
import type { Column } from './columns.ts';

interface Props {
  batch: Batch;
  picked: ReadonlySet<number>;
  /** The condition of the filters. */
  where: string | undefined;
  columns: readonly Column[];
  onClear: () => void;
}

/** More runs than this are not readable side by side. */
const MOST_COMPARED = 6;

export function SelectionBar({ batch, picked, where, columns, onClear }: Props) {
  const [isComparing, setComparing] = useState(false);
  const [failure, setFailure] = useState<string>();
  const runs = [...picked].sort((a, b) => a - b);
  const only = runs.length === 0 ? where : `run_id in (${runs.join(', ')})`;
  const save = (format: Format): void => {
    setFailure(undefined);
    download(batch.id, format, batch.name, only).catch((error: Error) => setFailure(error.message));
  };
  const rerun = (): void => {
    const body = JSON.stringify({ select: { run_ids: runs.join(',') } });
    post<SubmissionResponse>(`/batches/${batch.id}/rerun`, body, { 'idempotency-key': newKey() }).then(
      ({ data }) => go(hrefOf(['batches', data.batch_id])),
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <>
      {runs.length > 0 && (
        <div className="row" role="group" aria-label="Selected runs">
          <span className="small soft">{count(runs.length)} selected</span>
          <button
            type="button"
            disabled={runs.length < 2 || runs.length > MOST_COMPARED}
            onClick={() => setComparing(true)}
          >
            Compare
          </button>
          <Act onClick={rerun}>Run again</Act>
          <button type="button" className="quiet" onClick={onClear}>
            Clear
          </button>
        </div>
      )}
      <Menu label={runs.length > 0 ? 'Download the selected' : where === undefined ? 'Download' : 'Download these'}>
        {FORMATS.map((it) => (
          <button key={it} type="button" className="quiet" onClick={() => save(it)}>
            {it}
          </button>
        ))}
      </Menu>
      <Failure what="It was not done." detail={failure} />
      {isComparing && <SideBySide batch={batch} runs={runs} columns={columns} onClose={() => setComparing(false)} />}
    </>
  );
}

/** The values of a few runs, a column each; rows that differ most, relative to their size, first. */
function SideBySide({
  batch,
  runs,
  columns,
  onClose,
}: {
  batch: Batch;
  runs: readonly number[];
  columns: readonly Column[];
  onClose: () => void;
}) {
  const where = encodeURIComponent(`run_id in (${runs.join(', ')})`);
  const { data, error } = useRequest<StudyTable>(`/batches/${batch.id}/table?format=json&where=${where}`);
  const rows = columns.flatMap((it) => {
    if (it.kind === 'run' || data === undefined) return [];
    const values = data.rows.map((row) => row[it.name] ?? null);
    return values.every((value) => value === null) ? [] : [{ ...it, values, isSame: new Set(values).size === 1 }];
  });
  return (
    <Dialog title={`Runs ${runs.map((it) => `#${it}`).join(', ')}`} onClose={onClose} shape="wide">
      <Failure what="The runs could not be read." detail={error?.message} />
      {data === undefined && error === undefined && <Waiting />}
      {data !== undefined && (
        <div className="scroll side-by-side" tabIndex={0} role="region" aria-label="Runs side by side">
          <table>
            <thead>
              <tr>
                <th>Value</th>
                {data.rows.map((row) => (
                  <th key={String(row['run_id'])} className="right">
                    #{String(row['run_id'])}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((it) => (
                <tr key={it.key} className={it.isSame ? 'same' : undefined}>
                  <th scope="row">{it.title}</th>
                  {it.values.map((value, at) => (
                    <td key={at} className="right">
                      {cellText(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Dialog>
  );
}

function cellText(value: unknown): string {
  if (value === null) return '–';
  if (typeof value === 'number') return figure(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
