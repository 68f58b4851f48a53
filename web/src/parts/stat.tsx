import { meaningOf } from '../../../src/base/text/lexicon.ts';

/** A figure with its name, in a list of figures. */
export function Stat({ name, value, note = '' }: { name: string; value: string; note?: string }) {
  return (
    <div className="stat">
      <dt title={meaningOf(name)}>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}
