/** Every shell block of README.md, docs/cluster.md and docs/operations.md, executed in order on a fresh machine; engines and system services are stand-ins. */
import { expect } from 'chai';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/base/package.ts';
import { blocksOf, commandsOf, readPage, type Block } from '../../support/pages/blocks.ts';
import { freshMachineMissing, FreshMachine } from '../../support/pages/fresh-machine.ts';
import { skipWithout } from '../support.ts';

interface Page {
  path: string;
  /** Script before the first block: the files of the reader. */
  before?: string;
  /** Each section is a situation of its own, with a machine of its own, and has these scripts before it. */
  sections?: Readonly<Record<string, string>>;
  /** Scripts for words of the text: each goes before the blocks that have its key. */
  between?: Readonly<Record<string, string>>;
  /** Text of a block that is an example of something of the reader. */
  replaced?: readonly (readonly [string, string])[];
  /** Blocks that are executed: fewer means that the page is not read as it is. */
  blocks: number;
  /** Lines of blocks that no test executes. */
  notExecuted?: number;
}

/** A simulation and its study, where a page takes one for granted. */
const SIMULATION = `cat > /home/ann/sim.py <<'END'
import json, os
x = json.load(open(os.environ["SVC_RUN_CONFIG"]))["parameters"]["x"]
json.dump({"y": 2 * x}, open(os.environ["SVC_OUTPUT_DIR"] + "/metadata.json", "w"))
END
cat > study.yaml <<'END'
name: doubled
config:
  simulation: { name: doubled, version: '1', duration_minutes: 1 }
  monte_carlo: { runs: 4, sampling_method: monte_carlo, seed: 1 }
  dispersions: { x: { distribution: { type: uniform, min: 0, max: 1 } } }
  compute: { max_parallel_jobs: 0, job_timeout_seconds: 60, max_retries: 0 }
END
cp /home/ann/sim.py .
`;

const SLURM = `mkdir -p "$MACHINE/jobs"
for name in sbatch squeue scancel; do
  printf '#!/bin/sh\\nexec node "$PACKAGE/test/support/slurm-stub.mjs" %s "$MACHINE/jobs" "$@"\\n' $name > "$MACHINE/bin/$name"
  chmod +x "$MACHINE/bin/$name"
done
export STUB_PARTITIONS=compute,short,long
`;

/** A coordinator in the foreground holds its terminal: it continues in the background, and ends when the next one starts. */
const inTerminals = (script: string): string =>
  script.replace(/^(?:\w+=\S+ )*simbatch serve .*[^&\n]$(?!\n(?= ))/gm, '$& &');
const SERVES = /^(?:\w+=\S+ )*simbatch serve /m;
const END_SERVERS = 'kill $(jobs -p) 2>/dev/null || true; wait';
/** Waits until the coordinator has read its data. */
const LISTENS = `ready() { for url in {http,https}://{127.0.0.1,10.0.0.5}:7070; do curl -skf --noproxy '*' $url/readyz && return; done; false; }
for try in $(seq 600); do ready > /dev/null && break; sleep .2; done; ready`;

const CERTIFICATE = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=simbatch \\
  -addext 'subjectAltName=DNS:login1,IP:10.0.0.5' -keyout key.pem -out cert.pem
`;
/** The coordinator as a service, and the environment of its operator. */
const INSTALLED = `${CERTIFICATE}install -D -m 600 -t /etc/simbatch cert.pem key.pem
cp "$PACKAGE/deploy/systemd/simbatch.service" /etc/systemd/system/
export SIMBATCH_TOKEN=$(simbatch token create --scope read,operate --data-dir /var/lib/simbatch/data)
export NODE_EXTRA_CA_CERTS=/etc/simbatch/cert.pem SIMBATCH_ENDPOINT=https://10.0.0.5:7070
systemctl enable --now simbatch
${LISTENS}
`;

const PAGES: readonly Page[] = [
  {
    path: 'README.md',
    between: {
      'launcher check': `${SLURM}${END_SERVERS}
export SIMBATCH_DATA_DIR=login1-data; export SIMBATCH_TOKEN=$(simbatch token create --scope read,launch)
simbatch serve --host login1 &
${LISTENS}`,
    },
    blocks: 5,
  },
  {
    path: 'docs/cluster.md',
    before: SLURM + SIMULATION,
    between: {
      'launcher why': `simbatch serve --data-dir /tmp/first & ${LISTENS}
simbatch launcher run --once --trust-open-coordinator --endpoint http://127.0.0.1:7070`,
    },
    blocks: 7,
  },
  {
    path: 'docs/operations.md',
    sections: {
      'As a service': CERTIFICATE,
      TLS: 'export SIMBATCH_TOKEN=$(simbatch token create)',
      Logs: INSTALLED,
      'Backup and restore': `node "$PACKAGE/dist/test/support/pages/object-store.js" > store &
until [ -s store ]; do sleep .1; done
export AWS_ENDPOINT_URL_S3=$(cat store) AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=secret
simbatch serve --data-dir /var/lib/simbatch/data &
${LISTENS}`,
      Damage: `simbatch serve --data-dir /var/lib/simbatch/data &
${LISTENS}
kill %1; wait; simbatch token create --data-dir /var/lib/simbatch/data`,
      Upgrade: `${INSTALLED}touch simbatch-0.2.0.tgz`,
    },
    between: {
      NODE_EXTRA_CA_CERTS: 'install -D -t /etc/simbatch cert.pem',
    },
    replaced: [['3f9a12cd', `$(simbatch token list | awk 'NR == 2 { print $1 }')`]],
    blocks: 10,
  },
];

describe('e2e/site/manual', function () {
  this.timeout(900_000);
  before(function () {
    skipWithout(this, freshMachineMissing());
  });

  for (const page of PAGES)
    describe(page.path, () => {
      const blocks = blocksOf(readPage(page.path));
      const shell = blocks.filter((it) => it.kind !== 'file');
      const left = shell.filter((it) => it.notExecuted !== undefined);
      let machine: FreshMachine;
      let section: string | undefined;
      after(() => machine?.stop());

      /** A machine for the page, or for each of its sections. */
      async function enter(next: string): Promise<void> {
        if (section !== undefined && (page.sections === undefined || next === section)) return;
        if (section !== undefined) await machine.stop();
        section = next;
        machine = new FreshMachine();
        machine.start();
        for (const name of ['deploy', 'examples']) symlinkSync(join(packageRoot, name), join(machine.work, name));
        await must(page.before ?? page.sections?.[next] ?? 'true');
      }

      async function must(script: string): Promise<void> {
        const { code, output } = await machine.execute(script);
        expect(code, `${script}\n${output}`).to.equal(0);
      }

      async function execute(block: Block): Promise<void> {
        await enter(block.section);
        if (block.kind === 'file') {
          const path = join(machine.work, block.name!);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, block.text);
          return;
        }
        const scripts = block.kind === 'shell' ? [block.text] : commandsOf(block.text).map((it) => it.command);
        for (const script of scripts) {
          for (const [text, preparation] of Object.entries(page.between ?? {}))
            if (script.includes(text)) await must(preparation);
          const serves = SERVES.test(script);
          if (serves) await must(END_SERVERS);
          const replaced = (page.replaced ?? []).reduce((text, [from, to]) => text.replaceAll(from, to), script);
          await must(inTerminals(replaced));
          if (serves) await must(LISTENS);
        }
      }

      for (const block of blocks.filter((it) => it.notExecuted === undefined))
        it(`line ${String(block.line)}: ${block.kind === 'file' ? 'the file ' : ''}${block.name ?? block.text.split('\n', 1)[0]!}`, () =>
          execute(block));

      it('executes every block but those that say why not', () => {
        expect([shell.length - left.length, left.length]).to.deep.equal([page.blocks, page.notExecuted ?? 0]);
      });
    });
});
