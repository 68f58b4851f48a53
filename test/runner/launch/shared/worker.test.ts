/** The ends of a worker, played without a process: which runs have ended, which one is lost, and which are executed elsewhere. */
import { Duplex, type Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Clock } from '../../../../src/base/clock.ts';
import type { Ending } from '../../../../src/runner/launch/launcher.ts';
import type { RunNumbers } from '../../../../src/runner/launch/shared/rendezvous.ts';
import { Worker, type WorkerProcess } from '../../../../src/runner/launch/shared/worker.ts';
import type { ProcessScope } from '../../../../src/runner/processes/process-scope.ts';

const TOKEN = '0f0f0f0f-0000-4000-8000-000000000000';
/** The times that were waited for, in milliseconds. */
const waits: number[] = [];
/** Time passes a thousand times faster. */
const clock = {
  monotonicMs: () => performance.now(),
  soon: (call: () => void) => void setImmediate(call),
  after: (ms: number, call: () => void) => {
    waits.push(ms);
    const timer = setTimeout(call, Math.max(0, ms / 1000));
    return () => clearTimeout(timer);
  },
} as unknown as Clock;

class Connection extends Duplex {
  override _read(): void {}
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

/** The pipe, from which the runner and the worker read. */
class Numbers implements RunNumbers {
  ids: number[] = [];
  give(ids: readonly number[]): void {
    this.ids.push(...ids);
  }
  takeBack(): number[] {
    return this.ids.splice(0);
  }
  close(): void {}
}

/** A worker that has three runs, and all that it reports. */
class Stage {
  readonly seen: Record<'begun' | 'ended' | 'lost' | 'displaced' | 'unbegun', string[]> = {
    begun: [],
    ended: [],
    lost: [],
    displaced: [],
    unbegun: [],
  };
  readonly printed: Record<string, string> = {};
  readonly messages = new Connection();
  readonly stdout = new Connection();
  readonly stderr = new Connection();
  readonly numbers = new Numbers();
  readonly worker: Worker<string>;
  note: string | undefined;
  isStale = false;
  wasKilled = false;
  #end: (ending: Ending) => void = () => {};
  #gone: () => void = () => {};
  readonly gone = new Promise<void>((resolve) => (this.#gone = resolve));

  constructor() {
    const scope = { kill: () => (this.wasKilled = true), clear: () => Promise.resolve([]) };
    const process: WorkerProcess = {
      pid: 1,
      scope: scope as unknown as ProcessScope,
      ended: new Promise((resolve) => (this.#end = resolve)),
      connections: { orders: new Connection(), messages: this.messages, stdout: this.stdout, stderr: this.stderr },
      numbers: this.numbers,
      token: TOKEN,
    };
    this.worker = new Worker<string>(process, clock, {
      begun: (run) => this.seen.begun.push(run),
      ended: (run) => this.seen.ended.push(run),
      output: (run, stream, output: Readable) => {
        output.on('data', (data: Buffer) => {
          this.printed[`${run} ${stream}`] = `${this.printed[`${run} ${stream}`] ?? ''}${data.toString()}`;
        });
      },
      stale: () => (this.isStale = true),
      gone: ({ note }, { lost, displaced, unbegun }) => {
        this.note = note;
        if (lost !== undefined) this.seen.lost.push(lost);
        if (displaced !== undefined) this.seen.displaced.push(displaced);
        this.seen.unbegun.push(...unbegun);
        this.#gone();
      },
    });
    this.worker.give(
      ['one', 'two', 'three'].map((run) => ({ run, order: { env: {}, seed: 1, config: '', on_demand: false } })),
    );
  }

  /** The worker takes the next number. */
  begin(): void {
    this.numbers.ids.shift();
  }
  say(message: object | string): void {
    this.messages.push(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }
  message(id: number, more: object = {}): void {
    this.say({ id, code: 0, ms: 1, restored: [], left: [], last: false, ...more });
  }
  marks(id: number): void {
    for (const it of [this.stdout, this.stderr]) it.push(`\0${TOKEN} ${String(id)}\n`);
  }
  /** Executes a whole run. */
  execute(id: number): void {
    this.begin();
    this.marks(id);
    this.message(id);
  }
  async die({ keepsOutput = false } = {}): Promise<void> {
    await turn();
    for (const it of [this.messages, ...(keepsOutput ? [] : [this.stdout, this.stderr])]) {
      it.push(null);
      it.end();
    }
    this.#end({ type: 'signal', signal: 'SIGKILL' });
    await this.gone;
  }
}

interface Case {
  when: string;
  play: (it: Stage) => void;
  keepsOutput?: boolean;
  ended?: string;
  lost?: string;
  displaced?: string;
  unbegun: string;
  isKilled?: boolean;
  note?: RegExp;
}

const CASES: Case[] = [
  { when: 'before it begins a run', play: () => {}, displaced: 'one', unbegun: 'two three' },
  { when: 'in its first run', play: (it) => it.begin(), lost: 'one', unbegun: 'two three' },
  { when: 'between two runs', play: (it) => it.execute(1), ended: 'one', displaced: 'two', unbegun: 'three' },
  {
    when: 'in its second run',
    play: (it) => {
      it.execute(1);
      it.begin();
    },
    ended: 'one',
    lost: 'two',
    unbegun: 'three',
  },
  {
    when: 'after a message whose marks have not come',
    play: (it) => {
      it.begin();
      it.message(1);
    },
    ended: 'one',
    unbegun: 'two three',
  },
  {
    when: 'after marks whose message has not come',
    play: (it) => {
      it.begin();
      it.marks(1);
    },
    lost: 'one',
    unbegun: 'two three',
  },
  {
    when: 'of a run that left something',
    play: (it) => {
      it.begin();
      it.marks(1);
      it.message(1, { left: ['left a thread running'], last: true });
    },
    ended: 'one',
    unbegun: 'two three',
  },
  {
    when: 'after all runs',
    play: (it) => [1, 2, 3].forEach((id) => it.execute(id)),
    ended: 'one two three',
    unbegun: '',
  },
  {
    when: 'for a file that has changed',
    play: (it) => {
      it.begin();
      it.say({ id: 1, stale: '/x.py' });
    },
    displaced: 'one',
    unbegun: 'two three',
  },
  ...['garbage', '[]', '{"id":1}', '{"id":"1","stale":"/x"}', '{"id":1,"code":0,"ms":1,"restored":[1],"left":[]}'].map(
    (line): Case => ({
      when: `of a run that writes ${line} into its connection`,
      play: (it) => {
        it.begin();
        it.say(line);
      },
      lost: 'one',
      unbegun: 'two three',
      isKilled: true,
      note: /something else than a message/,
    }),
  ),
  {
    when: 'of a run that writes a message without an end',
    play: (it) => {
      it.begin();
      it.messages.push('x'.repeat(1 << 21));
    },
    lost: 'one',
    unbegun: 'two three',
    isKilled: true,
    note: /does not end/,
  },
  {
    when: 'of a run that writes the end of a later run',
    play: (it) => {
      it.begin();
      it.message(2);
      it.marks(2);
    },
    lost: 'one',
    unbegun: 'two three',
    isKilled: true,
    note: /a run that it does not execute/,
  },
  {
    when: 'of a run that writes its end twice',
    play: (it) => {
      it.begin();
      it.message(1);
      it.message(1);
    },
    ended: 'one',
    unbegun: 'two three',
    isKilled: true,
  },
  {
    when: 'while a process that cannot be found keeps its output open',
    play: (it) => it.begin(),
    keepsOutput: true,
    lost: 'one',
    unbegun: 'two three',
    note: /may be missing/,
  },
];

describe('runner/launch/shared/worker', () => {
  for (const { when, play, keepsOutput = false, isKilled = false, ...wanted } of CASES) {
    it(`ends ${when}: each of its runs has ended, is lost or is executed elsewhere`, async () => {
      const stage = new Stage();
      play(stage);
      await turn();
      expect(stage.wasKilled).to.equal(isKilled);
      await stage.die({ keepsOutput });
      const { begun: _, ...seen } = stage.seen;
      const { note, ...names } = { ended: '', lost: '', displaced: '', ...wanted };
      expect(Object.fromEntries(Object.entries(seen).map(([key, runs]) => [key, runs.join(' ')]))).to.deep.equal(names);
      expect(stage.isStale).to.equal(when.includes('a file that has changed'));
      if (note === undefined) expect(stage.note).to.equal(undefined);
      else expect(stage.note).to.match(note);
    });
  }

  it('announces each run before its end, also where the message of the last one is read with those before it', async () => {
    const stage = new Stage();
    for (const id of [1, 2]) {
      stage.begin();
      stage.marks(id);
    }
    stage.messages.push(
      [1, 2]
        .map((id) => `${JSON.stringify({ id, code: 0, ms: 1, restored: [], left: [], last: id === 2 })}\n`)
        .join(''),
    );
    await stage.die();
    expect(stage.seen).to.deep.include({ begun: ['one', 'two'], ended: ['one', 'two'], unbegun: ['three'] });
  });

  it('gives back the runs that it has not begun, without the run whose beginning was announced', async () => {
    const stage = new Stage();
    expect(stage.worker.takeBack()).to.deep.equal(['two', 'three']);
    expect(stage.numbers.ids).to.deep.equal([1]);
    stage.begin();
    expect(stage.worker.takeBack()).to.deep.equal([]);
    await stage.die();
    expect(stage.seen.lost).to.deep.equal(['one']);
  });

  it('ends a run when its message and both marks have come, in whatever order and pieces', async () => {
    const stage = new Stage();
    stage.begin();
    for (const byte of `{"id":1,"code":0,"ms":1,"restored":[],"left":[],"last":false}\n`) {
      stage.messages.push(byte);
      await turn();
    }
    for (const byte of `a\0b\0${TOKEN} 1\n`) {
      expect(stage.seen.ended).to.deep.equal([]);
      stage.stdout.push(byte);
      await turn();
    }
    // Longer than messages are collected.
    await pause(20);
    expect(stage.seen.ended).to.deep.equal([]);
    stage.stderr.push(`\0${TOKEN} 1\n`);
    while (stage.seen.ended.length === 0) await turn();
    expect(stage.seen.begun).to.deep.equal(['one', 'two']);
    expect(stage.printed).to.deep.equal({ 'one stdout': 'a\0b' });
    await stage.die();
  });

  it('reads the messages of two runs together, and those of the last one at once', async () => {
    const stage = new Stage();
    let pauses = 0;
    stage.messages.pause = () => {
      pauses += 1;
      return Duplex.prototype.pause.call(stage.messages) as Connection;
    };
    /** How often reading is held after the first mark of a run. */
    const heldAt = async (id: number): Promise<number> => {
      pauses = 0;
      stage.begin();
      stage.stdout.push(`\0${TOKEN} ${String(id)}\n`);
      // Longer than messages are collected.
      await pause(20);
      const held = pauses;
      stage.stderr.push(`\0${TOKEN} ${String(id)}\n`);
      stage.message(id);
      while (stage.seen.ended.length < id) await turn();
      await pause(20);
      return held;
    };
    expect([await heldAt(1), await heldAt(2), await heldAt(3)]).to.deep.equal([1, 1, 0]);
    await stage.die();
  });

  const collected: [what: string, outputs: number, ms: number, leastMs: number, mostMs: number][] = [
    ['100 ms, of runs of a millisecond', 0, 1, 35, 100],
    ['half of the time that the further runs take', 0, 0.1, 3.5, 10.1],
    ['as long as the connection holds them, of large ones', 4096, 1, 1, 12],
  ];
  for (const [what, outputs, ms, leastMs, mostMs] of collected) {
    it(`collects messages for ${what}`, async () => {
      const stage = new Stage();
      const order = { env: {}, seed: 1, config: '', on_demand: false };
      stage.worker.give(Array.from({ length: 200 }, (_, index) => ({ run: `more ${String(index)}`, order })));
      waits.length = 0;
      stage.begin();
      stage.message(1, { ms, outputs: 'x'.repeat(outputs) });
      stage.marks(1);
      while (waits.length === 0) await turn();
      expect(waits[0]).to.be.within(leastMs, mostMs);
      await stage.die();
    });
  }

  it('gives each run the output between its marks', async () => {
    const stage = new Stage();
    stage.stdout.push(`first\0${TOKEN} 1\n\0${TOKEN} 2\nthird\0${TOKEN} 3\n`);
    stage.stderr.push(`\0${TOKEN} 1\nsecond\0${TOKEN} 2\n\0${TOKEN} 3\n`);
    await turn();
    for (const id of [1, 2, 3]) {
      stage.begin();
      stage.message(id);
    }
    while (stage.seen.ended.length < 3) await turn();
    expect(stage.printed).to.deep.equal({ 'one stdout': 'first', 'two stderr': 'second', 'three stdout': 'third' });
    await stage.die();
  });
});
