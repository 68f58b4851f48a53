/** Inputs that simulations do not look up, in studies with a real coordinator and a real runner: the corpus and its honest twins. */
import { expect } from 'chai';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { corpus } from './corpus.ts';
import { CLIENT, Flight, flight } from './flight.ts';

const RUNS = 4;

const ended = async (site: Flight, submission: BatchSubmission): Promise<string> => {
  const { batch_id: id } = await site.client.submit(submission);
  await site.completed(id);
  return id;
};

describe('parameters that a simulation looks up', () => {
  let site: Flight;
  before(async () => {
    site = await Flight.open();
  });
  after(async () => {
    await site?.close();
  });

  for (const [warm, mode] of [
    [false, 'cold'],
    [true, 'warm'],
  ] as const)
    describe(mode, () => {
      before(() => site.start(warm));
      after(() => site.stop());

      for (const { name, ending, fault, shows, asked } of corpus(CLIENT))
        it(`${name}: ${shows === 'look-ups' ? `says that "${fault}" was not looked up` : 'blames nothing'}, and nothing of its twin`, async function () {
          if (!site.has(ending)) return this.skip();
          const ids = await Promise.all(
            ['faulty', 'honest'].map((twin) => ended(site, flight(`${name}-${twin}`, RUNS))),
          );
          const found = await Promise.all(
            ids.map(async (id) =>
              (await site.client.findings(id)).filter((one) => one.code === 'parameter-never-read'),
            ),
          );
          expect(found[1], 'the honest twin').to.deep.equal([]);
          if (shows === 'effect') return void expect(found[0]).to.deep.equal([]);
          const hint = asked === undefined ? '' : `; the simulation asked for "${asked}"; did you mean "${fault}"?`;
          expect(found[0]?.map(({ message }) => message)).to.deep.equal([
            `"${fault}" was looked up by none of ${RUNS} completed runs${hint}`,
          ]);
          for await (const result of site.client.batchResults(ids[0]!)) {
            const names = ['cd_bias', 'mass', 'thrust', 'wind'].filter((one) => one !== fault);
            expect(result.parameters_read).to.deep.equal(names);
            // The note for the runner is not a file of the run.
            expect(result.output_files.map((path) => path.slice(path.lastIndexOf('/') + 1))).to.deep.equal([
              'metadata.json',
            ]);
          }
          for await (const { parameters_read } of site.client.batchResults(ids[1]!))
            expect(parameters_read).to.equal('all');
        });
    });

  describe('in interpreters that execute run after run', () => {
    before(() => site.start(true));
    after(() => site.stop());

    it('gives each run its own look-ups', async () => {
      const [misspelt] = corpus(CLIENT);
      const ids = await Promise.all(
        ['faulty', 'honest'].map((twin) => {
          const submission = flight(`${misspelt!.name}-${twin}`, RUNS);
          submission.config.compute.isolation = 'shared';
          return ended(site, submission);
        }),
      );
      const reads = await Promise.all(
        ids.map(async (id) => {
          const all: unknown[] = [];
          for await (const { parameters_read } of site.client.batchResults(id)) all.push(parameters_read);
          return all;
        }),
      );
      expect(reads[0]).to.deep.equal(Array.from({ length: RUNS }, () => ['mass', 'thrust', 'wind']));
      expect(reads[1]).to.deep.equal(Array.from({ length: RUNS }, () => 'all'));
    });
  });
});
