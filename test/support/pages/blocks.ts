/** The blocks of a page in Markdown: shell to execute, sessions with printed outputs, and files that the page names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';

export interface Block {
  /** `shell`: a script; `session`: commands after `$ `, with their outputs; `file`: its first line names it. */
  kind: 'shell' | 'session' | 'file';
  /** Line of the fence in the page, from 1. */
  line: number;
  text: string;
  /** The heading `## ...` above it; empty before the first one. */
  section: string;
  /** Name of a file. */
  name?: string;
  /** The reason of a block that no test executes: `<!-- not executed: REASON -->` on the line before it. */
  notExecuted?: string;
}

export interface SessionCommand {
  command: string;
  printed: string;
}

const FENCE = /^( *)```(\w*)\n([^]*?)^\1```$/gm;
const MARK = /<!-- not executed: (.+) -->\n$/;
const FILE_NAME = /^(?:#|\/\/) ([\w./-]+\.\w+)\b/;

/** The blocks of a page, in its order; blocks that are neither shell nor a named file are left out. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(FENCE)].flatMap((match) => {
    const [, indent = '', language = '', indented = ''] = match;
    const text = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    const before = page.slice(0, match.index);
    const notExecuted = MARK.exec(before)?.[1];
    const name = FILE_NAME.exec(text)?.[1];
    const kind =
      language === 'sh' || language === 'bash'
        ? 'shell'
        : language === '' && text.startsWith('$ ')
          ? 'session'
          : language !== '' && name !== undefined
            ? 'file'
            : undefined;
    if (kind === undefined) return [];
    return [
      {
        kind,
        line: before.split('\n').length,
        text,
        section: [...before.matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? '',
        ...(kind === 'file' && { name }),
        ...(notExecuted !== undefined && { notExecuted }),
      },
    ];
  });
}

export const readPage = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** The commands of a session, each with the output printed after it. */
export function commandsOf(session: string): SessionCommand[] {
  return session
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n');
      return { command: part.slice(0, end), printed: part.slice(end + 1) };
    });
}
