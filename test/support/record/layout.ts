/** Layout of recorded files: one member or list element per line, so that diffs are readable. */

export function layOut(document: object): string {
  const members = Object.entries(document).map(([name, value]) => `  ${JSON.stringify(name)}: ${member(value)}`);
  return `{\n${members.join(',\n')}\n}\n`;
}

function member(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value);
  return `[\n${value.map((it) => `    ${JSON.stringify(it)}`).join(',\n')}\n  ]`;
}
