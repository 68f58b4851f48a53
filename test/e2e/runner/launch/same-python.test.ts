/** A run that is forked by a warm Python leaves the same files, output and exit as a run of a fresh interpreter. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ExecutionBench } from '../../../support/executed.ts';
import type { Executed } from '../../../support/executed.ts';
import { pythonFault } from '../../../support/runner-modes.ts';

/** Name -> program. `helper` is a module beside each of them. */
const PROGRAMS: Record<string, string> = {
  'its surroundings': `
    """A docstring."""
    import json, os, resource, signal, stat, sys
    signals = {s.name: str(signal.getsignal(s)) for s in signal.Signals if s not in (signal.SIGKILL, signal.SIGSTOP)}
    main = {k: str(v) for k, v in sorted(vars(sys.modules["__main__"]).items()) if k.startswith("__")}
    main["__loader__"] = type(__loader__).__name__
    print(json.dumps(dict(argv=sys.argv, orig=getattr(sys, "orig_argv", [0, 1])[1:], main=main, path=sys.path, cwd=os.getcwd(),
        leads=[os.getpid() == os.getpgid(0), os.getpid() == os.getsid(0)], umask=os.umask(0o77),
        limits=[resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")],
        stdin=os.path.samefile("/dev/null", "/dev/fd/0"), kinds=[stat.S_IFMT(os.fstat(fd).st_mode) for fd in (0, 1, 2)],
        tty=[s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)], encodings=[sys.stdout.encoding, sys.stderr.errors],
        fds=[it for it in sorted(os.listdir("/proc/self/fd")) if int(it) < 3 or os.path.exists("/dev/fd/" + it) and not os.path.samefile("/dev/null", "/dev/fd/" + it)], signals=signals, blocked=str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        env=sorted(k for k in os.environ), flags=str(sys.flags), threads=len(os.listdir("/proc/self/task")),
        command=open("/proc/self/cmdline").read().strip("\\0").split("\\0")[1:]), indent=1))`,
  'the environment of its children': `
    import os, subprocess
    subprocess.run(["sh", "-c", "env | grep -v -e TELEMETRY -e ^_= -e SHLVL | sort; echo $PPID | grep -c " + str(os.getpid())])`,
  'an uncaught exception': `
    import helper
    def f(x):
        return helper.divide(1, x)
    try:
        f(0)
    except ZeroDivisionError as error:
        raise RuntimeError("wrapped") from error`,
  'an exception group of a function of its own': `
    def g():
        try:
            {}["a"]
        except KeyError:
            raise ValueError("text\\nwith lines")
    g()`,
  'a syntax error': `
    import os
    print("never"
    x = = 1`,
  'a warning when it is compiled': `
    import os
    print("\\d")
    assert (1, "always true")`,
  'a warning': `
    import warnings
    def f():
        warnings.warn("careful", stacklevel=2)
    f()`,
  'sys.exit()': 'import sys; print("out", end=""); sys.exit()',
  'sys.exit(7)': 'import sys; sys.exit(7)',
  'sys.exit(-1)': 'import sys; sys.exit(-1)',
  'sys.exit(263)': 'import sys; sys.exit(263)',
  'sys.exit(2 ** 40)': 'import sys; sys.exit(2 ** 40)',
  'sys.exit(True)': 'import sys; sys.exit(True)',
  'sys.exit("text")': 'import sys; sys.exit("no fuel")',
  'sys.exit of a tuple': 'import sys; sys.exit((1, 2))',
  'raise SystemExit in a function': 'def f():\n    raise SystemExit(4)\nf()',
  'os._exit with output in the buffer': 'import os; print("lost"); os._exit(5)',
  KeyboardInterrupt: 'raise KeyboardInterrupt',
  SIGINT: 'import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)',
  SIGTERM: 'import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)',
  'os.abort': 'import os; os.abort()',
  'SIGPIPE is ignored': `
    import os
    r, w = os.pipe()
    os.close(r)
    os.write(w, b"x")`,
  'functions at its exit': `
    import atexit, sys
    atexit.register(print, "first")
    atexit.register(lambda: 1 / 0)
    atexit.register(print, "last", flush=True)
    sys.exit(3)`,
  'SystemExit in a function at its exit': `
    import atexit, sys
    @atexit.register
    def leave(): sys.exit(9)
    print("x")`,
  'a file that is not closed': `
    import os
    f = open(os.path.join(os.environ["SVC_OUTPUT_DIR"], "data.txt"), "w")
    f.write("all of it")`,
  'a file that is not closed, in a module': `
    import helper
    helper.keep_open("in a module")`,
  'a compressed file that is not closed': `
    import gzip, os
    f = gzip.GzipFile(os.path.join(os.environ["SVC_OUTPUT_DIR"], "data.gz"), "wb", mtime=0)
    f.write(b"all of it" * 100)`,
  'finalizers of its objects': `
    import helper
    class Loud:
        def __init__(self, name): self.name = name
        def __del__(self): print("gone:", self.name)
    one = Loud("a global"); two = [Loud("in a list")]; two.append(two)
    helper.own = Loud("a module's variable")
    def leave(): local = Loud("a local"); print("leaving")
    leave()`,
  'a generator that is suspended': `
    def steps():
        try:
            yield 1
        finally:
            print("finally")
    it = steps(); next(it)`,
  'a thread that outlives the main one': `
    import threading, time
    def work():
        time.sleep(0.2); print("worked")
    threading.Thread(target=work).start()
    print("main ends")`,
  'a daemon thread': `
    import threading, time
    threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
    print("main ends")`,
  'an uncaught exception in a thread': `
    import threading
    t = threading.Thread(target=lambda: 1 / 0, name="worker"); t.start(); t.join(); print("continues")`,
  'a pool of threads': `
    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor(2)
    print(sorted(pool.map(abs, [-1, -2])))`,
  'processes of multiprocessing': `
    import multiprocessing as mp
    def square(x): return x * x
    if __name__ == "__main__":
        for method in ("fork", "spawn"):
            with mp.get_context(method).Pool(2) as pool:
                print(method, pool.map(square, [1, 2, 3]), flush=True)`,
  'a fork of its own': `
    import atexit, os, sys
    atexit.register(lambda: print("exit of", "child" if child else "parent", flush=True))
    print("before", flush=True)
    child = os.fork() == 0
    if child:
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))`,
  'an excepthook of its own': `
    import sys
    sys.excepthook = lambda kind, value, trace: print("hook:", kind.__name__, value, trace.tb_lineno)
    1 / 0`,
  'an excepthook that fails': `
    import sys
    def hook(*_): raise LookupError("in the hook")
    sys.excepthook = hook
    raise ValueError("in the program")`,
  'stdout that is closed': 'import sys; print("x"); sys.stdout.close()',
  'a full stdout': 'import os, sys; os.dup2(os.open("/dev/full", os.O_WRONLY), 1); print("x")',
  asyncio: `
    import asyncio
    async def main():
        await asyncio.sleep(0.01); print("slept")
    asyncio.run(main())`,
  'pickle of a class of its own': `
    import pickle
    class Point: pass
    print(pickle.dumps(Point()) == pickle.dumps(pickle.loads(pickle.dumps(Point()))), Point.__module__)`,
  logging: `
    import logging
    logging.basicConfig(level="INFO", format="%(levelname)s %(module)s %(lineno)d %(funcName)s %(message)s")
    logging.info("hello")`,
  'a module that it imports in a function': `
    def f():
        import fractions, helper2
        return helper2.NAME, fractions.Fraction(1, 3)
    print(*f())`,
  'bytes outside of UTF-8': 'import sys; sys.stdout.buffer.write(bytes(range(256)))',
};

const MODULES: Record<string, string> = {
  'helper.py': `
import os
kept = []
own = None
def divide(a, b):
    return a / b
def keep_open(text):
    global own
    own = open(os.path.join(os.environ["SVC_OUTPUT_DIR"], "kept.txt"), "w")
    own.write(text)
`,
  'helper2.py': 'NAME = __name__\n',
  'latin.py': '# -*- coding: latin-1 -*-\nprint(len("\u00e9"))\n',
};

describe('runner/launch: a fork equals a fresh interpreter', function () {
  let bench: ExecutionBench;
  before(function () {
    if (pythonFault() !== undefined) return this.skip();
    bench = new ExecutionBench({ PYTHONHASHSEED: '0' });
    for (const [name, text] of Object.entries(MODULES)) {
      writeFileSync(join(bench.folder, name), text, name === 'latin.py' ? 'latin1' : 'utf8');
    }
  });
  after(() => {
    bench?.close();
  });

  async function bothWays(entrypoint: string): Promise<{ cold: Executed; warm: Executed }> {
    const cold = await bench.execute({ name: 'test', entrypoint });
    const launchers = await bench.warm({ name: 'test', entrypoint, warm: true });
    try {
      const warm = await bench.execute({ name: 'test', entrypoint, warm: true });
      expect(bench.log)
        .to.match(/engine test: warm/)
        .and.not.match(/not warm/);
      return { cold, warm };
    } finally {
      launchers.close();
      bench.log = '';
    }
  }

  /** The outcome without its measurements. */
  function outcome({ end }: Executed): unknown {
    if (end.type === 'abandoned' || end.type === 'released') return end;
    const { type, result } = end;
    const names = result?.output_files.map((it) => it.split('/').at(-1));
    const error =
      end.type === 'complete'
        ? undefined
        : end.error_message.replaceAll(/run-\d+/g, 'OUT').replaceAll(/0x[0-9a-f]+/g, '0x');
    return { type, error, names, metadata: result?.metadata, reason: end.type === 'fail' ? end.reason : undefined };
  }

  const withoutAddresses = ({ files }: Executed): unknown =>
    JSON.parse(JSON.stringify(files).replaceAll(/0x[0-9a-f]+/g, '0x'));

  let number = 0;
  for (const [name, text] of Object.entries(PROGRAMS)) {
    it(`in ${name}`, async () => {
      number += 1;
      const entrypoint = join(bench.folder, `program-${String(number)}.py`);
      writeFileSync(entrypoint, text.replace(/^\n {4}/, '').replaceAll('\n    ', '\n') + '\n');
      const { cold, warm } = await bothWays(entrypoint);
      expect(withoutAddresses(warm)).to.deep.equal(withoutAddresses(cold));
      expect(outcome(warm)).to.deep.equal(outcome(cold));
    });
  }

  it('in a source of another encoding, and through a link', async () => {
    const { cold, warm } = await bothWays(join(bench.folder, 'latin.py'));
    expect(warm.files).to.deep.equal(cold.files);
    expect(cold.files['stdout.log']).to.equal('1\n');
    mkdirSync(join(bench.folder, 'elsewhere'));
    const link = join(bench.folder, 'elsewhere', 'link.py');
    writeFileSync(join(bench.folder, 'target.py'), 'import helper2, sys\nprint(sys.path[0], sys.argv, __file__)\n');
    symlinkSync(join(bench.folder, 'target.py'), link);
    const linked = await bothWays(link);
    expect(linked.warm.files).to.deep.equal(linked.cold.files);
  });
});
