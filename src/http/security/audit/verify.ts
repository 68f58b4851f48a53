/** Verification of an audit log: each line's hash, its place after the line before it, and the head. Reads alone, also while a coordinator writes. */
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auditFiles, HEAD_FILE, readHead, readLine, START, type Link } from './lines.ts';

export interface AuditReport {
  files: number;
  lines: number;
  /** The number of the first line; above 1 where older files were moved away. */
  first: number;
  /** The place of the last line. */
  last: Link;
  faults: string[];
  faultsOmitted: number;
}

const MOST_FAULTS = 100;

/** `noted`: a place that the operator has noted elsewhere; the log must still have it. */
export async function verifyAudit(directory: string, noted?: Link): Promise<AuditReport> {
  const report: AuditReport = { files: 0, lines: 0, first: 0, last: START, faults: [], faultsOmitted: 0 };
  const fault = (text: string): void => {
    if (report.faults.length < MOST_FAULTS) report.faults.push(text);
    else report.faultsOmitted++;
  };
  // The head is read first: lines that are appended meanwhile are after it.
  const headBytes = await readFile(join(directory, HEAD_FILE), 'latin1').catch(() => undefined);
  const head = headBytes === undefined ? undefined : readHead(headBytes);
  const wanted = new Map([head, noted].flatMap((it) => (it === undefined ? [] : [[it.n, it.hash] as const])));
  for (const name of auditFiles(await readdir(directory))) {
    report.files++;
    await eachLine(join(directory, name), (line, at, isWhole) => {
      const where = `${name} line ${at}`;
      const read = isWhole ? readLine(line) : 'has no end: it was cut, or is being written';
      if (typeof read === 'string') {
        // The part of a line after the head was never acknowledged.
        if (isWhole || head === undefined || report.last.n < head.n) fault(`${where} ${read}`);
        return;
      }
      const { link, prev } = read;
      if (report.lines === 0) report.first = link.n;
      else if (link.n !== report.last.n + 1)
        fault(`${where} has number ${link.n} after ${report.last.n}: lines are missing or in another order`);
      else if (prev !== report.last.hash)
        fault(`${where} does not continue line ${report.last.n}: that line is not as it was written`);
      report.lines++;
      report.last = link;
      if (wanted.get(link.n) === link.hash) wanted.delete(link.n);
    });
  }
  if (head === undefined && report.lines > 0)
    fault(`${HEAD_FILE} is missing or damaged: lines that are missing at the end would not be found`);
  for (const [n] of wanted)
    if (n > 0) fault(`line ${n} is missing or is another one: the ${n === head?.n ? 'head' : 'noted place'} names it`);
  return report;
}

/** Calls `take` with each line of a file, its number in the file, and whether it has its line feed. */
async function eachLine(path: string, take: (line: string, number: number, isWhole: boolean) => void): Promise<void> {
  const file = await open(path);
  try {
    let rest = '';
    let number = 0;
    for await (const piece of file.createReadStream({ encoding: 'utf8', autoClose: false })) {
      const lines = (rest + String(piece)).split('\n');
      rest = lines.pop()!;
      for (const line of lines) take(line, ++number, true);
    }
    if (rest !== '') take(rest, ++number, false);
  } finally {
    await file.close();
  }
}
