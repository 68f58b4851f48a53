/** Fields of CSV records (RFC 4180). */

/**
 * The begin of a text that a spreadsheet evaluates as a formula (OWASP, CSV injection): after any blanks, and also in the
 * full-width forms that some take for the ASCII ones.
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;

/**
 * Returns a value as a field. Text that would be evaluated gets an apostrophe, which spreadsheets read as "text follows";
 * numbers are left as they are.
 */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
