/** The cells of a study with scenarios: for each requirement a table of its cells by their levels, with the share of passing runs and the verdict. */
import { useMemo } from 'react';
import type {
  BatchStatusResponse,
  BatchSubmission,
  CellVerdict,
  JudgedRequirement,
  Scenario,
  StudyVerdicts,
} from '../../../src/contract/types.ts';
import { type Axis, axesOfStudy, scenarioText } from '../../../src/domain/scenarios/cells.ts';
import { useAnswer } from '../data/use-answer.ts';
import { Panel } from '../parts/common.tsx';
import { count, share } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { plainOrQuoted, quoted } from '../runs/filter.ts';
import { verdictWord } from '../../../src/analysis/requirements/sentence.ts';

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

export function ScenarioCells({ progress, submission }: Props) {
  const axes = useMemo(() => axesOfStudy(submission.config), [submission]);
  const isJudged = axes.length > 0 && (submission.requirements ?? []).length > 0;
  const by = axes.map(({ name }) => encodeURIComponent(name)).join();
  const { data } = useAnswer<StudyVerdicts>(progress, isJudged ? `verdicts?by=${by}` : undefined);
  if (!isJudged || data === undefined) return null;
  return (
    <Panel
      title="Requirements in each cell"
      aside={
        <span className="small soft">
          share of passing runs; bold: called with the correction for the number of cells
        </span>
      }
    >
      {data.requirements.map((it) => (
        <article key={it.name} className="cells" aria-label={`Requirement ${it.name}`}>
          <p>
            <strong>{it.name}</strong> <span className="small">{it.sentence}</span>
          </p>
          <Heat batchId={progress.batch.id} of={it} axes={axes} />
        </article>
      ))}
    </Panel>
  );
}

/** The last axis is across, the others are down. */
function Heat({ batchId, of, axes }: { batchId: string; of: JudgedRequirement; axes: readonly Axis[] }) {
  const across = axes.at(-1)!;
  const down = axes.slice(0, -1);
  const { rows, cells } = useMemo(() => {
    const byLevels = new Map((of.by ?? []).map((it) => [keyOf(axes, it.scenario), it]));
    const byRow = new Map((of.by ?? []).map((it) => [keyOf(down, it.scenario), it.scenario]));
    return { rows: [...byRow.values()], cells: byLevels };
  }, [of, axes]);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={`Cells of ${of.name}`}>
      <table className="heat">
        <thead>
          <tr>
            {down.map(({ name }) => (
              <th key={name}>{name}</th>
            ))}
            {across.levels.map((level) => (
              <th key={level} className="right">
                {level}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(down, row)}>
              {down.map(({ name }) => (
                <th key={name}>{row[name]}</th>
              ))}
              {across.levels.map((level) => (
                <Cell key={level} batchId={batchId} cell={cells.get(keyOf(axes, { ...row, [across.name]: level }))} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const keyOf = (axes: readonly Axis[], scenario: Scenario): string =>
  JSON.stringify(axes.map(({ name }) => scenario[name]));

/** A cell is a link to its runs; a skipped cell is empty. */
function Cell({ batchId, cell }: { batchId: string; cell: CellVerdict | undefined }) {
  if (cell === undefined) return <td />;
  const { scenario, verdict, called, estimate, lower, upper, passed, failed, unknown } = cell;
  const where = Object.entries(scenario)
    .map(([axis, level]) => `${plainOrQuoted(axis)} = ${quoted(level)}`)
    .join(' and ');
  const counts = `${count(passed)} passed, ${count(failed)} failed, ${count(unknown)} unknown`;
  const title = `${scenarioText(scenario)}: ${verdictWord(verdict)}; ${counts}; bounds ${share(lower)} and ${share(upper)}`;
  return (
    <td className={`right heat-${verdict} ${called === null ? '' : 'called'}`} data-verdict={verdict}>
      <a href={hrefOf(['batches', batchId, 'runs'], { where })} title={title}>
        {estimate === null ? '–' : share(estimate)} <span className="small">{verdictWord(verdict)}</span>
      </a>
    </td>
  );
}
