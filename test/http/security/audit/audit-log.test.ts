/** The lines of the audit log: durable, one chain over files and starts; verification finds every change of a line. A disk that is full. */
import { appendFile, mkdtemp, open, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { AuditLog, type AuditLogOptions, type LogFile } from '../../../../src/http/security/audit/audit-log.ts';
import type { AuditEntry } from '../../../../src/http/security/audit/lines.ts';
import { verifyAudit } from '../../../../src/http/security/audit/verify.ts';

const FILE = 'audit.ndjson';

describe('http/security/audit/audit-log', () => {
  let directory: string;
  let clockMs = 0;
  const errors: string[] = [];
  const log = { error: (_: object, message: string) => void errors.push(message) };
  const opened = (more: Partial<AuditLogOptions> = {}) =>
    new AuditLog({ directory, now: () => (clockMs += 1000), log, ...more });
  const entry = (n: number, event: AuditEntry['event'] = 'begun'): AuditEntry => ({
    event,
    actor: 'ann',
    operation: 'cancelBatch',
    on: `study ${n}`,
  });
  /** Appends so many lines, some together. */
  const written = async (lines: number, more: Partial<AuditLogOptions> = {}): Promise<void> => {
    const audit = opened(more);
    for (let n = 0; n < lines; n += 3)
      await Promise.all([0, 1, 2].filter((it) => n + it < lines).map((it) => audit.append(entry(n + it))));
    await audit.close();
  };
  const text = (name = FILE) => readFile(join(directory, name), 'utf8');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'simbatch-audit-'));
    errors.length = 0;
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is one chain over several starts and files', async () => {
    for (let start = 0; start < 4; start++) await written(7, { fileBytes: 1000 });
    const report = await verifyAudit(directory);
    expect(report).to.deep.include({ lines: 28, first: 1, faults: [], faultsOmitted: 0 });
    expect(report.files).to.be.greaterThan(3);
    expect(report.last.n).to.equal(28);
    expect(await verifyAudit(directory, report.last)).to.deep.include({ faults: [] });
  });

  it('has the line on disk when it is acknowledged', async () => {
    const audit = opened();
    await audit.append(entry(1));
    expect(JSON.parse(await text())).to.include({ n: 1, actor: 'ann', on: 'study 1' });
    await audit.close();
  });

  it('syncs before it acknowledges, and writes the head after that', async () => {
    const steps: string[] = [];
    const openFile = async (path: string): Promise<LogFile> => {
      const file = await open(path, 'a+')
        .then((it) => it.close())
        .then(() => open(path, 'r+'));
      const name = path.endsWith(FILE) ? 'lines' : 'head';
      return {
        write: ((...args: Parameters<typeof file.write>) => (
          steps.push(`${name} written`),
          file.write(...args)
        )) as LogFile['write'],
        datasync: () => (steps.push(`${name} synced`), file.datasync()),
        truncate: (size) => file.truncate(size),
        close: () => file.close(),
      };
    };
    const audit = opened({ openFile });
    await audit.open();
    steps.length = 0;
    await audit.append(entry(1));
    expect([...steps, 'acknowledged']).to.deep.equal(['lines written', 'lines synced', 'head written', 'acknowledged']);
    await audit.close();
  });

  it('finds each line that is changed, cut or moved', async () => {
    await written(12);
    const whole = await text();
    const lines = whole.trimEnd().split('\n');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('changed', 'cut', 'swapped', 'repeated', 'ended before') as fc.Arbitrary<string>,
        fc.nat({ max: 11 }),
        fc.nat({ max: 10_000 }),
        async (how, at, place) => {
          const damaged = [...lines];
          if (how === 'changed') {
            const line = damaged[at]!;
            const i = place % line.length;
            damaged[at] = line.slice(0, i) + (line[i] === 'x' ? 'y' : 'x') + line.slice(i + 1);
          } else if (how === 'cut') damaged.splice(at, 1);
          else if (how === 'swapped') damaged.splice(at % 11, 2, damaged[(at % 11) + 1]!, damaged[at % 11]!);
          else if (how === 'repeated') damaged.splice(at, 0, damaged[at]!);
          else damaged.length = at;
          // A log whose first line is cut looks like one whose older file was moved away; its number says so.
          const isMoved = how === 'cut' && at === 0;
          await writeFile(join(directory, FILE), damaged.map((it) => `${it}\n`).join(''));
          const { faults, first } = await verifyAudit(directory);
          expect(isMoved ? first === 2 : faults.length > 0, `${how} ${at}: ${faults.join('; ')}`).to.equal(true);
        },
      ),
      { numRuns: 150 },
    );
    await writeFile(join(directory, FILE), whole);
    expect((await verifyAudit(directory)).faults).to.deep.equal([]);
  });

  it('finds a log that was written anew by a head that was noted, and a head that is missing', async () => {
    await written(5);
    const { last } = await verifyAudit(directory);
    for (const name of await readdir(directory)) await unlink(join(directory, name));
    await written(8);
    expect((await verifyAudit(directory)).faults).to.deep.equal([]);
    expect((await verifyAudit(directory, last)).faults).to.deep.equal([
      'line 5 is missing or is another one: the noted place names it',
    ]);
    await unlink(join(directory, 'audit.head'));
    expect((await verifyAudit(directory)).faults).to.have.length(1);
  });

  it('does not continue a log that was cut or whose last line was changed', async () => {
    await written(4);
    const whole = await text();
    for (const damaged of [whole.split('\n').slice(0, 2).join('\n') + '\n', whole.replace(/study 3/, 'study 9'), '']) {
      await writeFile(join(directory, FILE), damaged);
      const error = await opened()
        .open()
        .then(
          () => undefined,
          (it: Error) => it,
        );
      expect(error?.message).to.match(/is not as it was written.*simbatch audit-log verify/);
    }
    await writeFile(join(directory, FILE), whole);
    const audit = opened();
    await audit.open();
    await audit.close();
  });

  it('removes the part of a line that a crash left, says so in a line, and continues', async () => {
    await written(3);
    await appendFile(join(directory, FILE), '{"n":4,"at":"20');
    expect((await verifyAudit(directory)).faults).to.deep.equal([]);
    await written(1);
    const lines = (await text())
      .trimEnd()
      .split('\n')
      .map((it) => JSON.parse(it) as AuditEntry);
    expect(lines.slice(3).map(({ event, bytes }) => [event, bytes])).to.deep.equal([
      ['torn', 15],
      ['begun', undefined],
    ]);
    expect(await verifyAudit(directory)).to.deep.include({ faults: [], lines: 5 });
  });

  it('refuses lines while the disk is full, keeps outcomes, and continues when there is room', async () => {
    let isFull = false;
    const openFile = async (path: string): Promise<LogFile> => {
      const file = await open(path, 'a+')
        .then((it) => it.close())
        .then(() => open(path, 'r+'));
      return {
        write: (async (bytes: Uint8Array, offset: number, length: number, position: number) => {
          if (!isFull) return file.write(bytes, offset, length, position);
          // A full disk takes a part.
          await file.write(bytes, offset, Math.min(7, length), position);
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
        }) as LogFile['write'],
        datasync: () => file.datasync(),
        truncate: (size) => file.truncate(size),
        close: () => file.close(),
      };
    };
    const audit = opened({ openFile });
    await audit.append(entry(1));
    isFull = true;
    await audit.append(entry(1, 'ended'));
    const refusal = await audit.append(entry(2)).then(
      () => undefined,
      (it: Error & { code: string }) => it,
    );
    expect(refusal).to.include({ code: 'unavailable' });
    expect(refusal!.message).to.contain('ENOSPC').and.to.contain('make room');
    expect(errors).to.deep.equal(['the audit log cannot be written; actions are refused']);
    isFull = false;
    await audit.append(entry(3));
    await audit.close();
    const lines = (await text())
      .trimEnd()
      .split('\n')
      .map((it) => JSON.parse(it) as AuditEntry);
    expect(lines.map(({ event, on }) => `${event} ${on}`)).to.deep.equal([
      'begun study 1',
      'ended study 1',
      'begun study 3',
    ]);
    expect((await verifyAudit(directory)).faults).to.deep.equal([]);
  });
});
