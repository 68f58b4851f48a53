/** OpenSSL in a warm Python: its handler for the end of a process, which only frees memory, is not executed by each run. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ExecutionBench } from '../../../support/executed.ts';
import { pythonFault } from '../../../support/runner-modes.ts';

/** Prints a digest, and ends by SIGABRT if OpenSSL is cleaned up, where Python has OpenSSL as a library. */
const SIMULATION = `import ctypes
import hashlib
try:
    import _hashlib
    register = ctypes.CDLL(_hashlib.__file__).OPENSSL_atexit
    register.argtypes = [ctypes.c_void_p]
    register(ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p))
    print("registered", flush=True)
except (ImportError, AttributeError, OSError):
    pass
print(hashlib.sha512(b"x").hexdigest()[:16], flush=True)
`;
const DIGEST = 'a4abd4448c49562d';

describe('runner/launch: OpenSSL in a warm Python', function () {
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
        const { end, files } = await bench.execute(engine);
        const output = files['stdout.log'] ?? '';
        expect(output).to.include(DIGEST);
        if (!output.includes('registered')) return this.skip();
        expect(end).to.include({ type: 'complete' });
      } finally {
        launchers.close();
      }
    } finally {
      bench.close();
    }
  });
});
