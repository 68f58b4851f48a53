/** A menu in which a few of many things are ticked, as the plots of a page. */
import { Menu } from './menu.tsx';

interface Props {
  label: string;
  choices: readonly { name: string; title: string }[];
  /** The names of those that are ticked, in their order. */
  shown: readonly string[];
  /** No more than these can be ticked. */
  most: number;
  onChange: (shown: string[]) => void;
}

export function Chooser({ label, choices, shown, most, onChange }: Props) {
  return (
    <Menu label={`${label} (${shown.length})`} stays>
      <div className="chooser">
        {choices.map(({ name, title }) => {
          const isShown = shown.includes(name);
          return (
            <label key={name} className="row">
              <input
                type="checkbox"
                checked={isShown}
                disabled={!isShown && shown.length >= most}
                onChange={() => onChange(isShown ? shown.filter((it) => it !== name) : [...shown, name])}
              />
              <span>{title}</span>
            </label>
          );
        })}
      </div>
    </Menu>
  );
}
