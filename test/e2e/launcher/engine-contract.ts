/** The rules that every engine of the launcher keeps, as one suite of tests; each engine runs it on its own site. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  EngineRefused,
  type AllocationRequest,
  type Engine,
  type EngineAllocation,
} from '../../../src/launcher/engine.ts';
import { allocationRequest } from '../../launcher/support.ts';

export interface ContractSite {
  engine: Engine;
  /** An engine of another launcher on the same site. */
  other: Engine;
  /** A folder that the programs of allocations can write, and the tests can read. */
  folder: string;
  /** Members of every request, beside those of the tests. */
  request?: Partial<AllocationRequest>;
  /** A request that the engine refuses, as members; undefined where no request is refused before its start. */
  refused?: Partial<AllocationRequest>;
  /** Paths of files and folders that an allocation leaves; absent where the engine keeps none. */
  left?: (id: string) => string[];
  close(): Promise<void> | void;
}

/** A stand-in for a runner: writes its token and its arguments, then behaves as its variable RUNNER says. A runner takes both tokens. */
const RUNNER = `trap 'echo TERM >> "$RUNNER_FILE.term"; [ "$RUNNER" = stubborn ] || exit 0' TERM
case " $* " in *" --token-fd 3 "*) read -r SVC_TOKEN <&3;; esac
echo "$SVC_TOKEN" > "$RUNNER_FILE.token"; echo "$*" > "$RUNNER_FILE.args"; echo started > "$RUNNER_FILE.started"
case "$RUNNER" in ends) exit 0;; fails) exit 3;; esac
while :; do sleep 0.1; done
`;

let made = 0;

/** Call inside of `describe`. `open` may take long; it is called once. */
export function engineContract(open: () => Promise<ContractSite>): void {
  let site: ContractSite;
  const fileOf = (id: string): string => join(site.folder, id);
  const says = (id: string, what: string): string => {
    const path = `${fileOf(id)}.${what}`;
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  };

  before(async () => {
    site = await open();
    writeFileSync(join(site.folder, 'runner.sh'), RUNNER);
  });
  after(() => site?.close());

  function request(behaviour: string, given: Partial<AllocationRequest> = {}): AllocationRequest {
    made += 1;
    const id = `a${String(process.pid).padStart(7, '0').slice(-7)}${String(made).padStart(4, '0')}`;
    const environment = { RUNNER: behaviour, RUNNER_FILE: fileOf(id) };
    const program = ['/bin/bash', join(site.folder, 'runner.sh')];
    return allocationRequest({
      id,
      size: { cores: 1, memoryBytes: 64 * 1024 ** 2, gpus: 0 },
      lifetimeSecs: 600,
      runner: { program, args: ['--runner-id', `main-${id}`, "it's"], environment },
      token: `secret-of-${id}`,
      ...site.request,
      ...given,
    });
  }

  async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let waitedMs = 0; !(await isTrue()); waitedMs += 100) {
      if (waitedMs > 40_000) throw new Error(`not within 40 s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  const find = async (id: string, engine = site.engine): Promise<EngineAllocation | undefined> => {
    const { allocations, silent } = await engine.list();
    expect(silent).to.deep.equal([]);
    const found = allocations.filter((it) => it.id === id);
    expect(found.length, 'entries with this id').to.be.at.most(1);
    return found[0];
  };
  const isOver = (it: EngineAllocation | undefined): boolean => it === undefined || it.state === 'ended';
  const started = async (it: AllocationRequest): Promise<EngineAllocation> => {
    await until('the runner starts', () => says(it.id, 'started') !== '');
    await until('the engine says so', async () => (await find(it.id))?.state === 'running');
    return (await find(it.id)) as EngineAllocation;
  };

  it('starts an allocation under its label, hands it its token and its arguments, and ends it by SIGTERM', async () => {
    const asked = request('waits');
    const { handle, place } = await site.engine.submit(asked);
    const first = await find(asked.id);
    expect(first, 'the next list has it').to.include({ id: asked.id, queue: asked.queue, handle });
    expect(first?.place).to.equal(place);
    expect(['queued', 'running']).to.include(first?.state);
    const running = await started(asked);
    expect(says(asked.id, 'token')).to.equal(asked.token);
    expect(says(asked.id, 'args')).to.match(new RegExp(`^--runner-id main-${asked.id} it's`));
    await site.engine.stop([running], false);
    await until('it ends', async () => isOver(await find(asked.id)));
    expect(says(asked.id, 'term')).to.equal('TERM');
    expect((await find(asked.id))?.end?.kind ?? 'completed').to.be.oneOf(['completed', 'cancelled']);
    // A second stop, of an allocation that has ended, is not an error.
    await site.engine.stop([running], false);
    await site.engine.stop([running], true);
  });

  it('lists no allocation of another launcher', async () => {
    const asked = request('waits');
    await site.engine.submit(asked);
    const running = await started(asked);
    expect(await find(asked.id, site.other)).to.equal(undefined);
    await site.engine.stop([running], true);
    await until('it ends', async () => isOver(await find(asked.id)));
  });

  it('ends a runner that ignores SIGTERM, when asked to end it now', async () => {
    const asked = request('stubborn');
    await site.engine.submit(asked);
    const running = await started(asked);
    await site.engine.stop([running], true);
    await until('it ends', async () => isOver(await find(asked.id)));
  });

  for (const [behaviour, kind] of [
    ['ends', 'completed'],
    ['fails', 'failed'],
  ] as const) {
    it(`says that an allocation whose runner ${behaviour} is ${kind}, as long as it remembers it`, async () => {
      const asked = request(behaviour);
      await site.engine.submit(asked);
      await until('it starts', () => says(asked.id, 'started') !== '');
      await until('it ends', async () => isOver(await find(asked.id)));
      const end = (await find(asked.id))?.end;
      if (end !== undefined) expect(end.kind).to.equal(kind);
    });
  }

  it('refuses what it would never accept, with its own words, and starts nothing', async function () {
    if (site.refused === undefined) return this.skip();
    const asked = request('waits', site.refused);
    const error: unknown = await site.engine.submit(asked).then(
      () => undefined,
      (it: unknown) => it,
    );
    expect(error).to.be.instanceOf(EngineRefused);
    expect((error as Error).message).to.have.length.above(5);
    expect(await find(asked.id)).to.equal(undefined);
    const [result] = await site.engine.check([asked]);
    expect(result).to.include({ queue: asked.queue, isFault: true });
  });

  it('checks a queue without starting anything', async () => {
    const asked = request('waits');
    const results = await site.engine.check([asked]);
    expect(results.filter((it) => it.isFault)).to.deep.equal([]);
    expect(results).to.not.deep.equal([]);
    expect(await find(asked.id)).to.equal(undefined);
    expect(says(asked.id, 'started')).to.equal('');
  });

  it('deletes what an ended allocation has left, and nothing of others', async function () {
    const { engine, left } = site;
    if (engine.clean === undefined || left === undefined) return this.skip();
    const [first, second, living] = [request('ends'), request('ends'), request('waits')];
    const places = new Map<string, string | undefined>();
    for (const it of [first, second, living]) {
      places.set(it.id, (await engine.submit(it)).place);
      if (it !== living) await until('it ends', async () => isOver(await find(it.id)));
    }
    const running = await started(living);
    const endedOf = ({ id, queue }: AllocationRequest) => ({ id, queue, place: places.get(id) });
    expect([first, second, living].map(({ id }) => left(id).length > 0)).to.deep.equal([true, true, true]);
    const cleaned = await engine.clean([endedOf(first)]);
    expect(cleaned).to.include({ count: 1 }).and.to.deep.include({ kept: [] });
    expect(cleaned.why).to.equal(undefined);
    expect([first, second, living].map(({ id }) => left(id).length > 0)).to.deep.equal([false, true, true]);
    // Again, for an answer that was lost.
    expect(await engine.clean([endedOf(first)])).to.deep.equal({ count: 0, bytes: 0, kept: [] });
    await engine.stop([running], true);
    await until('it ends', async () => isOver(await find(living.id)));
  });

  it('shows its script without the token', () => {
    const asked = request('waits');
    const script = site.engine.script(asked);
    expect(script).to.contain(`main-${asked.id}`);
    expect(script).to.not.contain(asked.token ?? '');
  });
}
