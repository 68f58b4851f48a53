/** The scenarios of a study as fields: axes, their levels with the inputs that these replace, and the cells that are skipped. */
import { escaped, withMember } from '../study.ts';
import { ChoiceField, NameField, useForm } from '../fields.tsx';
import { DistributionFields, DRAWN_KINDS } from '../distribution.tsx';
import { Row } from '../row.tsx';
import {
  axesIn,
  freeName,
  type Level,
  renameAxis,
  renameLevel,
  SCENARIOS,
  skippedIn,
  withAxis,
  withLevels,
  withSkipped,
} from './axes.ts';

export function ScenarioFields() {
  const { study, change, faults } = useForm();
  const axes = axesIn(study);
  const isOpen = study.config.scenarios !== undefined || faults.some((it) => it.pointer.startsWith(SCENARIOS));
  return (
    <details className="panel more" open={isOpen}>
      <summary>Scenarios</summary>
      <div className="body stack">
        <p className="soft">
          Every combination of levels, a cell, has all runs, and run i of each cell has the same random numbers.
        </p>
        <Faults of={[SCENARIOS, `${SCENARIOS}/skip`]} />
        {axes.map(([name, levels], at) => (
          <AxisFields key={at} name={name} levels={levels} names={axes.map(([it]) => it)} />
        ))}
        <Skipped />
        <div className="row">
          <button type="button" onClick={() => change(withAxis(study))}>
            Add an axis
          </button>
          {axes.length > 0 && (
            <button type="button" onClick={() => change(withSkipped(study, [...skippedIn(study), firstCell(axes)]))}>
              Skip cells
            </button>
          )}
        </div>
      </div>
    </details>
  );
}

const firstCell = (axes: ReturnType<typeof axesIn>): Record<string, string> =>
  Object.fromEntries(axes.flatMap(([name, [first]]) => (first === undefined ? [] : [[name, first[0]]])));

/** The faults of members that have no field of their own. */
function Faults({ of }: { of: readonly string[] }) {
  const { faults } = useForm();
  return faults
    .filter((it) => of.includes(it.pointer))
    .map(({ detail }) => (
      <p key={detail} className="fault">
        {detail}
      </p>
    ));
}

function AxisFields({ name, levels, names }: { name: string; levels: [string, Level][]; names: readonly string[] }) {
  const { study, change } = useForm();
  const pointer = `${SCENARIOS}/${escaped(name)}`;
  const known = levels.map(([it]) => it);
  return (
    <div className="axis">
      <Row legend={`axis ${name}`} onRemove={() => change(renameAxis(study, name, null))}>
        <NameField label="Axis" name={name} names={names} onRename={(to) => change(renameAxis(study, name, to))} />
        <Faults of={[pointer]} />
      </Row>
      {levels.map(([level, inputs], at) => (
        <Row
          key={at}
          legend={`level ${level} of ${name}`}
          onRemove={() => change(renameLevel(study, name, level, null))}
        >
          <NameField
            label="Level"
            name={level}
            names={known}
            onRename={(to) => change(renameLevel(study, name, level, to))}
          />
          <Replaced pointer={`${pointer}/${escaped(level)}`} inputs={inputs} />
        </Row>
      ))}
      <div>
        <button
          type="button"
          onClick={() => change(withLevels(study, name, [...levels, [freeName('level', known), {}]]))}
        >
          Add a level<span className="visually-hidden"> of {name}</span>
        </button>
      </div>
    </div>
  );
}

/** The inputs that a level replaces. `pointer`: of the level. */
function Replaced({ pointer, inputs }: { pointer: string; inputs: Level }) {
  const { study, change } = useForm();
  const names = Object.keys(inputs);
  const set = (next: [string, unknown][]): void => change(withMember(study, pointer, Object.fromEntries(next)));
  const add = (): void => {
    const free = Object.keys(study.config.dispersions).find((it) => !names.includes(it)) ?? freeName('input', names);
    set([...Object.entries(inputs), [free, 0]]);
  };
  return (
    <div className="replaced">
      <Faults of={[pointer]} />
      {names.map((name, at) => (
        <div key={at} className="replaced-input" role="group" aria-label={`${name} in this level`}>
          <NameField
            label="replaces"
            name={name}
            names={names}
            onRename={(to) => set(Object.entries(inputs).map(([it, value]) => [it === name ? to : it, value]))}
          />
          <DistributionFields pointer={`${pointer}/${escaped(name)}`} label="by" kinds={DRAWN_KINDS} number="number" />
          <button
            type="button"
            className="quiet remove"
            aria-label={`Leave ${name} as the study declares it`}
            onClick={() => set(Object.entries(inputs).filter(([it]) => it !== name))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" className="quiet" onClick={add}>
        Replace an input
      </button>
    </div>
  );
}

/** Each entry leaves out the cells that have all of its levels. */
function Skipped() {
  const { study, change } = useForm();
  const axes = axesIn(study);
  const skip = skippedIn(study);
  return skip.map((_, at) => (
    <Row
      key={at}
      legend={`skipped cells ${at + 1}`}
      onRemove={() =>
        change(
          withSkipped(
            study,
            skip.filter((__, index) => index !== at),
          ),
        )
      }
    >
      <span className="small soft">Skip the cells with</span>
      {axes.map(([name, levels]) => (
        <ChoiceField
          key={name}
          pointer={`${SCENARIOS}/skip/${at}/${escaped(name)}`}
          label={name}
          options={levels.map(([level]) => level)}
          verbatim
          absent="any"
        />
      ))}
      <Faults of={[`${SCENARIOS}/skip/${at}`]} />
    </Row>
  ));
}
