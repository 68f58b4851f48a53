/** The table of points at which the selftest kills a process. */
import type { Draws } from './draws.ts';
import type { Operation, Stage } from './wire.ts';

export type Victim = 'coordinator' | 'runner' | 'simulation';

export interface KillPoint {
  name: string;
  victim: Victim;
  /** State of the victim at that point, for the table at the end. */
  text: string;
  /** The message that triggers it; without one it happens by chance while the study runs. */
  at?: { stage: Stage; operation: Operation; contains?: string };
  /** The kill follows within this time, drawn uniformly; 0: before the message reaches the other side. */
  withinMs: number;
  /** True where the process is killed once more while it starts again. */
  again?: true;
}

const COMPLETE = '"complete"';
const START = '"start"';

export const KILL_POINTS: readonly KillPoint[] = [
  {
    name: 'before submit',
    victim: 'coordinator',
    text: 'a submission has arrived, nothing is written',
    at: { stage: 'request', operation: 'submit' },
    withinMs: 0,
  },
  {
    name: 'during submit',
    victim: 'coordinator',
    text: 'the submission is validated or committed',
    at: { stage: 'forwarded', operation: 'submit' },
    withinMs: 6,
  },
  {
    name: 'after submit',
    victim: 'coordinator',
    text: 'the submission is on disk, its reply is lost',
    at: { stage: 'reply', operation: 'submit' },
    withinMs: 0,
  },
  {
    name: 'during a claim',
    victim: 'coordinator',
    text: 'runs are assigned or committed',
    at: { stage: 'forwarded', operation: 'claim' },
    withinMs: 6,
  },
  {
    name: 'after a claim',
    victim: 'coordinator',
    text: 'the claim is on disk, its reply is lost',
    at: { stage: 'reply', operation: 'claim', contains: '"attempt"' },
    withinMs: 0,
  },
  {
    name: 'after a claim',
    victim: 'runner',
    text: 'the claim is on disk, the runner does not know it',
    at: { stage: 'reply', operation: 'claim', contains: '"attempt"' },
    withinMs: 0,
  },
  {
    name: 'before the start of a run',
    victim: 'runner',
    text: 'its start is on disk, no process exists',
    at: { stage: 'reply', operation: 'reports', contains: START },
    withinMs: 0,
  },
  { name: 'while running', victim: 'simulation', text: 'a simulation computes', withinMs: 200 },
  {
    name: 'while running',
    victim: 'runner',
    text: 'simulations compute, and outlive their runner',
    at: { stage: 'reply', operation: 'reports', contains: START },
    withinMs: 150,
  },
  {
    name: 'between spool and report',
    victim: 'runner',
    text: 'an outcome is in the spool, the coordinator has no report',
    at: { stage: 'request', operation: 'reports', contains: COMPLETE },
    withinMs: 0,
  },
  {
    name: 'before a report',
    victim: 'coordinator',
    text: 'a report has arrived, nothing is written',
    at: { stage: 'request', operation: 'reports', contains: COMPLETE },
    withinMs: 0,
  },
  {
    name: 'during commit',
    victim: 'coordinator',
    text: 'a result is being committed',
    at: { stage: 'forwarded', operation: 'reports', contains: COMPLETE },
    withinMs: 6,
  },
  {
    name: 'after commit',
    victim: 'coordinator',
    text: 'a result is on disk, its acknowledgement is lost',
    at: { stage: 'reply', operation: 'reports', contains: COMPLETE },
    withinMs: 0,
  },
  {
    name: 'after commit',
    victim: 'runner',
    text: 'a result is on disk, the spool still has it',
    at: { stage: 'reply', operation: 'reports', contains: COMPLETE },
    withinMs: 0,
  },
  {
    name: 'during recovery',
    victim: 'coordinator',
    text: 'killed again while it reads its store',
    withinMs: 200,
    again: true,
  },
  {
    name: 'during recovery',
    victim: 'runner',
    text: 'killed again while it registers and cleans up',
    withinMs: 200,
    again: true,
  },
  { name: 'by chance', victim: 'coordinator', text: 'at any moment', withinMs: 400 },
  { name: 'by chance', victim: 'runner', text: 'at any moment', withinMs: 400 },
  { name: 'by chance', victim: 'simulation', text: 'at any moment', withinMs: 400 },
];

/** True for the points that a submission triggers; the others need a running study. */
export const isAtSubmission = (point: KillPoint): boolean => point.at?.operation === 'submit';

/** Every point once in random order, then points by chance, `count` in all. Pure but for the draws. */
export function planKills(count: number, draws: Draws): KillPoint[] {
  const plan = draws.shuffled(KILL_POINTS).slice(0, count);
  const later = KILL_POINTS.filter((it) => !isAtSubmission(it));
  while (plan.length < count) plan.push(draws.pick(later));
  return plan;
}
