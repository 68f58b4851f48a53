/** The studies of one submission about rare events: the same question with different seeds, since one study cannot show that it found every region. Pure. */
import { createHash } from 'node:crypto';
import { RARE_EVENT_ALGORITHM } from '../../../contract/enums.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { BatchSubmission, Seed } from '../../../contract/types.ts';
import { seedToDecimal } from '../../seed.ts';
import { studiesOf } from './settings.ts';

/** The seed of repeat `place` (from 1) of a study: the first 53 bits of SHA-256 over the algorithm, the seed and the place in decimal. */
export function repeatSeed(seed: Seed, place: number): number {
  const text = `${RARE_EVENT_ALGORITHM}\0${seedToDecimal(seed)}\0${place}`;
  return Number(createHash('sha256').update(text, 'utf8').digest().readBigUInt64BE(0) >> 11n);
}

/** The repeats of a valid submission with this seed, each a study of its own; none of a study that is alone. */
export function repeatsOf(submission: BatchSubmission, seed: Seed): BatchSubmission[] {
  const { config } = submission;
  return Array.from({ length: studiesOf(config) - 1 }, (_, at) => ({
    ...submission,
    name: nameOf(submission.name, at + 2),
    config: {
      ...config,
      monte_carlo: { ...config.monte_carlo, seed: repeatSeed(seed, at + 1) },
      adaptive: { ...config.adaptive!, studies: 1 },
    },
  }));
}

/** The name of a repeat: lists show it beside its study. */
function nameOf(study: string, place: number): string {
  const end = ` (study ${place})`;
  return `${study.slice(0, LIMITS.nameLength - end.length)}${end}`;
}
