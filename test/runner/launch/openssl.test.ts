/** OpenSSL in a warm Python: its handler for the end of a process, which only frees memory, is not executed by each run. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ExecutionBench } from '../../support/executed.ts';
import { pythonFault } from '../../support/runner-modes.ts';

/** Prints a line when OpenSSL is cleaned up, and a digest, where Python has OpenSSL as a library. */
const SIMULATION = `import ctypes
import hashlib
try:
    import _hashlib
    library = ctypes.CDLL(_hashlib.__file__)
    register = library.OPENSSL_atexit
except (ImportError, AttributeError, OSError):
    register = None
handler = ctypes.CFUNCTYPE(None)(lambda: print("cleaned up", flush=True))
if register is not None:
    register(handler)
    print("registered", flush=True)
print(hashlib.sha512(b"x").hexdigest()[:16])
`;
const DIGEST = 'a4abd4448c49562d';

describe('runner/launch: OpenSSL in a warm Python', function () {
  this.timeout(60_000);
  before(function () {
    if (pythonFault() !== undefined || !existsSync('/proc')) return this.skip();
  });

  it('is not cleaned up at the end of a run, and works as before', async function () {
    const bench = new ExecutionBench();
    try {
      const entrypoint = join(bench.folder, 'sim.py');
      writeFileSync(entrypoint, SIMULATION);
      const engine = { name: 'digest', entrypoint, warm: true };
      const launchers = await bench.warm(engine);
      try {
        const output = (await bench.execute(engine)).files['stdout.log'] ?? '';
        expect(output).to.include(DIGEST);
        if (!output.includes('registered')) return this.skip();
        expect(output).to.not.include('cleaned up');
      } finally {
        launchers.close();
      }
    } finally {
      bench.close();
    }
  });
});
