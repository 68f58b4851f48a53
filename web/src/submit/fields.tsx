/** One field of a study: its label, its value by JSON Pointer, and its fault. */
import { createContext, useContext, useId, useState, type ReactNode } from 'react';
import { seedFromDecimal } from '../../../src/domain/seed.ts';
import type { BatchSubmission, Fault } from '../../../src/contract/types.ts';
import { memberAt, withMember } from './study.ts';

export interface Form {
  study: BatchSubmission;
  faults: readonly Fault[];
  change: (study: BatchSubmission) => void;
}

export const FormContext = createContext<Form | undefined>(undefined);

export function useForm(): Form {
  const form = useContext(FormContext);
  if (form === undefined) throw new Error('a field stands outside its form');
  return form;
}

interface Props {
  pointer: string;
  label: string;
  hint?: string;
  /** Hides a label that the surrounding table shows. */
  hiddenLabel?: boolean;
}

function Frame({
  pointer,
  label,
  hint,
  hiddenLabel = false,
  children,
}: Props & {
  children: (attributes: { id: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode;
}) {
  const id = useId();
  const { faults } = useForm();
  const fault =
    faults.find((it) => it.pointer === pointer) ?? faults.find((it) => it.pointer.startsWith(`${pointer}/`));
  return (
    <div className="field" data-pointer={pointer}>
      <label htmlFor={id} className={hiddenLabel ? 'visually-hidden' : 'label'}>
        {label}
        {hint !== undefined && <span className="soft"> ({hint})</span>}
      </label>
      {children({ id, 'aria-invalid': fault !== undefined, 'aria-describedby': `${id}-fault` })}
      <span id={`${id}-fault`} className="fault">
        {fault?.detail}
      </span>
    </div>
  );
}

/** The value of an empty field; undefined removes the member. Absent: the empty text. */
interface Empty {
  empty?: null | undefined;
}

function emptyOr(props: Empty, text: string, value: unknown): unknown {
  return text === '' && 'empty' in props ? props.empty : value;
}

export function TextField(props: Props & Empty & { placeholder?: string }) {
  const { study, change } = useForm();
  return (
    <Frame {...props}>
      {(attributes) => (
        <input
          {...attributes}
          placeholder={props.placeholder}
          value={shown(memberAt(study, props.pointer))}
          onChange={(event) => {
            const text = event.target.value;
            change(withMember(study, props.pointer, emptyOr(props, text, text)));
          }}
        />
      )}
    </Frame>
  );
}

/** Keeps the text as typed, so that `1e` before `1e5` is not removed; text that is not a number becomes a fault. */
export function NumberField(props: Props & Empty & { placeholder?: string }) {
  const { study, change } = useForm();
  const value = memberAt(study, props.pointer);
  const [text, setText] = useState<string>();
  return (
    <Frame {...props}>
      {(attributes) => (
        <input
          {...attributes}
          inputMode="decimal"
          placeholder={props.placeholder}
          value={text ?? shown(value)}
          onChange={(event) => {
            const typed = event.target.value.trim();
            setText(event.target.value);
            change(withMember(study, props.pointer, emptyOr(props, typed, typed === '' ? typed : numberOr(typed))));
          }}
          onBlur={() => setText(undefined)}
        />
      )}
    </Frame>
  );
}

/** Returns any value of a file as the text of a field. */
const shown = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : `${value as number}`;

/** The notation of a list in a text field. An item that is not a number stays text, for validation. */
export interface ListNotation {
  hint: string;
  write(value: unknown): string;
  read(text: string): unknown;
}

/** Numbers with spaces, commas or line ends between: a column pasted from a spreadsheet. */
export const NUMBER_LIST: ListNotation = {
  hint: 'numbers, spaces or commas between',
  write: (value) => (Array.isArray(value) ? value.join(' ') : shown(value)),
  read: (text) =>
    text
      .split(/[\s,;]+/)
      .filter((it) => it !== '')
      .map(numberOr),
};

/** `value:weight`, with spaces or commas between. */
export const WEIGHTED_LIST: ListNotation = {
  hint: 'value:weight, spaces or commas between',
  write: (value) =>
    Array.isArray(value)
      ? (value as { value: unknown; weight: unknown }[])
          .map((it) => `${shown(it?.value)}:${shown(it?.weight)}`)
          .join(' ')
      : shown(value),
  read: (text) =>
    text
      .split(/[\s,;]+/)
      .filter((it) => it !== '')
      .map((it) => {
        const [value = '', weight = ''] = it.split(':');
        return { value: numberOr(value), weight: numberOr(weight) };
      }),
};

/** A list as one line of text, kept as typed. Faults of its items are shown here too. */
export function ListField({ notation, ...props }: Props & Empty & { notation: ListNotation }) {
  const { study, change } = useForm();
  const [text, setText] = useState<string>();
  return (
    <Frame {...props} hint={notation.hint}>
      {(attributes) => (
        <input
          {...attributes}
          value={text ?? notation.write(memberAt(study, props.pointer))}
          onChange={(event) => {
            setText(event.target.value);
            const { value } = event.target;
            change(withMember(study, props.pointer, emptyOr(props, value.trim(), notation.read(value))));
          }}
          onBlur={() => setText(undefined)}
        />
      )}
    </Frame>
  );
}

/** Returns a number, or the text unchanged for validation. */
function numberOr(text: string): unknown {
  const value = Number(text);
  if (Number.isNaN(value)) return text;
  if (!/^\d{16,19}$/.test(text)) return value;
  try {
    return seedFromDecimal(text);
  } catch {
    return text;
  }
}

/**
 * `verbatim`: the options are names of the user's, shown as they are. `absent`: the text of an option that removes the member.
 * `adjust` changes other members that depend on the choice.
 */
export function ChoiceField({
  options,
  verbatim = false,
  absent,
  adjust = (it) => it,
  ...props
}: Props & {
  options: readonly string[];
  verbatim?: boolean;
  absent?: string;
  adjust?: (study: BatchSubmission) => BatchSubmission;
}) {
  const { study, change } = useForm();
  return (
    <Frame {...props}>
      {(attributes) => (
        <select
          {...attributes}
          value={absent === undefined ? String(memberAt(study, props.pointer)) : shown(memberAt(study, props.pointer))}
          onChange={(event) => change(adjust(withMember(study, props.pointer, event.target.value || undefined)))}
        >
          {absent !== undefined && <option value="">{absent}</option>}
          {options.map((it) => (
            <option key={it} value={it}>
              {verbatim ? it : it.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

/** The name of a member of an object, changed when the field is left. */
export function NameField({
  label,
  name,
  names,
  onRename,
}: {
  label: string;
  name: string;
  /** The names of all members. */
  names: readonly string[];
  onRename: (to: string) => void;
}) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        defaultValue={name}
        onBlur={(event) => {
          const to = event.target.value.trim();
          // Two members of one name would merge: the later change is undone.
          if (to === '' || (to !== name && names.includes(to))) event.target.value = name;
          else if (to !== name) onRename(to);
        }}
      />
    </label>
  );
}

/** A member that is true or `off`: false, or absent. */
export function CheckField({ pointer, label, off }: { pointer: string; label: string; off: false | undefined }) {
  const { study, change } = useForm();
  return (
    <label className="row">
      <input
        type="checkbox"
        checked={memberAt(study, pointer) === true}
        onChange={(event) => change(withMember(study, pointer, event.target.checked || off))}
      />
      {label}
    </label>
  );
}
