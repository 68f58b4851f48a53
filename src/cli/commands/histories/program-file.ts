/** The program of an extraction: a simulation that runners offer, or a Python script that travels with the request. */
import { createHash } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { ExtractionProgram, ExtractionRequest } from '../../../contract/types.ts';
import { FUNCTIONS_PREFIX, isFunctions } from '../../../domain/study/function-code.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { readTextFile } from '../../study/check-study.ts';

type Program = { with: ExtractionProgram } & Pick<ExtractionRequest, 'code'>;

/** Characters of a digest that a version shows. */
const SHOWN = 12;

/**
 * The members of the request: of a script (`post.py`) its source, for the Python that most connected runners offer; else the name of a simulation.
 * @throws Failure for a file that cannot be read or is not a Python script, and where no runner executes scripts
 */
export async function programOf(client: Client, given: string): Promise<Program> {
  if (extname(given) !== '.py') {
    if (/[\\/]|[.](?:c?js|mjs|sh)$/.test(given))
      throw new Failure(
        EXIT.usage,
        `${given} cannot be sent to runners: only Python scripts (.py) are; give the runners a simulation that executes it, and name that`,
      );
    return { with: { name: given } };
  }
  const code = scriptCode(basename(given), await readTextFile(given));
  if (code.length > LIMITS.codeBytes)
    throw new Failure(
      EXIT.invalid,
      `${given} has ${code.length} bytes, and ${LIMITS.codeBytes} are allowed; load large data from a file`,
    );
  const name = await offered(client);
  const sha256 = createHash('sha256').update(code).digest('hex');
  return {
    with: {
      name,
      version: `${basename(given)} ${sha256.slice(0, SHOWN)}`,
      code: { sha256, python: name.slice(FUNCTIONS_PREFIX.length) },
    },
    code: code.toString('base64'),
  };
}

/** The simulation of functions that most of the connected runners offer. */
async function offered(client: Client): Promise<string> {
  const counts = new Map<string, number>();
  const { runners } = await client.runners();
  for (const { status, capabilities } of runners) {
    if (status === 'Offline') continue;
    for (const it of capabilities.supported_simulation_types.filter(isFunctions))
      counts.set(it, (counts.get(it) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  if (most !== undefined) return most[0];
  throw new Failure(
    EXIT.failed,
    'no connected runner executes scripts that clients send: start the runner that has the files with --allow-functions, or give it the script as a simulation (--entrypoint) and name that',
  );
}

/** A pickle that calls `simbatch.functions.script.Script(name, source)`, as Python's `ship_script` makes one. */
export function scriptCode(name: string, source: string): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([Buffer.from('X'), length, bytes]);
  };
  const begin = Buffer.from('\x80\x04csimbatch.functions.script\nScript\n', 'latin1');
  return Buffer.concat([begin, text(name), text(source), Buffer.from('\x86R.', 'latin1')]);
}
