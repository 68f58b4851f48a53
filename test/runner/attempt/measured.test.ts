/** Notes of results about telemetry that is incomplete. */
import { expect } from 'chai';
import { telemetryNotes } from '../../../src/runner/attempt/result/measured.ts';
import type { TelemetrySummary } from '../../../src/runner/telemetry/server.ts';

const complete = { problem: null, refused: 0, refusedValues: 0, lost: 0, detail: '' } as TelemetrySummary;

describe('runner/attempt/result/measured', () => {
  for (const [title, summary, notes] of [
    ['complete telemetry', {}, []],
    [
      'lost samples',
      { lost: 7 },
      [
        '7 telemetry samples were lost before they reached the runner: no condition, history or derived output saw them',
      ],
    ],
    [
      'refused samples, and a file that is cut',
      { problem: 'the disk is full', refused: 2, refusedValues: 3, detail: 'a name is too long' },
      [
        'telemetry was not stored completely: the disk is full',
        '2 telemetry samples and 3 values were refused: a name is too long',
      ],
    ],
  ] as const)
    it(`${title}: ${notes.length} notes`, () => {
      expect(telemetryNotes({ ...complete, ...summary })).to.deep.equal(notes);
    });
});
