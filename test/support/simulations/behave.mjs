// A simulation for tests of the runner: BEHAVE (a member of container.environment) says what it does.
import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const out = process.env.SVC_OUTPUT_DIR;
const runConfig = readFileSync(process.env.SVC_RUN_CONFIG, 'utf8');
const forever = () => setInterval(() => {}, 1000);
const child = (options = {}) =>
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit', ...options });

const behaviours = {
  succeed() {
    const { run_id, parameters } = JSON.parse(runConfig);
    writeFileSync(join(out, 'metadata.json'), JSON.stringify({ run_id, doubled: parameters.mass * 2 }));
    writeFileSync(join(out, 'environment.json'), JSON.stringify(process.env));
    writeFileSync(join(out, 'run_config.txt'), runConfig);
  },
  fail() {
    process.stderr.write('first line\nthe reason is here\n');
    process.exitCode = 3;
  },
  crash() {
    process.kill(process.pid, 'SIGSEGV');
  },
  hang: forever,
  slow() {
    setTimeout(() => {}, Number(process.env.SLOW_MS ?? 300));
  },
  // Ignores SIGTERM and SIGINT and says so before it is killed.
  stubborn() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
    forever();
  },
  // Takes a while after SIGTERM, and ends well.
  patient() {
    process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1_500));
    forever();
  },
  family() {
    const stay = child();
    const leave = child({ detached: true });
    writeFileSync(join(out, 'pids.json'), JSON.stringify([process.pid, stay.pid, leave.pid]));
    forever();
  },
  // Succeeds and leaves a process in its group running.
  leaver() {
    const stay = child({ stdio: 'ignore' });
    writeFileSync(join(out, 'pids.json'), JSON.stringify([process.pid, stay.pid]));
    process.exit(0);
  },
  descriptors() {
    const own = {};
    for (const name of readdirSync('/proc/self/fd')) {
      try {
        own[name] = readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        // That of the listing.
      }
    }
    const of_child = execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' });
    writeFileSync(join(out, 'descriptors.json'), JSON.stringify({ own, of_child }));
  },
  flood() {
    const block = Buffer.alloc(1 << 20, 'x');
    process.stdout.write('the beginning\n');
    let left = Number(process.env.FLOOD_MIB ?? 40);
    const more = () => {
      if (left-- > 0) process.stdout.write(block, more);
      else process.stdout.write('\nthe end\n');
    };
    more();
  },
  // Writes until the disk is full, to the last byte, and fails.
  fillDisk() {
    let error;
    for (let size = 1 << 20; size >= 1; size = Math.floor(size / 2)) {
      try {
        for (;;) writeFileSync(join(out, 'fill.dat'), Buffer.alloc(size, 'x'), { flag: 'a' });
      } catch (thrown) {
        error = thrown;
      }
    }
    throw error;
  },
  artifacts() {
    for (let folder = 0; folder < 10; folder++) {
      mkdirSync(join(out, `part-${folder}`));
      for (let file = 0; file < 1000; file++) writeFileSync(join(out, `part-${folder}`, `${file}.dat`), '');
    }
  },
  // Leaves files of several kinds, among them what must never be read.
  files() {
    mkdirSync(join(out, 'deep/er'), { recursive: true });
    writeFileSync(join(out, 'deep/er/grün % #1.csv'), 'a,b\n1,2\n');
    writeFileSync(
      join(out, 'large.bin'),
      Uint8Array.from({ length: Number(process.env.LARGE_BYTES ?? 3_500_000) }, (_, index) => index % 251),
    );
    writeFileSync(join(out, 'page.html'), '<script>alert(1)</script>');
    writeFileSync(join(out, 'empty.txt'), '');
    symlinkSync('/etc/passwd', join(out, 'link.txt'));
    symlinkSync('/etc', join(out, 'folder'));
    execFileSync('mkfifo', [join(out, 'pipe')]);
    process.stdout.write('printed by the simulation\n');
    process.exitCode = Number(process.env.EXIT_CODE ?? 0);
  },
  // Leaves copies of files, whose paths have commas in between.
  copies() {
    for (const path of process.env.COPIES.split(',')) copyFileSync(path, join(out, basename(path)));
  },
  // Counts to STEPS, continues at its checkpoint, and says at which step each attempt began.
  resumes() {
    const folder = process.env.SVC_CHECKPOINT_DIR;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'state.json');
    const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { step: 0, begins: [] };
    state.begins.push([Number(process.env.SVC_ATTEMPT), state.step]);
    // A large file that does not change.
    const large = join(folder, 'deep/grid.bin');
    if (process.env.STATE_BYTES !== undefined && !existsSync(large)) {
      mkdirSync(join(folder, 'deep'), { recursive: true });
      writeFileSync(
        `${large}.part`,
        Uint8Array.from({ length: Number(process.env.STATE_BYTES) }, (_, index) => index % 251),
      );
      renameSync(`${large}.part`, large);
    }
    setInterval(() => {
      state.step += 1;
      writeFileSync(`${file}.part`, JSON.stringify(state));
      renameSync(`${file}.part`, file);
      // The first attempt fails on the way, with EXIT_CODE.
      if (process.env.EXIT_CODE !== undefined && process.env.SVC_ATTEMPT === '1' && state.step === 5) process.exit(1);
      if (state.step < Number(process.env.STEPS)) return;
      writeFileSync(join(out, 'metadata.json'), JSON.stringify(state));
      process.exit(0);
    }, 20);
  },
  // Writes a line at a time and never ends by itself.
  chatter() {
    let line = 0;
    setInterval(() => process.stdout.write(`line ${line++}\n`), 20);
  },
  links() {
    mkdirSync(join(out, 'deep'));
    writeFileSync(join(out, 'deep', 'real.csv'), 'x');
    symlinkSync('/etc', join(out, 'folder'));
    symlinkSync('/etc/passwd', join(out, 'file'));
    symlinkSync('/etc/passwd', join(out, 'metadata.json'));
  },
  // Sends a falling altitude, 100 samples a second, and never ends by itself.
  async dive() {
    const { loadPackageDefinition, credentials } = await import('@grpc/grpc-js');
    const { loadSync } = await import('@grpc/proto-loader');
    const proto = loadPackageDefinition(loadSync(process.env.PROTO, { longs: String, keepCase: true }));
    const client = new proto.svc.telemetry.v1.Telemetry(process.env.SVC_TELEMETRY_URL, credentials.createInsecure());
    const call = client.Stream(() => {});
    call.on('error', () => {});
    let step = 0;
    setInterval(() => {
      step += 1;
      call.write({ timestamp_ns: String(step * 10_000_000), values: { altitude: 100 - step, speed: step } });
    }, 10);
  },
  // Puts pipes, which block a reader or a writer without the other side, where the runner writes and reads.
  pipes() {
    for (const name of ['stdout.log', 'stderr.log', 'metadata.json', 'telemetry.parquet']) {
      rmSync(join(out, name), { force: true });
      execFileSync('mkfifo', [join(out, name)]);
    }
    process.stdout.write('printed\n');
    process.stderr.write('printed\n');
  },
  // Puts a link to a foreign file where the runner writes.
  linkedLog() {
    rmSync(join(out, 'stdout.log'), { force: true });
    symlinkSync(process.env.VICTIM, join(out, 'stdout.log'));
    process.stdout.write('overwritten\n');
  },
  // Leaves a process in a session of its own, without a parent, an environment or an open file of the run.
  daemon() {
    const env = process.env.KEEP_ENV === undefined ? {} : process.env;
    const script = `sleep 300 & echo "[$!]" > ${join(out, 'pids.json')}`;
    spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore', env });
  },
  // Starts processes in sessions of their own as fast as it can, for ever.
  forks() {
    setInterval(() => spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }), 2);
  },
  // Waits in the kernel, and takes no signal.
  stuck() {
    readdirSync(process.env.HUNG);
  },
  oddMetadata() {
    writeFileSync(join(out, 'metadata.json'), process.env.METADATA);
  },
};

behaviours[process.env.BEHAVE ?? 'succeed']();
