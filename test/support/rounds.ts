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
