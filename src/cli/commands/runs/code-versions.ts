/** `simbatch code-versions`: which versions of the code executed the runs of a study. */
import type { Command } from 'commander';
import type { CodeVersion } from '../../../contract/types.ts';
import { shortCode } from '../../../domain/code-name.ts';
import { clientCommand, connect, type ClientFlags } from '../../options.ts';
import { BATCH_ARGUMENT, resolveBatch } from '../../study/references.ts';
import { each, LIST_FORMATS, type ListColumn, printList } from '../../terminal/list.ts';
import { note } from '../../terminal/output.ts';

/** The name of a version, as tables and conditions have it; `unknown` for runs whose code is not known. */
const nameOf = ({ digest }: CodeVersion): string => (digest === null ? 'unknown' : shortCode(digest));

/** `yes`, `no`, or `?` where git did not say. */
function dirtyOf({ git }: CodeVersion): string | undefined {
  if (git === undefined) return undefined;
  return git.dirty === null ? '?' : git.dirty ? 'yes' : 'no';
}

const COLUMNS: readonly ListColumn<CodeVersion>[] = [
  { name: 'code', key: 'code', value: nameOf },
  { name: 'kind', key: 'kind', value: ({ kind }) => kind },
  { name: 'runs', key: 'runs', align: 'right', value: ({ runs }) => runs },
  { name: 'first run', key: 'first_run_id', align: 'right', value: (it) => it.first_run_id },
  {
    name: 'commit',
    key: 'commit',
    value: ({ git }) => git?.commit,
    cell: ({ git }) => git?.commit.slice(0, 12) ?? '-',
  },
  { name: 'describe', key: 'describe', value: ({ git }) => git?.describe, wide: true },
  { name: 'changed', key: 'dirty', value: dirtyOf },
  { name: 'files', key: 'files', align: 'right', value: ({ files }) => files },
  { name: 'runners', key: 'runners', value: ({ runners }) => runners.join(','), shrink: 12 },
  { name: 'folder', key: 'root', value: ({ root }) => root, wide: true },
  { name: 'digest', key: 'digest', value: ({ digest }) => digest, wide: true },
];

export function codeVersionsCommand(): Command {
  return clientCommand('code-versions', 'the versions of the code that executed the runs of a study', LIST_FORMATS)
    .argument('<study>', BATCH_ARGUMENT)
    .action(async (reference: string, flags: ClientFlags) => {
      const client = await connect(flags);
      const versions = await client.analysis.codeVersions(await resolveBatch(client, reference));
      const count = await printList(flags.format, each(versions), {
        columns: COLUMNS,
        nameOf,
        none: 'no run of the study has started',
      });
      if (count === 0) return;
      for (const it of versions) if (it.note !== undefined) note(`note: ${nameOf(it)} is ${it.note}`);
      if (count > 1) note('more than one version made the results: simbatch status says how to execute runs again');
    });
}
