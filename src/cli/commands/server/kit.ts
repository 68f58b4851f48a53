/** `simbatch kit`: writes the runner as one archive for machines that have only Node, or not even that. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { describeNode, packKit } from '../../../launcher/kit/kit.ts';
import type { Kit } from '../../../launcher/kit/kit.ts';
import { OutputCommand } from '../../output-command.ts';
import { makeWhole, writeFileFrom } from '../../terminal/output-file.ts';
import { writeJson, writeLine } from '../../terminal/output.ts';
import { isDirectory } from '../../../base/directories.ts';

interface KitFlags {
  withNode?: string | true;
  format: 'table' | 'json';
}

export function kitCommand(): Command {
  return new OutputCommand('kit')
    .description('write the runner as one archive, which runs where only Node is installed')
    .argument('[file|directory]', 'the archive, or the directory for it', '.')
    .option('--with-node [path]', 'bring a Node along (default: the Node of this command)')
    .action(async (given: string, flags: KitFlags) => {
      const { withNode } = flags;
      const kit = await packKit(
        withNode === undefined ? {} : { node: await describeNode(withNode === true ? process.execPath : withNode) },
      );
      const file = isDirectory(given) ? join(given, nameOf(kit)) : given;
      const partial = `${file}.partial`;
      await makeWhole(file, partial, () => writeFileFrom(file, (put) => put(kit.archive), { begun: partial }));
      const { version, platform, node, sha256 } = kit;
      if (flags.format === 'json') {
        return writeJson({ file, bytes: kit.archive.length, version, platform, node: node ?? null, sha256 });
      }
      const megabytes = (kit.archive.length / 1e6).toFixed(1);
      const brings = node === undefined ? 'without Node' : `with Node ${node}`;
      return writeLine(`${file}: runner ${version} for ${platform}, ${brings}, ${megabytes} MB, sha256 ${sha256}`);
    });
}

const nameOf = ({ folder, platform, node }: Kit): string =>
  `${folder}-${platform}${node === undefined ? '' : '-node'}.tar.gz`;
