/** Adaptive studies for tests. */
import type { BatchSubmission } from '../../src/contract/types.ts';
import { study, type StudyOptions } from './studies.ts';

/** An adaptive study that chooses `r` in [0, 10] and `x`, and draws `wind`. */
export function adaptiveStudy(options: StudyOptions = {}): BatchSubmission {
  const submission = study({ runs: 20, ...options });
  submission.config.monte_carlo.sampling_method = 'adaptive';
  submission.config.adaptive = { algorithm: 'external' };
  submission.config.dispersions = {
    wind: { distribution: { type: 'normal', mean: 0, std_dev: 3 }, units: '' },
    x: { distribution: { type: 'chosen' }, units: '' },
    r: { distribution: { type: 'chosen', lower: 0, upper: 10 }, units: '' },
  };
  return submission;
}

/** A study of rare events: the sum of two standard normals divided by sqrt(2) is not above `limit`; P = 3.2e-5 at 4. Small rounds, and one study. */
export function rareStudy(
  options: StudyOptions & { limit?: number; seed?: number; studies?: number } = {},
): BatchSubmission {
  const { limit = 3, seed = 1, studies = 1, ...others } = options;
  const submission = study({ runs: 0, ...others });
  submission.config.monte_carlo = { runs: 0, sampling_method: 'adaptive', seed };
  submission.config.adaptive = { algorithm: 'rare_event', studies, population: 100, tune_runs: 50, confirm_runs: 200 };
  const distribution = { type: 'normal' as const, mean: 0, std_dev: 1 };
  submission.config.dispersions = { a: { distribution, units: '' }, b: { distribution, units: '' } };
  submission.requirements = [{ name: 'miss', output: 'y', condition: `< ${limit}`, probability: 0.99 }];
  return submission;
}
