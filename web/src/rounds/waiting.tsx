/** An adaptive study that waits for rows: since when, how a round is appended, and how the study ends. */
import type { Batch, BatchStatusResponse, BatchSubmission } from '../../../src/contract/types.ts';
import { quoted } from '../../../src/base/text/shell.ts';
import { Command, Panel } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { clock, count, duration, Time } from '../parts/time.tsx';

/** Since when a study waits for rows, in a few words. */
export function WaitingSince({ batch: { waiting_since: since } }: { batch: Batch }) {
  return since === undefined ? null : <span className="soft">since {clock(Date.parse(since))}</span>;
}

interface Props {
  progress: BatchStatusResponse;
  submission: BatchSubmission;
}

export function WaitingForRows({ progress: { batch }, submission }: Props) {
  if (batch.waiting_for_rows !== true) return null;
  const { rounds = 0, budget = 0, total_jobs: runs, waiting_since: since } = batch;
  return (
    <Panel title="Waiting for rows">
      <div className="stack">
        <p>
          {since !== undefined && (
            <>
              Since <Time at={since} /> ({duration(Math.max(0, Date.now() - Date.parse(since)))}):{' '}
            </>
          )}
          {rounds === 0 ? 'no round was appended yet' : 'every run of every round has ended'}.{' '}
          {budget > runs
            ? `${count(budget - runs)} of ${count(budget)} runs of the budget are left.`
            : 'The budget is used up: close the study to end it.'}
        </p>
        {budget > runs && (
          <>
            <p className="soft small">
              The program that asks for points appends a round under a key of its own; a repeat under the same key costs
              nothing.
            </p>
            <Command label="Command that appends a round" text={appendCommand(batch.id, rounds, submission)} />
          </>
        )}
      </div>
    </Panel>
  );
}

/** A round of one row, with a number inside the bounds of each chosen parameter. */
function appendCommand(batchId: string, rounds: number, { config }: BatchSubmission): string {
  const row = Object.fromEntries(
    Object.entries(config.dispersions).flatMap(([name, { distribution: it }]) =>
      it.type === 'chosen' ? [[name, within(it.lower ?? undefined, it.upper ?? undefined)]] : [],
    ),
  );
  return `echo ${quoted(JSON.stringify(row))} | simbatch append ${batchId} - --key round-${rounds} --wait ${here()}`;
}

function within(lower: number | undefined, upper: number | undefined): number {
  if (lower === undefined) return upper ?? 0;
  return upper === undefined ? lower : Number(((lower + upper) / 2).toPrecision(6));
}
