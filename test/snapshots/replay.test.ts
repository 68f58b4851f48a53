import { expect } from 'chai';
import { replaySnapshot } from '../../src/coordinator/snapshots/replay.ts';
import { importSnapshot } from '../../src/coordinator/snapshots/import.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { inPieces, open, recording, refusal } from './support.ts';
import { readSnapshot } from '../../src/coordinator/snapshots/read.ts';

/** The recording, changed. */
function changed(name: string, change: (document: any) => void): any {
  const document = recording(name);
  change(document);
  return document;
}

const asExport = (document: any): any => ({
  format: 1,
  kind: 'export',
  made_by: 'test',
  taken_at: '2026-01-01T00:00:00.000Z',
  batch_id: null,
  records: document.records,
});

const record = (document: any, kind: string, nth = 0): any =>
  document.records.filter((it: any) => it.key.startsWith(`${kind}/`))[nth].value;

describe('a replay finds', () => {
  // change of the record, recording, reported divergence
  const table: [string, string, (document: any) => void, RegExp][] = [
    [
      'another state',
      'job-completed',
      (it) => (it.steps[1].state = 'Claimed'),
      /step 2 \(START\): state is "Claimed" in the record and "Running" now/,
    ],
    [
      'another member',
      'job-completed',
      (it) => (it.steps[0].changed.dueAtMs += 1),
      /step 1 \(CLAIM\): changed.dueAtMs is 1767225661001/,
    ],
    [
      'a fact that was not emitted',
      'job-completed',
      (it) => delete it.steps[2].facts,
      /step 3 \(COMPLETE\): facts is absent/,
    ],
    [
      'a refusal',
      'job-completed',
      (it) => (it.steps[1].event.attempt = 9),
      /step 2 \(START\): the event is accepted in the record and refused now/,
    ],
    [
      'an event that is accepted',
      'job-stale-reports',
      (it) => (it.steps.find((step: any) => step.refused).event = { type: 'CANCEL', now: 1 }),
      /refused in the record and accepted now/,
    ],
    [
      'another clock after a restart',
      'job-claim-restarted',
      (it) => (it.steps[1].changed.dueAtMs = 1),
      /step 2 \(restart\): changed.dueAtMs/,
    ],
    ['another end', 'job-completed', (it) => (it.end.retries = 2), /the end: retries is 2 in the record and 0 now/],
    [
      'a message lost',
      'study-completed',
      (it) => it.turns.find((turn: any) => turn.operation === 'start').messages.pop(),
      /turn \d+ \(start\)/,
    ],
    ['another record', 'study-completed', (it) => (record(it, 'job').claimedAtMs -= 1), /job\/.*claimedAtMs/],
    [
      'a record without events',
      'study-completed',
      (it) => it.turns.splice(1, 1),
      /it has a record, and no event created it/,
    ],
  ];
  for (const [what, name, change, expected] of table) {
    it(what, async () => {
      const { divergences } = await replaySnapshot(await open(changed(name, change)));
      expect(divergences.map((it) => `${it.where}: ${it.detail}`).join('\n')).to.match(expected);
    });
  }
});

describe('the counters of an export', () => {
  const table: [string, (document: any) => void, RegExp][] = [
    [
      'a counter that is off',
      (it) => (record(it, 'batch').completed += 1),
      /runs by status.Completed is 3 in the record and 2 now/,
    ],
    [
      'a run counted as waiting',
      (it) => (record(it, 'batch').requeued = 1),
      /requeued runs is 1 in the record and 0 now/,
    ],
    [
      'a result too few',
      (it) =>
        it.records.splice(
          it.records.findIndex((one: any) => one.key.startsWith('result/')),
          1,
        ),
      /results\.good is 1 in the record and 2 now/,
    ],
    [
      'a job that cannot have ended so',
      (it) => (record(it, 'job').retries = 0),
      /retries is 0 in the record and 1 now/,
    ],
    [
      'times in an impossible order',
      (it) => delete record(it, 'job', 1).attempts[0].started,
      /its history has COMPLETE at .* which a Claimed run does not accept/,
    ],
    [
      'a job no runner holds',
      (it) => Object.assign(record(it, 'job', 1), { value: 'Claimed' }),
      /runner "r1" executes it by the run.s record, and does not hold it/,
    ],
    [
      'a runner that holds what has ended',
      (it) =>
        record(it, 'runner').held.push({ jobId: it.records[2].key.slice(4), attempt: 2, cpuMilli: 0, memoryBytes: 0 }),
      /it holds attempt 2 of run .* which the run.s record denies/,
    ],
    ['a batch over too early', (it) => (record(it, 'batch').value = 'Running'), /it is Running, and its runs are over/],
    ['no submission', (it) => it.records.splice(1, 1), /its submission is missing/],
  ];
  it('balance as recorded', async () => {
    const { divergences, events } = await replaySnapshot(await open(asExport(recording('study-completed'))));
    expect(divergences).to.deep.equal([]);
    expect(events).to.be.greaterThan(8);
  });
  for (const [what, change, expected] of table) {
    it(`show ${what}, and are not imported`, async () => {
      const document = asExport(changed('study-completed', change));
      const { divergences } = await replaySnapshot(await open(document));
      expect(divergences.map((it) => `${it.where}: ${it.detail}`).join('\n')).to.match(expected);
      const error = await refusal(async () => importSnapshot(await open(document), new MemoryStore()));
      expect(error.code).to.equal('snapshot-unusable');
      expect(error.message).to.match(/is inconsistent/);
    });
  }
});

describe('a file that is not a snapshot', () => {
  const study = recording('study-completed');
  const withRecord = (key: unknown, value: unknown) => ({ ...asExport(study), records: [{ key, value }] });
  const lines = (...texts: string[]): string =>
    [JSON.stringify({ ...asExport(study), records: [] }).slice(0, -2), ...texts].join('\n');
  const line = JSON.stringify(study.records[0]);
  const table: [string, unknown, RegExp, string?][] = [
    ['nothing', '', /not valid JSON/],
    ['a text', 'simbatch', /not valid JSON/],
    ['a list', [], /not a JSON object/],
    ['an object', {}, /"format" is missing/],
    ['a format of no number', { format: '1' }, /"format" is "1"/],
    ['a newer format', { format: 2 }, /format 2, this program knows up to 1; use a newer simbatch/, 'snapshot-newer'],
    ['another kind', { format: 1, kind: 'photo' }, /"kind" is "photo"/],
    [
      'a scenario without steps',
      { format: 1, kind: 'scenario', name: '', about: '', machine: 'job' },
      /\/input is required.*\/steps is required/,
    ],
    [
      'another machine',
      { ...recording('job-completed'), machine: '__proto__' },
      /\/machine is "__proto__"; it must be one of/,
    ],
    ['an export without records', { ...asExport({}) }, /"records" is missing/],
    ['a key of no kind', withRecord('__proto__/x', {}), /"__proto__\/x" is not the key of a known kind of record/],
    [
      'a key that leads elsewhere',
      withRecord('runner/../x', { value: 'Idle' }),
      /its id is "..\/x"; it must be the id of a runner/,
    ],
    ['a record without value', withRecord('runner/r1', null), /no key or no value/],
    ['a job without its batch', withRecord(study.records[2].key, study.records[2].value), /does not follow its study/],
    ['a batch twice', { ...asExport(study), records: [study.records[0], study.records[0]] }, /occurs twice/],
    [
      'jobs out of order',
      { ...asExport(study), records: [0, 1, 3, 2].map((at) => study.records[at]) },
      /order of runs/,
    ],
    [
      'a job beyond its batch',
      {
        ...asExport(study),
        records: [study.records[0], { ...study.records[2], key: `${study.records[2].key.slice(0, -1)}9` }],
      },
      /is run 8 of 3/,
    ],
    [
      'another name in the key',
      withRecord(study.records[0].key.replace('2026', '2026'), { ...study.records[0].value, batchId: 'x' }),
      /\/batchId is "x"/,
    ],
    [
      'a negative count',
      withRecord(study.records[0].key, { ...study.records[0].value, next: -1 }),
      /\/next is -1; it must be at least 0/,
    ],
    ['truncated lines', lines(`${line},`), /truncated after line 2/],
    ['lines cut in a line', lines(line.slice(0, 40)), /line 2 is not valid JSON/],
    ['data after the end', lines(line, ']}', '{}'), /data after its end, in line 4/],
  ];
  for (const [what, document, expected, code = 'snapshot-unusable'] of table) {
    for (const [verb, action] of [
      ['replayed', replaySnapshot],
      ['imported', (it: any) => importSnapshot(it, new MemoryStore())],
    ] as const) {
      it(`${what}: is not ${verb}`, async () => {
        const error = await refusal(async () => action(await open(document)));
        expect(error.message).to.match(expected);
        expect(error.code).to.equal(code);
      });
    }
  }

  it('but lines may end in CR, and pieces anywhere', async () => {
    const text = `${lines(...study.records.map((it: any, at: number) => JSON.stringify(it) + (at + 1 < study.records.length ? ',' : '')), ']}')}\n`;
    for (const [laidOut, length] of [
      [text, 1],
      [text, 7],
      [text.replaceAll('\n', '\r\n'), 50],
    ] as const) {
      expect((await replaySnapshot(await open(laidOut, length))).divergences).to.deep.equal([]);
    }
  });

  it('but an older format, which is brought up step by step', async () => {
    const upgrades = new Map([
      [1, { head: (it: any) => ({ ...it, about: `${it.name}!` }), record: (it: any) => it }],
      [2, { head: (it: any) => ({ ...it, about: `${it.about}!` }), record: (it: any) => it }],
    ]);
    const older = inPieces(JSON.stringify(recording('job-completed')));
    const read: any = await readSnapshot(older, { format: 3, upgrades });
    expect(read).to.include({ format: 3, about: 'job-completed!!' });
  });
});
