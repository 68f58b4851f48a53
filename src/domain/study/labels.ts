/** Labels of studies: short texts by key, and the filter `key=value`. */
import { LABEL_KEY_PATTERN } from '../../contract/patterns.ts';
import { LIMITS } from '../../contract/limits.ts';
import { SimbatchError } from '../errors.ts';

const KEY = new RegExp(LABEL_KEY_PATTERN);

/** Reads `key=value`. Returns the fault as a phrase when the text is not a label. */
export function parseLabel(text: string): readonly [key: string, value: string] | string {
  const shown = JSON.stringify(text.slice(0, 100));
  const equals = text.indexOf('=');
  if (equals < 0) return `${shown} is not a label; write key=value`;
  const [key, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (!KEY.test(key)) {
    return `${shown} has the key "${key.slice(0, 100)}"; a key has 1 to ${LIMITS.labelKeyLength} letters, digits, ".", "_", "/" and "-", with a letter or digit at both ends`;
  }
  if (value.length <= LIMITS.labelValueLength) return [key, value];
  return `${shown} has a value of ${value.length} characters; the limit is ${LIMITS.labelValueLength}`;
}

/**
 * Returns a predicate for labels that include all of these.
 * @throws SimbatchError `malformed-query`
 */
export function hasLabels(
  wanted: readonly string[] = [],
): (labels: Readonly<Record<string, string>> | undefined) => boolean {
  const pairs = wanted.map((text) => {
    const label = parseLabel(text);
    if (typeof label === 'string')
      throw new SimbatchError('malformed-query', `the query parameter \`label\`: ${label}`);
    return label;
  });
  return (labels = {}) => pairs.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}
