/** Two levels of an axis of scenarios compared: each output with the mean of the differences of its samples, and their interval. */
import { useMemo, useState } from 'react';
import { RUN_CLASSES } from '../../../src/analysis/table/run-class.ts';
import type { BatchStatusResponse, BatchSubmission, StudyComparison } from '../../../src/contract/types.ts';
import { type Axis, axesOfStudy } from '../../../src/domain/scenarios/cells.ts';
import { Difference, pText, type Paired } from '../compare/outputs.tsx';
import { useAnswer } from '../data/use-answer.ts';
import { Failure, Panel, Waiting, sentenceOf } from '../parts/common.tsx';
import { endedOf } from '../parts/progress.ts';
import { Table } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';

/** Outputs for which the card has room: those that differ most clearly. */
const SHOWN = 10;

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

interface Chosen {
  axis: Axis;
  before: string;
  after: string;
}

/** The choice of failing runs that needs no requirement, as the question names it. */
const FAILED = 'failed';

/** True for a name that the question reads as a class of runs, not as a requirement. */
const isClass = (name: string): boolean => name === FAILED || RUN_CLASSES.some((it) => it === name);

const endsOf = (axis: Axis): Chosen => ({ axis, before: axis.levels[0]!, after: axis.levels.at(-1)! });

export function LevelDifferences({ progress, submission }: Props) {
  const axes = useMemo(() => axesOfStudy(submission.config).filter((it) => it.levels.length > 1), [submission]);
  const [chosen, setChosen] = useState<Chosen>();
  const [failing, setFailing] = useState(FAILED);
  const [first] = axes;
  const pair = chosen ?? (first === undefined ? undefined : endsOf(first));
  if (pair === undefined || endedOf(progress) === 0) return null;
  return (
    <Panel title="Differences between two levels">
      <div className="stack tight">
        <div className="row level-choice">
          <Choice axes={axes} pair={pair} onChoose={setChosen} />
          <Failing submission={submission} value={failing} onChange={setFailing} />
        </div>
        <Answer progress={progress} submission={submission} pair={pair} failing={failing} />
      </div>
    </Panel>
  );
}

function Choice({ axes, pair, onChoose }: { axes: readonly Axis[]; pair: Chosen; onChoose: (to: Chosen) => void }) {
  const { axis, before, after } = pair;
  const of = (name: string): Axis => axes.find((it) => it.name === name)!;
  return (
    <>
      <Select
        label="Axis"
        value={axis.name}
        options={axes.map(({ name }) => name)}
        onChange={(name) => onChoose(endsOf(of(name)))}
      />
      <Select
        label="before"
        value={before}
        options={axis.levels.filter((it) => it !== after)}
        onChange={(level) => onChoose({ ...pair, before: level })}
      />
      <Select
        label="after"
        value={after}
        options={axis.levels.filter((it) => it !== before)}
        onChange={(level) => onChoose({ ...pair, after: level })}
      />
      <button type="button" onClick={() => onChoose({ axis, before: after, after: before })}>
        Swap
      </button>
    </>
  );
}

interface FailingProps {
  submission: BatchSubmission;
  value: string;
  onChange: (to: string) => void;
}

/** The choice of the runs that count as failing: those that failed, or those that do not pass a requirement. */
function Failing({ submission, value, onChange }: FailingProps) {
  const names = (submission.requirements ?? []).map(({ name }) => name).filter((it) => !isClass(it));
  if (names.length === 0) return null;
  return (
    <label className="row small">
      failing
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value={FAILED}>failed runs</option>
        {names.map((it) => (
          <option key={it} value={it}>
            requirement {it}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (to: string) => void;
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label className="row small">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map((it) => (
          <option key={it}>{it}</option>
        ))}
      </select>
    </label>
  );
}

function Answer({ progress, submission, pair, failing }: Props & { pair: Chosen; failing: string }) {
  const { axis, before, after } = pair;
  const levels = { level: `${axis.name}:${before}`, with: `${axis.name}:${after}` };
  const parameters = new URLSearchParams({ ...levels, ...(failing === FAILED ? {} : { failing }) });
  const { data, error } = useAnswer<StudyComparison>(progress, `compare?${parameters}`);
  if (error !== undefined) return <Failure what="The levels could not be compared." detail={error.message} />;
  // The answer about the levels chosen before stays until the new one comes: it says which they are.
  if (data === undefined || !data.paired) return <Waiting what="Comparing the levels" />;
  return <Outputs data={data} submission={submission} />;
}

function Outputs({ data, submission }: { data: Paired; submission: BatchSubmission }) {
  const [isWhole, setWhole] = useState(false);
  const { levels, outputs, sentence, warnings } = data;
  const clearest = useMemo(() => outputs.toSorted((a, b) => (a.p_holm ?? 2) - (b.p_holm ?? 2)), [outputs]);
  const shown = isWhole ? outputs : clearest.slice(0, SHOWN);
  return (
    <>
      <p className="small">{sentence}</p>
      <Table
        label="Differences of the outputs"
        columns={[
          'Output',
          { name: 'Samples', right: true },
          `Mean difference (${levels?.after} − ${levels?.before})`,
          { name: 'p, adjusted', right: true, late: true },
        ]}
      >
        {shown.map((it) => (
          <tr key={it.name}>
            <td className="mono">
              {it.name} <span className="small soft">{submission.outputs?.[it.name]?.units}</span>
            </td>
            <td className="right">{count(it.pairs)}</td>
            <td title={it.reason ?? undefined}>
              <Difference value={it.mean_difference} range={it.interval} />
            </td>
            <td className="right narrow-hide">{pText(it.p_holm)}</td>
          </tr>
        ))}
      </Table>
      {!isWhole && outputs.length > SHOWN && (
        <div>
          <button type="button" className="quiet" onClick={() => setWhole(true)}>
            Show all {outputs.length} outputs
          </button>
        </div>
      )}
      {warnings.map((it) => (
        <p key={it.code} className="small soft">
          {sentenceOf(it.message)}
        </p>
      ))}
    </>
  );
}
