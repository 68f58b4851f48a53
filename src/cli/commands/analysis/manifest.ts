/** `simbatch manifest`: writes the manifest of a study, or verifies one. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { linesFrom } from '../../../base/text/lines.ts';
import { verifyManifest } from '../../../analysis/manifest/verify.ts';
import { plural } from '../../terminal/format.ts';
import { EXIT } from '../../exit-codes.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { note, writeData, writeJson, writeLine } from '../../terminal/output.ts';

interface VerifyFlags extends ClientFlags {
  against?: string;
}

export function manifestCommand(): Command {
  const summary = 'write the manifest of a study: its configuration, and each run with its result digest';
  const command = clientCommand('manifest', summary, ['ndjson'])
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      for await (const piece of client.analysis.manifest(await resolveBatch(client, reference))) await writeData(piece);
    });
  command.addCommand(
    clientCommand('verify', 'check the hash chain of a manifest file')
      .argument('<file>', 'a manifest, as `simbatch manifest` writes it')
      .option('--against <study>', `also compare it with the coordinator's manifest of this study: ${BATCH_ARGUMENT}`)
      .action(verify),
  );
  return command;
}

async function verify(file: string, flags: VerifyFlags): Promise<void> {
  const found = await verifyManifest(linesOf(file));
  const expected = flags.against === undefined ? undefined : await coordinatorsManifest(flags.against, flags);
  const isSame =
    expected === undefined || (found.valid && expected.valid && found.fingerprint === expected.fingerprint);
  if (!found.valid || !isSame) process.exitCode = EXIT.failed;
  if (flags.format === 'json')
    return writeJson(expected === undefined ? found : { ...found, coordinator: expected, same: isSame });
  if (!found.valid) return writeLine(`not valid: line ${found.line}: ${found.reason}`);
  await writeLine(`valid: ${plural(found.runs, 'run')} of study ${found.batch_id}, fingerprint ${found.fingerprint}`);
  if (expected === undefined) {
    note('a rewritten manifest has another fingerprint: compare it with the one in your report, or use --against');
  } else if (isSame) {
    await writeLine('the same as the manifest of the coordinator');
  } else {
    const other = expected.valid ? `fingerprint ${expected.fingerprint}` : `not valid: ${expected.reason}`;
    await writeLine(`different from the manifest of the coordinator (${other})`);
  }
}

async function coordinatorsManifest(reference: string, flags: ClientFlags) {
  const client = await connect(flags);
  return verifyManifest(linesFrom(client.analysis.manifest(await resolveBatch(client, reference))));
}

async function* linesOf(file: string): AsyncGenerator<string> {
  // A stream's error reaches the reader of its lines only if it is opened first.
  const stream = createReadStream(file, 'utf8');
  await new Promise<void>((resolve, reject) => stream.once('open', () => resolve()).once('error', reject));
  yield* createInterface({ input: stream, crlfDelay: Infinity });
}
