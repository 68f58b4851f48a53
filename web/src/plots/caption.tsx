/** The caption of a small plot: its variable, and a note beside it. */
export function PlotCaption({ name, note }: { name: string; note: string }) {
  return (
    <figcaption>
      <strong className="clip" title={name}>
        {name}
      </strong>
      <span className="soft nowrap">{note}</span>
    </figcaption>
  );
}
