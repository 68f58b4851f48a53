/** Telemetry values that came too late to be put in the order of their times: the note of a result about them, written and read. */

/** Variables that a note names. */
const NAMED = 5;
const NAMES = String.raw`"(?:[^"\\]|\\.)*"`;
const NOTE = new RegExp(
  `^[0-9]+ telemetry values of (${NAMES}(?:, ${NAMES})*)(?: and [0-9]+ more variables)? came too late `,
);

/** The note about values that came too late, by variable. */
export function lateNote(late: ReadonlyMap<string, number>): string {
  const values = [...late.values()].reduce((sum, it) => sum + it, 0);
  const named = [...late.keys()].slice(0, NAMED).map((it) => JSON.stringify(it));
  const others = late.size > NAMED ? ` and ${late.size - NAMED} more variables` : '';
  return `${values} telemetry values of ${named.join(', ')}${others} came too late to be put in the order of their times: histories and derived outputs are without them`;
}

/** The variables that the notes of a result name as late; none where no value was. */
export function lateVariables(metadata: Readonly<Record<string, unknown>>): string[] {
  const { simbatch_notes: notes } = metadata;
  if (!Array.isArray(notes)) return [];
  return notes.flatMap((note: unknown) => {
    const names = typeof note === 'string' ? NOTE.exec(note)?.[1] : undefined;
    return names === undefined ? [] : namesIn(names);
  });
}

/** A simulation may have written the note itself, and no JSON. */
function namesIn(list: string): string[] {
  try {
    return JSON.parse(`[${list}]`) as string[];
  } catch {
    return [];
  }
}
