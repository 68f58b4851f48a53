/** Choices of variables for the plots of a study, and the legend of their colours. */
import { Menu } from '../parts/menu.tsx';
import { brief } from '../parts/time.tsx';
import { rampAt, wordColour } from '../plots/canvas.tsx';
import type { Variable } from '../plots/variables.ts';
import type { Plots } from './state.ts';

interface ChoiceProps {
  label: string;
  value: string;
  variables: readonly Variable[];
  /** The word for no variable, where that is possible. */
  none?: string;
  onChange: (key: string) => void;
}

export function VariableChoice({ label, value, variables, none, onChange }: ChoiceProps) {
  return (
    <label className="row small choice">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
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
export function Legend({ plots: { colouring, scale: scaleOf } }: { plots: Plots }) {
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
  const stops = Array.from({ length: 9 }, (_, at) => rampAt(at / 8)).join(', ');
  return (
    <span className="keys">
      <span>
        {brief(scale.value(0))}
        <i className="ramp" style={{ background: `linear-gradient(90deg, ${stops})` }} aria-hidden="true" />
        {brief(scale.value(1))} {colouring.label}; failed runs are triangles
      </span>
    </span>
  );
}
