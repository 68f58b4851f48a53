/** Problems that were written after the method was fixed: the measure of what a user gets. Nothing was changed after they had been tried. */
import { poissonUpper } from './closed-forms.ts';
import { across, along, either, type Problem, upper } from './problem.ts';

/** The centre of the pocket is at a distance of 4. */
const POCKET = 4 / Math.sqrt(3);

export const FRESH: readonly Problem[] = [
  {
    name: 'two regions in rotated directions',
    d: 10,
    score: (z) => Math.max(along(z) - 4, 2.5 * (across(z) - 4.2)),
    p: either(upper(4), upper(4.2)),
  },
  {
    name: 'very strong noise of its own',
    d: 2,
    score: (z, noise) => 0.6 * along(z) + 0.8 * noise - 4,
    p: upper(4),
  },
  { name: 'a saddle: the product of two of ten', d: 10, score: (z) => z[0]! * z[1]! - 12, p: 6.74864e-7 },
  {
    name: 'the largest of 20',
    d: 20,
    score: (z) => z.reduce((most, it) => Math.max(most, it)) - 4.5,
    p: -Math.expm1(20 * Math.log1p(-upper(4.5))),
  },
  {
    name: 'a ripple along the way',
    d: 3,
    score: (z) => (along(z) - 3.8) * (1.5 + Math.sin(3 * z[0]!)),
    p: upper(3.8),
  },
  {
    name: 'a sum of six exponentials',
    d: 6,
    score: (z) => z.reduce((total, it) => total - Math.log(upper(it)), -24),
    p: poissonUpper(6, 24),
  },
  { name: 'all of three', d: 3, score: (z) => Math.min(...z) - 1.9, p: upper(1.9) ** 3 },
  {
    name: 'a pocket: a ball of radius 0.6 at a distance of 4',
    d: 3,
    score: (z) => 0.6 - Math.hypot(z[0]! - POCKET, z[1]! - POCKET, z[2]! - POCKET),
    p: 2.92972e-5,
  },
];
