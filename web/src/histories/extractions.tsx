/** The extractions of a study: how far they are, and what their values lack. */
import type { BatchStatusResponse, ExtractionList } from '../../../src/contract/types.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel } from '../parts/common.tsx';
import { State } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';

/** Characters of run ids that a note shows. */
const MOST_SHOWN = 60;

type Extraction = ExtractionList['extractions'][number];

export function Extractions({ progress }: { progress: BatchStatusResponse }) {
  const isAsked = (progress.batch.children ?? []).some(({ relation }) => relation === 'extraction');
  // They may run after the end of the study.
  const { data, error } = useAnswer<ExtractionList>(progress, isAsked ? 'extractions' : undefined, isAsked);
  if (!isAsked) return null;
  const { extractions = [] } = data ?? {};
  const right = (name: string) => ({ name, right: true });
  return (
    <Panel title="Extractions" aside={<span className="small soft">new questions to its finished runs</span>} flush>
      <Failure what="The extractions could not be read." detail={error?.message} />
      {extractions.length > 0 && (
        <Table label="Extractions" columns={['Name', 'State', right('Completed'), right('Without files')]}>
          {extractions.map(({ batch_id: id, name, status, runs, completed, without_files: without }) => (
            <tr key={id}>
              <td>
                <a className="mono" href={hrefOf(['batches', id])}>
                  {name}
                </a>
              </td>
              <td>
                <State status={status} />
              </td>
              <td className="right nowrap">{`${count(completed)} of ${count(runs)}`}</td>
              <td className="right">{count(without?.runs ?? 0)}</td>
            </tr>
          ))}
        </Table>
      )}
      {extractions.flatMap(notesOf).map((it) => (
        <p key={it} className="table-note small soft">
          {it}.
        </p>
      ))}
    </Panel>
  );
}

function notesOf({ name, notes, without_files: without }: Extraction): string[] {
  const ids = without?.run_ids ?? '';
  const shown = ids.length > MOST_SHOWN ? `${ids.slice(0, MOST_SHOWN)}...` : ids;
  const gone = without === undefined ? [] : [`nothing of run ${shown}: ${without.why}`];
  return [...gone, ...notes].map((it) => `${name}: ${it}`);
}
