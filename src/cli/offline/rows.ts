/** The values of cells of text. */

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
/** The apostrophe before text that a spreadsheet would evaluate; `csvField` writes it. */
const GUARDED_TEXT = /^'(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/;

/** The value of a cell of text: a number, a boolean or text; none where it is empty, a list or an object. */
export function valueOf(cell: string): number | boolean | string | undefined {
  if (cell === '') return undefined;
  if (NUMBER.test(cell)) return Number(cell);
  if (cell === 'true' || cell === 'false') return cell === 'true';
  return isStructure(cell) ? undefined : cell.replace(GUARDED_TEXT, '');
}

function isStructure(cell: string): boolean {
  if (!/^[[{]/.test(cell)) return false;
  try {
    JSON.parse(cell);
    return true;
  } catch {
    return false;
  }
}
