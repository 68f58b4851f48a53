/** Choices of variables for the plots of a study, and the legend of their colours. */
import { Menu } from '../parts/menu.tsx';
import { brief } from '../parts/time.tsx';
import type { Variable } from '../plots/variables.ts';
import { RAMP, wordColour } from './colours.ts';
import type { Bench } from './state.ts';

interface ChoiceProps {
  label: string;
  value: string;
  variables: readonly Variable[];
  /** The word for no variable, where that is possible. */
  none?: string;
  /** True: the label is for screen readers alone. */
  isQuiet?: boolean;
  onChange: (key: string) => void;
}

export function VariableChoice({ label, value, variables, none, isQuiet = false, onChange }: ChoiceProps) {
  return (
    <label className="row small choice">
      {isQuiet ? <span className="visually-hidden">{label}</span> : label}
      <select value={value} title={label} onChange={(event) => onChange(event.target.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {variables.map((it) => (
          <option key={it.key} value={it.key}>
            {it.label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface MenuProps {
  variables: readonly Variable[];
  shown: readonly Variable[];
  /** Most choices: more are not readable. */
  most: number;
  onChange: (keys: readonly string[]) => void;
}

export function VariablesMenu({ variables, shown, most, onChange }: MenuProps) {
  const keys = shown.map((it) => it.key);
  return (
    <Menu label={`Variables (${shown.length})`} stays>
      <div className="chooser">
        {variables.map((it) => {
          const isShown = keys.includes(it.key);
          return (
            <label key={it.key} className="row">
              <input
                type="checkbox"
                checked={isShown}
                disabled={isShown ? keys.length <= 2 : keys.length >= most}
                onChange={() => onChange(isShown ? keys.filter((key) => key !== it.key) : [...keys, it.key])}
              />
              <span>{it.label}</span>
            </label>
          );
        })}
      </div>
    </Menu>
  );
}

/** Colours by outcome, or the ramp of the variable that colours the points. */
export function Legend({ bench: { colouring, scale: scaleOf } }: { bench: Bench }) {
  if (colouring === undefined) {
    return (
      <span className="keys">
        <span>
          <i className="k-selected" aria-hidden="true" /> selected
        </span>
        <span>
          <i className="k-failed" aria-hidden="true" /> failed (triangles)
        </span>
        <span>
          <i className="k-all" aria-hidden="true" /> not selected, or not ended
        </span>
      </span>
    );
  }
  if (colouring.categories !== undefined) {
    return (
      <span className="keys">
        {colouring.categories.slice(0, 9).map((word, code) =>
          word === '' ? null : (
            <span key={word}>
              <i style={{ background: wordColour(code), width: 9, height: 9 }} aria-hidden="true" /> {word}
            </span>
          ),
        )}
      </span>
    );
  }
  const scale = scaleOf(colouring);
  return (
    <span className="keys">
      <span>
        {brief(scale.value(0))}
        <i className="ramp" style={{ background: `linear-gradient(90deg, ${RAMP.join(', ')})` }} aria-hidden="true" />
        {brief(scale.value(1))} {colouring.label}; failed runs are triangles
      </span>
    </span>
  );
}
