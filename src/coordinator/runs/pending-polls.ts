/**
 * Serves the pending long polls when work or capacity may have been added, in passes. Each pass is done in slices: one turn in an iteration of
 * the event loop, with a limited number of runs, since a study may be submitted while thousands of slots wait. The runs go round the polls
 * in the order of asking, one each at a time, so that a small study is spread over the runners, in a slice as over many. A poll is answered when it can
 * take no more, once its runs are on the disk.
 */
import type { Clock } from '../../base/clock.ts';
import type { Assignment, ClaimResponse, Uuid } from '../../contract/types.ts';
import { CLAIMED_AT_ONCE } from '../../domain/rules.ts';
import { runnersToLook } from '../reuse/take-results.ts';
import type { PendingPoll } from '../scheduling/long-polls.ts';
import type { RunAssignment } from '../scheduling/scheduler.ts';
import { workRequestOf, type WorkRequest } from '../scheduling/work-request.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import { answer, assign, jobsByRunner, withoutMoved, type AssignParts } from './assign.ts';
import { reassign } from './waiting-runs.ts';

/** Polls that one slice looks at. Most of a large pool may wait for other simulations than those that have work. */
const LOOKED_AT_ONCE = 512;
/** Runs of the first slice of a pass, which shares an iteration of the event loop, and a write, with the request that added the work. */
const FIRST_AT_ONCE = 16;
/** Slices that wait for the disk, together at most: they may share one write, which holds the event loop for a while for each run. */
const WRITTEN_AT_ONCE = 4;

interface ServingParts extends AssignParts {
  clock: Clock;
  directory: Directory;
}

/** A poll in a pass, with the runs that it has been given so far. */
class Place {
  readonly poll: PendingPoll<ClaimResponse>;
  readonly assignments: Assignment[] = [];
  readonly batches: ClaimResponse['batches'] = {};
  /** The runner has to look at its code, and to claim again, before it gets more. */
  mustLook = false;

  constructor(poll: PendingPoll<ClaimResponse>) {
    this.poll = poll;
  }

  get left(): number {
    return this.poll.maxJobs - this.assignments.length;
  }

  add({ assignments, batches }: ClaimResponse): void {
    this.assignments.push(...assignments);
    Object.assign(this.batches, batches);
  }
}

export class PendingPolls {
  readonly #parts: () => ServingParts;
  #isScheduled = false;
  #isServing = false;
  /** Work, capacity or a poll may have been added since the pass began. */
  #isStale = false;
  #isGiving = false;
  #answers: Answering | undefined;

  constructor(parts: () => ServingParts) {
    this.#parts = parts;
  }

  /** True while a pass gives runs to the polls: a new claim takes its place after them. */
  get isGiving(): boolean {
    return this.#isGiving;
  }

  /** Serves the polls after the running requests. */
  schedule(): void {
    if (this.#isServing) this.#isStale = true;
    if (this.#isServing || this.#isScheduled || !this.#mayServe()) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      void this.#serve();
    });
  }

  tick(): void {
    this.schedule();
  }

  #mayServe(): boolean {
    const { longPolls, scheduler, crowded } = this.#parts();
    return longPolls.size > 0 && (scheduler.hasWork || crowded.size > 0);
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    this.#isStale = false;
    const places = [...this.#parts().longPolls.pending()].map((it) => new Place(it));
    const answers = (this.#answers ??= new Answering(this.#parts()));
    answers.room = FIRST_AT_ONCE;
    try {
      // Runs that any runner could take leave those with devices to runs that ask for them, as far as others are free.
      const hasDevices = (it: Place): boolean => this.#hasDevices(it);
      for (const some of [places.filter((it) => !hasDevices(it)), places.filter(hasDevices)]) {
        await this.#goRound(some, answers, { mayWait: false, idle: [] });
      }
      // Runs wait on a runner only after every runner has as many as it can start.
      const waiting = places.filter((it) => this.#waits(it));
      const ahead = waiting.filter(({ poll }) => poll.ahead > 0);
      const idle = waiting.filter(({ poll, assignments }) => poll.ahead === 0 && assignments.length === 0);
      await this.#goRound(ahead, answers, { mayWait: true, idle });
    } catch {
      // The turn has reported the error.
      answers.add(places, undefined);
    }
    this.#isServing = false;
    this.#isGiving = false;
    if (this.#isStale) this.schedule();
  }

  #hasDevices({ poll }: Place): boolean {
    const runner = this.#parts().directory.runners.get(poll.runnerId);
    return runner !== undefined && stateOf(runner).context.capabilities.resources !== undefined;
  }

  #waits = ({ poll }: Place): boolean => this.#parts().longPolls.waits(poll);

  /**
   * Gives runs to the places in turn, until none takes more. `mayWait`: also runs that wait on the runner, where none of the `idle`
   * places can start them.
   */
  async #goRound(
    places: readonly Place[],
    answers: Answering,
    { mayWait, idle }: { mayWait: boolean; idle: readonly Place[] },
  ): Promise<void> {
    let line = places;
    while (line.length > 0) {
      // Rounds of few runs share an iteration.
      if (answers.room <= 0) await answers.nextSlice();
      const { looked, again, woken, runs, written } = this.#mayServe()
        ? this.#slice(line, { idle, mayWait, most: answers.room })
        : { looked: line, again: [], woken: [], runs: 0, written: undefined };
      answers.room -= runs;
      const isLast = ({ poll, mustLook }: Place): boolean => mayWait || poll.ahead === 0 || mustLook;
      answers.add([...looked.filter((it) => isLast(it) && !again.includes(it)), ...woken], written);
      idle = idle.filter((it) => !woken.includes(it));
      line = [...line.slice(looked.length), ...again].filter(this.#waits);
      if (line.length > 0) await answers.nextSlice();
    }
  }

  /** One turn. */
  #slice(
    line: readonly Place[],
    { idle, mayWait, most }: { idle: readonly Place[]; mayWait: boolean; most: number },
  ): Slice {
    const parts = this.#parts();
    const each = Math.max(1, Math.floor(most / line.length));
    const { value, written } = parts.turns.runNow('serve-waiting', (turn) => {
      const { looked, looking, picks } = plan(parts, turn, line.slice(0, LOOKED_AT_ONCE), { each, mayWait, most });
      const all = { each, except: looking };
      const claimed = assign(parts, turn, picks, (them) =>
        requestsOf(turn, looked, { ...all, mayWait, given: jobsByRunner(them) }),
      );
      turn.deliverFacts();
      const places = [...looked, ...idle.slice(0, LOOKED_AT_ONCE)];
      const requests = requestsOf(turn, places, { ...all, mayWait: false, given: jobsByRunner(claimed) });
      const moved = reassign(parts, turn, requests);
      turn.deliverFacts();
      const given = jobsByRunner([...withoutMoved(claimed, moved), ...moved]);
      const answers = [...given].map(([runnerId, jobIds]) => [runnerId, answer(parts, turn, jobIds)] as const);
      return { looked, looking, given, answers: new Map(answers) };
    });
    const { looked, looking, given, answers } = value;
    parts.taking.end(written);
    this.#isGiving = given.size > 0 && line.length > 1;
    for (const place of looked) place.mustLook = looking.has(place.poll.runnerId);
    const served = [...looked, ...idle].filter((it) => given.has(it.poll.runnerId));
    for (const place of served) place.add(answers.get(place.poll.runnerId)!);
    return {
      looked,
      again: served.filter((it) => given.get(it.poll.runnerId)!.length === each && it.left > 0 && !idle.includes(it)),
      woken: served.filter((it) => idle.includes(it)),
      runs: [...given.values()].reduce((sum, it) => sum + it.length, 0),
      written: given.size > 0 ? written : undefined,
    };
  }
}

interface Slice {
  /** The places that it has looked at: the first of the line. */
  looked: readonly Place[];
  /** The ones of these whose turn comes again. */
  again: readonly Place[];
  /** Idle places that were given runs. */
  woken: readonly Place[];
  /** The number of runs that it has given. */
  runs: number;
  /** Undefined where the slice assigned nothing. */
  written: Promise<void> | undefined;
}

/** Answers polls once their runs are on the disk, with a limited number of runs in an iteration of the event loop. */
class Answering {
  /** Runs that this iteration may still give to polls. */
  room = FIRST_AT_ONCE;
  readonly #parts: Pick<ServingParts, 'clock' | 'longPolls'>;
  #latest: Promise<void> = Promise.resolve();
  #unwritten = 0;
  /** Runs of the answers in this iteration. */
  #runs = 0;

  constructor(parts: Pick<ServingParts, 'clock' | 'longPolls'>) {
    this.#parts = parts;
  }

  /** Takes the polls that get no more, of a slice with this write. Those without runs keep waiting: theirs may have been cancelled instead. */
  add(places: readonly Place[], written: Promise<void> | undefined): void {
    const { longPolls } = this.#parts;
    const taken = places.filter((it) => (it.assignments.length > 0 || it.mustLook) && longPolls.waits(it.poll));
    for (const { poll } of taken) longPolls.take(poll.runnerId);
    if (written !== undefined) this.#unwritten += 1;
    // Fails for ever after a failed write, which has been reported: runs of an earlier slice may be in it.
    this.#latest = this.#answer(taken, this.#latest, written);
    this.#latest.catch(() => {
      for (const { poll } of taken) poll.answer({ assignments: [], batches: {} });
    });
  }

  async nextSlice(): Promise<void> {
    await this.#nextIteration();
    this.room = CLAIMED_AT_ONCE;
    if (this.#unwritten >= WRITTEN_AT_ONCE) await this.#latest;
  }

  async #answer(places: readonly Place[], before: Promise<void>, written: Promise<void> | undefined): Promise<void> {
    await before;
    await written;
    if (written !== undefined) this.#unwritten -= 1;
    for (const { poll, assignments, batches } of places) {
      poll.answer({ assignments, batches });
      this.#runs += assignments.length;
      if (this.#runs >= CLAIMED_AT_ONCE) await this.#nextIteration();
    }
  }

  async #nextIteration(): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.clock.soon(resolve));
    this.#runs = 0;
  }
}

interface Shares {
  /** The most runs for each poll. */
  each: number;
  mayWait: boolean;
}

/** The runs for the first polls, without the runners that must look at their code first: a run that is left out of a plan would be lost. */
function plan(
  { scheduler, longPolls }: ServingParts,
  turn: Turn,
  first: readonly Place[],
  { most, ...shares }: Shares & { most: number },
): { looked: readonly Place[]; looking: ReadonlySet<string>; picks: RunAssignment[] } {
  const looking = new Set<string>();
  for (;;) {
    let looks = 0;
    const requests = requestsOf(turn, first, { ...shares, except: looking, looked: () => (looks += 1) });
    const picks = scheduler.plan(requests, turn.now, { most });
    const more = runnersToLook(longPolls, turn, picks);
    // A scheduler without work looks at no poll; there may be runs that wait on another runner.
    if (more.size === 0) return { looked: looks === 0 ? first : first.slice(0, looks), looking, picks };
    for (const runnerId of more) looking.add(runnerId);
  }
}

function* requestsOf(
  turn: Turn,
  places: readonly Place[],
  {
    each,
    mayWait,
    given,
    except,
    looked,
  }: Shares & { given?: ReadonlyMap<string, readonly Uuid[]>; except: ReadonlySet<string>; looked?: () => void },
): Iterable<WorkRequest> {
  for (const { poll, left } of places) {
    looked?.();
    const { runnerId, instance, ahead } = poll;
    const state = except.has(runnerId) ? undefined : turn.state('runner', runnerId);
    if (state === undefined || state.context.instance !== instance) continue;
    const most = Math.min(each, left) - (given?.get(runnerId)?.length ?? 0);
    const request = workRequestOf(state, most, mayWait ? ahead : 0);
    if (request !== undefined) yield request;
  }
}
