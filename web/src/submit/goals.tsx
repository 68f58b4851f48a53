/** The goals of a study and its release: requirements, outputs, policy and labels. */
import type { ReactNode } from 'react';
import { CANARIES, LOOKS, STOP_RULES, TERMINATED_RULES } from '../../../src/contract/enums.ts';
import { Panel } from '../parts/common.tsx';
import { ChoiceField, ListField, NameField, NUMBER_LIST, NumberField, TextField, useForm } from './fields.tsx';
import { Precisions } from './precisions.tsx';
import { Row } from './row.tsx';
import { RequiredIn } from './scenarios/weights.tsx';
import { escaped, memberAt, withMember } from './study.ts';

const ENDS = { ...NUMBER_LIST, hint: 'least, greatest' };

export function Requirements() {
  const { study, change, faults } = useForm();
  const { requirements = [] } = study;
  const set = (next: unknown[]): void =>
    change(withMember(study, '/requirements', next.length === 0 ? undefined : next));
  const add = (): void => set([...requirements, { name: '', output: '', condition: '<= 0', probability: 0.95 }]);
  const named = requirements.filter((it) => it.all === undefined && it.name !== '').map((it) => it.name);
  const join = (): void => set([...requirements, { name: named.join(' and '), all: named, probability: 0.95 }]);
  const fault = faults.find((it) => it.pointer === '/requirements');
  return (
    <Panel
      title="Requirements"
      aside={
        <span className="row">
          {named.length >= 2 && (
            <button type="button" onClick={join}>
              Require them together
            </button>
          )}
          <button type="button" onClick={add}>
            Add a requirement
          </button>
        </span>
      }
    >
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
      {requirements.length === 0 && <p className="soft">The study has no requirement: it gets no verdict.</p>}
      <div className="dispersions">
        {requirements.map((it, at) => (
          <Row
            key={at}
            legend={`Requirement ${at + 1}`}
            onRemove={() => set(requirements.filter((__, index) => index !== at))}
          >
            <TextField pointer={`/requirements/${at}/name`} label="Requirement" placeholder="e.g. lands close" />
            {it.all === undefined ? (
              <>
                <TextField pointer={`/requirements/${at}/output`} label="Output" hint="of metadata.json" />
                <TextField
                  pointer={`/requirements/${at}/condition`}
                  label="passes where"
                  hint="e.g. <= 50, or 2500 .. 3200"
                />
              </>
            ) : (
              <Together at={at} />
            )}
            <NumberField pointer={`/requirements/${at}/probability`} label="probability" hint="0 to 1" />
            <NumberField
              pointer={`/requirements/${at}/confidence`}
              label="confidence"
              hint="empty: 0.95"
              empty={undefined}
            />
            <ChoiceField
              pointer={`/requirements/${at}/terminated`}
              label="run ended early"
              options={TERMINATED_RULES}
              absent="fail (default)"
            />
            <ChoiceField pointer={`/requirements/${at}/look`} label="judged" options={LOOKS} absent="once (default)" />
            <RequiredIn at={at} />
          </Row>
        ))}
      </div>
    </Panel>
  );
}

/** The requirements that a run must pass together, each with a check mark. */
function Together({ at }: { at: number }) {
  const { study, change, faults } = useForm();
  const pointer = `/requirements/${at}/all`;
  const { requirements = [] } = study;
  const chosen = requirements[at]?.all ?? [];
  const fault = faults.find((it) => it.pointer === pointer);
  // A requirement that was renamed or removed stays in the list until it is taken out.
  const names = [...new Set([...requirements.flatMap((it) => (it.all === undefined ? it.name : [])), ...chosen])];
  const toggle = (name: string): unknown[] =>
    chosen.includes(name) ? chosen.filter((it) => it !== name) : [...chosen, name];
  return (
    <fieldset className="field">
      <legend>passes all of these in the same run</legend>
      {names.map((name) => (
        <label key={name} className="row">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={() => change(withMember(study, pointer, toggle(name)))}
          />
          {name}
        </label>
      ))}
      {fault !== undefined && <p className="fault">{fault.detail}</p>}
    </fieldset>
  );
}

/** The outputs that the study declares: units and meaning for display, and the variable that bounds a censored value. */
export function Outputs() {
  return (
    <NamedRows
      pointer="/outputs"
      title="Outputs"
      add="Add an output"
      label="Output"
      initial={{ units: '' }}
      prefix="output"
    >
      {(pointer) => (
        <>
          <TextField pointer={`${pointer}/units`} label="units" empty={undefined} />
          <TextField pointer={`${pointer}/description`} label="meaning" empty={undefined} />
          <TextField
            pointer={`${pointer}/censored`}
            label="censored by"
            hint="telemetry variable of which it is the extreme"
            empty={undefined}
          />
        </>
      )}
    </NamedRows>
  );
}

/** The inputs that are unknown and not random: each is an axis of cells. */
export function EpistemicInputs() {
  return (
    <NamedRows
      pointer="/config/epistemic"
      title="Epistemic inputs"
      add="Add an epistemic input"
      label="Input"
      initial={{ interval: [0, 1], levels: 2 }}
      prefix="input"
    >
      {(pointer) => (
        <>
          <ListField pointer={`${pointer}/interval`} label="interval" notation={ENDS} />
          <NumberField pointer={`${pointer}/levels`} label="levels" hint="the ends, and numbers between" />
          <OwnFault pointer={pointer} />
        </>
      )}
    </NamedRows>
  );
}

/** The fault of a member without a field of its own. */
function OwnFault({ pointer }: { pointer: string }) {
  const fault = useForm().faults.find((it) => it.pointer === pointer);
  return fault === undefined ? null : <p className="fault">{fault.detail}</p>;
}

export function Labels() {
  return (
    <NamedRows pointer="/labels" title="Labels" add="Add a label" label="Label" initial="" prefix="label">
      {(pointer) => <TextField pointer={pointer} label="value" />}
    </NamedRows>
  );
}

export function Policy() {
  const { study, faults } = useForm();
  const isOpen = study.policy !== undefined || faults.some((it) => it.pointer.startsWith('/policy'));
  return (
    <details className="panel more" open={isOpen}>
      <summary>Policy</summary>
      <div className="fields body">
        <NumberField
          pointer="/policy/canary_runs"
          label="Canary runs"
          hint="the first runs, released alone; empty: none"
          empty={undefined}
        />
        <ChoiceField pointer="/policy/canary" label="Canary study" options={CANARIES} absent="none" />
        <NumberField
          pointer="/policy/max_failures"
          label="Most failed runs"
          hint="a number, or a share such as 5%; empty: any"
          empty={undefined}
        />
        <ChoiceField
          pointer="/policy/stop_when"
          label="Stops by itself when"
          options={STOP_RULES}
          absent="all runs have ended"
        />
        <NumberField pointer="/policy/priority" label="Priority" hint="-1000 to 1000; empty: 0" empty={undefined} />
      </div>
      <Precisions />
    </details>
  );
}

interface NamedRowsProps {
  /** Pointer to the object whose members are the rows; the object is removed with its last member. */
  pointer: '/outputs' | '/labels' | '/config/epistemic';
  title: string;
  /** The text of the button. */
  add: string;
  /** The label of a name. */
  label: string;
  initial: unknown;
  /** New members are named `<prefix>_1`, and so on. */
  prefix: string;
  children: (pointer: string) => ReactNode;
}

function NamedRows({ pointer, title, add, label, initial, prefix, children }: NamedRowsProps) {
  const { study, change, faults } = useForm();
  const members = (memberAt(study, pointer) ?? {}) as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  const set = (next: [string, unknown][]): void =>
    change(withMember(study, pointer, next.length === 0 ? undefined : Object.fromEntries(next)));
  const addRow = (): void => {
    let number = names.length + 1;
    while (Object.hasOwn(members, `${prefix}_${number}`)) number += 1;
    set([...Object.entries(members), [`${prefix}_${number}`, initial]]);
  };
  const fault = faults.find((it) => it.pointer === pointer);
  const isOpen = names.length > 0 || faults.some((it) => it.pointer.startsWith(pointer));
  return (
    <details className="panel more" open={isOpen}>
      <summary>{title}</summary>
      <div className="body stack">
        {fault !== undefined && <p className="fault">{fault.detail}</p>}
        {names.map((name, at) => (
          <Row key={at} legend={name} onRemove={() => set(Object.entries(members).filter(([it]) => it !== name))}>
            <NameField
              label={label}
              name={name}
              names={names}
              onRename={(to) => set(Object.entries(members).map(([it, value]) => [it === name ? to : it, value]))}
            />
            {children(`${pointer}/${escaped(name)}`)}
          </Row>
        ))}
        <div>
          <button type="button" onClick={addRow}>
            {add}
          </button>
        </div>
      </div>
    </details>
  );
}
