/** A figure with its name, in a list of figures. */
export function Stat({ name, value, note = '' }: { name: string; value: string; note?: string }) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}
