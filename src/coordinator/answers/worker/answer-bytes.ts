/** An answer as JSON, with the limits that follow from the results of its studies and not from their tables. */
import { type ExtractedStudy, extractedWarnings } from '../../../analysis/table/extracted.ts';
import type { Warning } from '../../../analysis/warning.ts';
import { stringifyExact } from '../../../base/json/json-writing.ts';
import type { Study } from './study.ts';

const encoded = (answer: object): Uint8Array => new TextEncoder().encode(stringifyExact(answer));

/** The answer, with the telemetry that runs of its studies lack, and the limits of the values of extractions that it names. */
export function answerBytes(
  answer: object,
  studies: readonly Pick<Study, 'incomplete'>[],
  extracted: readonly ExtractedStudy[],
): Uint8Array {
  if (!('warnings' in answer) || !Array.isArray(answer.warnings)) return encoded(answer);
  const incomplete = studies.flatMap((it) => it.incomplete.warnings());
  const named = extracted.length === 0 ? [] : extractedWarnings(new TextDecoder().decode(encoded(answer)), extracted);
  const more: Warning[] = [...incomplete, ...named];
  return encoded(more.length === 0 ? answer : { ...answer, warnings: [...(answer.warnings as object[]), ...more] });
}
