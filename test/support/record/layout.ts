/** How a recorded file is laid out: one member a line, one element of a list a line, so that a change is seen in a diff. */

export function layOut(document: object): string {
  const members = Object.entries(document).map(([name, value]) => `  ${JSON.stringify(name)}: ${member(value)}`);
  return `{\n${members.join(',\n')}\n}\n`;
}

function member(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value);
  return `[\n${value.map((it) => `    ${JSON.stringify(it)}`).join(',\n')}\n  ]`;
}
