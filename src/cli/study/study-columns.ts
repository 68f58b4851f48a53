/** Columns of files in a study: `{type: table, file: cases.csv, column: mass}` becomes the numbers of the column. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { resolve } from 'node:path';
import { distributionEntry } from '../../base/distributions/table.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { Fault } from '../../contract/types.ts';
import { readColumn } from './column-file.ts';

/**
 * Replaces, in the study, every `file` and `column` of a distribution by the list of numbers that its type has. Returns a fault, with its
 * pointer, for each that cannot be read. `directory`: paths are relative to it. Each file and column is read once.
 */
export async function readColumns(study: unknown, directory: string): Promise<Fault[]> {
  const faults: Fault[] = [];
  const known = new Map<string, Promise<number[] | string>>();
  for (const [name, dispersion] of Object.entries(membersOf(membersOf(membersOf(study)['config'])['dispersions']))) {
    const distribution = membersOf(membersOf(dispersion)['distribution']);
    if (!Object.hasOwn(distribution, 'file')) continue;
    const pointer = `/config/dispersions${pointerToken(name)}/distribution`;
    const list = listMemberOf(distribution['type']);
    const { file, column } = distribution;
    if (list === undefined) {
      faults.push({ pointer: `${pointer}/file`, detail: 'is for a distribution of type table or empirical' });
    } else if (Object.hasOwn(distribution, list)) {
      faults.push({ pointer: `${pointer}/file`, detail: `is given beside \`${list}\`; give one of them` });
    } else if (typeof file !== 'string' || file === '') {
      faults.push({ pointer: `${pointer}/file`, detail: 'must be the path of a CSV or Parquet file' });
    } else if (typeof column !== 'string' || column === '') {
      const detail = 'must be the name of a column of the file';
      faults.push({
        pointer: `${pointer}/column`,
        detail: Object.hasOwn(distribution, 'column') ? detail : `is missing; it ${detail}`,
      });
    } else {
      const path = resolve(directory, file);
      const key = JSON.stringify([path, column]);
      const reading = known.get(key) ?? readColumn(path, column);
      known.set(key, reading);
      const numbers = await reading;
      if (typeof numbers === 'string') faults.push({ pointer: `${pointer}/file`, detail: `(${path}) ${numbers}` });
      else {
        delete distribution['file'];
        delete distribution['column'];
        distribution[list] = numbers;
      }
    }
  }
  return faults;
}

/** The member of a distribution that is a list of numbers. */
function listMemberOf(type: unknown): string | undefined {
  const members = typeof type === 'string' ? distributionEntry(type)?.members : undefined;
  return Object.entries(members ?? {}).find(([, { kind }]) => kind === 'numbers')?.[0];
}

const membersOf = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {});
