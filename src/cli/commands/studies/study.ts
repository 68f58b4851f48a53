/** `simbatch study STUDY`: a study in detail; `simbatch study show`: as it was submitted, with the seed that is used. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { ClientFlags } from '../../options.ts';
import { clientCommand, connect } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { showBatch } from './status.ts';
import { note, write, writeJson } from '../../terminal/output.ts';

export function studyCommand(): Command {
  return clientCommand('study', 'show a study in detail, as `simbatch status` does; or as it was submitted')
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => showBatch(await connect(flags), reference, flags))
    .addCommand(showCommand());
}

function showCommand(): Command {
  return clientCommand('show', 'print a study as it was submitted, with the seed that is used', ['yaml', 'json'])
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const { code, ...study } = await client.submission(await resolveBatch(client, reference));
      if (code !== undefined) note('note: the study carries a function, which is not shown');
      if (flags.format === 'json') return writeJson(study);
      return write(stringify(study, { lineWidth: 0 }));
    });
}
