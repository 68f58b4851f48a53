/** The files of deploy/: units that systemd accepts, and alarms and a dashboard whose metrics a real coordinator has. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/base/package.ts';
import { post } from '../../support/http.ts';
import { serving, simbatch } from '../../support/program.ts';
import { study } from '../../support/studies.ts';
import { skipWithout, withoutProgram } from '../support.ts';

const file = (path: string): string => readFileSync(join(packageRoot, 'deploy', path), 'utf8');
const UNITS = readdirSync(join(packageRoot, 'deploy/systemd'));
const INSTALLED = '/usr/local/bin/simbatch';

/** The most exposure, of 10, that `systemd-analyze security` may see; a runner starts programs of others. */
const EXPOSURE: Readonly<Record<string, number>> = {
  'simbatch.service': 2,
  'simbatch-backup.service': 2,
  'simbatch-launcher.service': 3,
  'simbatch-runner.service': 5.5,
};

describe('deploy/systemd', () => {
  let folder: string | undefined;
  before(function () {
    skipWithout(this, withoutProgram('systemd-analyze'));
    folder = mkdtempSync(join(tmpdir(), 'simbatch-units-'));
    // The check wants programs and users that exist.
    for (const name of UNITS)
      writeFileSync(
        join(folder, name),
        file(`systemd/${name}`).replaceAll(INSTALLED, '/bin/true').replace('User=simulation', 'User=root'),
      );
  });
  after(() => folder === undefined || rmSync(folder, { recursive: true }));

  it('has units in which systemd finds no fault', () => {
    const { status, stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', ...UNITS.map((name) => join(folder!, name))],
      { encoding: 'utf8' },
    );
    expect([status, stdout, stderr]).to.deep.equal([0, '', '']);
  });

  it('has services that are as little exposed as said', () => {
    const services = UNITS.filter((name) => name.endsWith('.service'));
    expect(services).to.have.members(Object.keys(EXPOSURE));
    for (const name of services) {
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', join(folder!, name)], {
        encoding: 'utf8',
      });
      const exposure = /exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1];
      expect(Number(exposure), `${name} ${stdout}`).to.be.at.most(EXPOSURE[name]!);
    }
  });

  it('names commands and options that the program has', async () => {
    const lines = UNITS.flatMap((name) => file(`systemd/${name}`).split('\n')).filter((it) =>
      it.startsWith('ExecStart='),
    );
    expect(lines).to.have.length(5);
    for (const line of lines) {
      const words = line.slice(`ExecStart=${INSTALLED} `.length).split(' ');
      const command = words.slice(
        0,
        words.findIndex((it) => /^(?:-|\$)/.test(it)),
      );
      const { code, stdout } = await simbatch([...command, '--help']);
      expect(code, line).to.equal(0);
      for (const option of words.filter((it) => it.startsWith('--'))) expect(stdout, line).to.include(`${option} `);
    }
  });
});

interface Rule {
  alert: string;
  expr: string;
}
interface Panel {
  id: number;
  targets: { expr: string }[];
}

const rules = (parse(file('prometheus/alarms.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (it) => it.rules,
);
const { panels } = JSON.parse(file('grafana/simbatch.json')) as { panels: Panel[] };

describe('deploy/prometheus and deploy/grafana', () => {
  it('asks for metrics that a coordinator has', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'simbatch-metrics-'));
    const server = await serving(['--data-dir', folder]);
    await post(`${server.url}/jobs`, study({ runs: 1 }));
    await fetch(`${server.url}/batches`);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    const histograms = [...text.matchAll(/^# TYPE (\S+) histogram$/gm)].map((it) => it[1]!);
    const known = new Set([
      'up',
      ...[...text.matchAll(/^# TYPE (\S+) (?:counter|gauge)$/gm)].map((it) => it[1]!),
      ...histograms.flatMap((it) => [`${it}_bucket`, `${it}_sum`, `${it}_count`]),
    ]);
    const expressions = [...rules.map((it) => it.expr), ...panels.flatMap((it) => it.targets.map(({ expr }) => expr))];
    const asked = expressions.flatMap((it) => it.match(/\b(?:simbatch|nodejs|process)_\w+|\bup\b/g) ?? []);
    expect(asked).to.have.length.greaterThan(30);
    expect(asked.filter((it) => !known.has(it))).to.deep.equal([]);
  });

  it('has the alarms of docs/operations.md, in its order', () => {
    const page = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8');
    const table = page.slice(page.indexOf('| Alarm | When |')).split('\n\n', 1)[0]!;
    const said = table
      .split('\n')
      .slice(2)
      .map((row) => /`([^`]+)`/.exec(row)![1]!.replaceAll('\\|', '|'));
    expect(rules.map((it) => it.expr)).to.deep.equal(said);
  });

  it('has rules that pass their own tests, each alarm raised by one', function () {
    const tests = parse(file('prometheus/alarms.test.yaml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const raised = tests.tests
      .flatMap((it) => it.alert_rule_test)
      .filter((it) => it.exp_alerts.length > 0)
      .map((it) => it.alertname);
    expect([...new Set(raised)]).to.have.members(rules.map((it) => it.alert));
    skipWithout(this, withoutProgram('promtool'));
    const cwd = join(packageRoot, 'deploy/prometheus');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alarms.test.yaml'], {
      cwd,
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).to.equal(0);
  });

  it('has a dashboard whose panels have ids of their own and lie side by side', () => {
    const places = (
      JSON.parse(file('grafana/simbatch.json')) as { panels: { gridPos: Record<string, number> }[] }
    ).panels.map((it) => it.gridPos);
    expect(new Set(panels.map((it) => it.id)).size).to.equal(panels.length);
    const cells = places.flatMap(({ x = 0, y = 0, w = 0, h = 0 }) =>
      Array.from({ length: w * h }, (_, at) => `${String(x + (at % w))} ${String(y + Math.floor(at / w))}`),
    );
    expect(new Set(cells).size).to.equal(cells.length);
  });
});
