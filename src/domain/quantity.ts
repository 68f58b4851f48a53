/**
 * Quantities of processor and memory as Kubernetes writes them: `500m`, `1.5`, `512Mi`, `2G`, `1e3`. Requests are summed
 * and compared, so they become plain numbers here: millicores and bytes.
 * Source: Kubernetes API reference, resource.Quantity.
 */

/** Powers of ten and of two by suffix; none is one. */
const SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['n', 1e-9],
  ['u', 1e-6],
  ['m', 1e-3],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['P', 1e15],
  ['E', 1e18],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
  ['Ti', 2 ** 40],
  ['Pi', 2 ** 50],
  ['Ei', 2 ** 60],
]);

/** Longer texts are rejected without parsing. */
const MAX_LENGTH = 64;
/** Sign, digits, then either an exponent or a suffix, never both. `E` alone is a suffix, before digits an exponent. */
const GRAMMAR = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|([A-Za-z]*))$/;

/**
 * Reads a processor quantity into millicores: `500m` is 500, `2` is 2000. Rounded up to a millionth of a millicore, the
 * finest the notation knows. Returns the fault as a sentence when the text is malformed, negative or too large.
 */
export function parseCpu(text: string): number | string {
  return parseQuantity(text, 1000, 1e6, 'for example "500m" (half a core), "2" or "1.5"');
}

/**
 * Reads a memory quantity into bytes: `512Mi` is 536870912, `1G` is 1000000000. Fractions of a byte are rounded up.
 * Returns the fault as a sentence when the text is malformed, negative or too large.
 */
export function parseMemory(text: string): number | string {
  return parseQuantity(text, 1, 1, 'for example "512Mi", "2Gi" or "1G"');
}

function parseQuantity(text: string, unitsPerOne: number, partsPerUnit: number, examples: string): number | string {
  if (text.length > MAX_LENGTH) return `is ${text.length} characters long, the limit is ${MAX_LENGTH}; ${examples}`;
  const quoted = JSON.stringify(text);
  const match = GRAMMAR.exec(text);
  if (match === null) return `${quoted} is not a quantity: a number and an optional suffix are expected, ${examples}`;
  const [, sign = '', digits = '', exponent = '', suffix = ''] = match;
  const factor = SUFFIXES.get(suffix);
  if (factor === undefined)
    return `${quoted} has the unknown suffix ${JSON.stringify(suffix)}${spelling(suffix)}, ${examples}`;
  const amount = Number(`${digits}${exponent}`);
  if (sign === '-' && amount !== 0) return `${quoted} is negative; ${examples}`;
  const units = ceil(amount * factor * unitsPerOne, partsPerUnit);
  if (units > Number.MAX_SAFE_INTEGER) return `${quoted} is too large; ${examples}`;
  return units;
}

/** A suffix that is right but for its letters' case or a trailing `B`. */
function spelling(suffix: string): string {
  const bare = suffix.replace(/b$/i, '').toLowerCase();
  const meant = [...SUFFIXES.keys()].filter((known) => known.length > 0 && known.toLowerCase() === bare);
  return meant.length === 0 ? '' : ` (did you mean ${meant.map((known) => `"${known}"`).join(' or ')}?)`;
}

/** Rounds up to a whole part, but first to twelve digits: 0.1 * 1000 * 1e6 must not gain a part from rounding errors. */
function ceil(units: number, partsPerUnit: number): number {
  const parts = units * partsPerUnit;
  const nearest = Math.round(parts);
  const whole = Math.abs(parts - nearest) <= Math.abs(parts) * 1e-12 ? nearest : Math.ceil(parts);
  return whole / partsPerUnit;
}
