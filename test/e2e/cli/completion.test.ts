/** Completion in the real shells: bash without bash-completion, zsh and fish; read twice, with files, ids and their names. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../src/base/package.ts';
import { post } from '../../support/http.ts';
import { serving, simbatch, type Serving } from '../../support/program.ts';
import { study } from '../../support/studies.ts';
import { inTerminal, needTerminal, plain } from '../../support/terminal.ts';

const PROGRAM = join(packageRoot, 'dist/bin/simbatch.js');
const TAB = '\t';

describe('cli: completion', function () {
  let folder: string;
  let server: Serving;
  let short: string;
  const env = (): Record<string, string> => ({ SVC_ENDPOINT: server.url, HOME: folder, PS1: '$ ' });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-completion-'));
    server = await serving(['--data-dir', join(folder, 'data')]);
    const { batch_id } = (await (await post(`${server.url}/jobs`, study({ runs: 3, name: 'recovery' }))).json()) as {
      batch_id: string;
    };
    short = batch_id.slice(0, 13);
    writeFileSync(join(folder, 'my study.yaml'), '');
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'simbatch'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`, {
      mode: 0o755,
    });
  });

  after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const completed = async (...words: string[]): Promise<string[]> =>
    (await simbatch(['complete', '--', ...words], env())).stdout.split('\n').slice(0, -1);
  /** The same where the coordinator has names: an answer without them has not waited for it. */
  const named = async (...words: string[]): Promise<string[]> => {
    for (;;) {
      const lines = await completed(...words);
      if (lines.some((it) => it.includes('recovery'))) return lines;
    }
  };

  it('answers with commands, options, values, studies, runs and the places of files', async () => {
    expect(await completed('su')).to.deep.equal([
      'submit\tcheck and submit a study',
      'summary\tstatistics, failures and verdicts of a study',
    ]);
    expect(await completed('jobs', '--sta')).to.match(/^--status\t/);
    expect((await completed('runs', '--status', 'C')).map((it) => it.trim())).to.deep.equal([
      'Claimed',
      'Completed',
      'Cancelled',
    ]);
    expect((await completed('runs', '--status=Co')).map((it) => it.trim())).to.deep.equal(['--status=Completed']);
    expect(await named('status', '')).to.deep.equal(['latest\trecovery', `${short}\trecovery, Pending`]);
    expect(await named('watch', '--endpoint', server.url, short.slice(0, 6))).to.deep.equal([
      `${short}\trecovery, Pending`,
    ]);
    expect(await named('run', 'la')).to.deep.equal(['latest/\ta run of recovery', ':nospace']);
    expect(await completed('submit', '')).to.deep.equal([':files']);
    expect(await completed('serve', '--data-dir', '')).to.deep.equal([':dirs']);
    expect((await completed('token', 'cr')).join()).to.match(/^create\t/);
    expect((await completed('completion', '')).map((it) => it.trim())).to.deep.equal(['bash', 'zsh', 'fish']);
    expect(await completed('nothing', '')).to.deep.equal([]);
    const away = { ...env(), SVC_ENDPOINT: 'http://127.0.0.1:9' };
    expect(await simbatch(['complete', '--', 'status', ''], away)).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  const shells: [shell: string, args: string[], read: string, prompt: RegExp][] = [
    ['bash', ['--norc', '--noprofile', '-i'], 'source <(simbatch completion bash)', /[$#%>] $/],
    ['zsh', ['-f', '-i'], 'source <(simbatch completion zsh)', /[$#%>] /],
    ['fish', ['--no-config', '-i'], 'simbatch completion fish | source', /[$#%>] /],
  ];
  for (const [shell, args, read, prompt] of shells) {
    it(`completes in ${shell}, read twice in one shell`, async function () {
      needTerminal(this);
      if (spawnSync(shell, ['--version']).error !== undefined) {
        if (process.env['SIMBATCH_REQUIRE_ALL'] === '1') throw new Error(`${shell} is missing`);
        this.skip();
      }
      // Each line runs what was completed, so that the completed words are those of the shell.
      const { screen } = await inTerminal(args, {
        env: { ...env(), PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, INPUTRC: '/dev/null' },
        program: [shell],
        typed: [
          [prompt, `cd ${folder}; ${read}; ${read}; echo rea''dy\r`],
          [/ready/, `simbatch study sh${TAB}`],
          [/study show/, `--help; echo sec''ond\r`],
          [/second/, `simbatch status lat${TAB}`],
          [/status latest/, `; echo thi''rd\r`],
          [/third/, `simbatch status ${short.slice(0, 4)}${TAB}`],
          [new RegExp(`status ${short}`), `; echo fou''rth\r`],
          [/fourth/, `simbatch submit --check my${TAB}`],
          [/ study\.yaml/, `; echo fif''th\r`],
          [/fifth/, 'exit\r'],
        ],
      });
      const text = plain(screen);
      expect(text).to.match(/print a study as it was submitted/);
      expect(text.match(/name +recovery\n/g), text).to.have.length(2);
      expect(text).to.match(/simbatch: my study\.yaml/);
      expect(text).to.not.match(/readonly|command not found|_get_comp_words/);
    });
  }

  it('shows the names of studies at a second tab in bash', async function () {
    needTerminal(this);
    await post(`${server.url}/jobs`, study({ runs: 3, name: 'recovery' }));
    const { screen } = await inTerminal(['--norc', '--noprofile', '-i'], {
      env: { ...env(), PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, INPUTRC: '/dev/null' },
      program: ['bash'],
      typed: [
        [/[$#%>] $/, "source <(simbatch completion bash); echo rea''dy\r"],
        [/ready/, `simbatch status ${TAB}${TAB}`],
        [/latest {2}\(recovery\)/, '\u0003'],
        [/[$#%>] $/, 'exit\r'],
      ],
    });
    expect(plain(screen)).to.match(new RegExp(`${short} {2}\\(recovery, Pending\\)`));
  });

  it('completes ids of runners with colons in bash, also after an address with a port', async function () {
    if (spawnSync('bash', ['--version']).error !== undefined) this.skip();
    const capabilities = {
      max_concurrent_jobs: 1,
      cpu_cores: 1,
      memory_gb: 1,
      gpu_available: false,
      supported_simulation_types: [],
    };
    for (const id of ['rack:a:node-1', 'rack:b:node-2'])
      await post(`${server.url}/runners`, { id, instance: id, capabilities });
    const address = server.url.split(':').join(' : ');
    // The words as bash parts the line at its word breaks, and the part that each candidate replaces.
    const cases: [line: string, words: string, replies: string[], breaks?: string][] = [
      ['drain rac', 'drain rac', ['rack:a:node-1', 'rack:b:node-2']],
      ['drain rack:', 'drain rack :', ['a:node-1', 'b:node-2']],
      ['drain rack:b', 'drain rack : b', ['b:node-2']],
      ['drain rack:b:', 'drain rack : b :', ['node-2']],
      [`drain --endpoint ${server.url} rack:a:no`, `drain --endpoint ${address} rack : a : no`, ['node-1']],
      ['drain rack:b', 'drain rack:b', ['rack:b:node-2'], ' ='],
      [`runs --endpoint ${server.url} --status=Ca`, `runs --endpoint ${address} --status = Ca`, ['Cancelled']],
    ];
    for (const [line, words, replies, breaks = ' =:'] of cases) {
      const script = `
        source <(simbatch completion bash)
        COMP_WORDBREAKS='${breaks}' COMP_LINE='simbatch ${line}' COMP_WORDS=(simbatch ${words}) COMP_TYPE=9
        COMP_POINT=\${#COMP_LINE} COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
        _simbatch_complete
        printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', script], {
        env: { ...env(), PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
        encoding: 'utf8',
      });
      expect(stdout.trim().split('\n'), `${line}: ${stderr}`).to.deep.equal(replies);
    }
  });
});
