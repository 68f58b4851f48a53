/**
 * How fast the machine is just now: processors that are shared, throttled or two threads of one core are not always equally
 * fast. Results of two runs can be compared where this took as long in both.
 */
import { median } from './measure.ts';

const ROUNDS = 7;
const REPEATS = 400;
const job = (at: number): object => ({
  id: `01900000-0000-8000-8000-${at.toString(16).padStart(12, '0')}`,
  status: 'Running',
  parameters: { mass: 100 + at / 7, wind: at / 11, drag: 1 / (at + 3) },
  tags: ['a', 'b', `t${at}`],
});
const TEXT = JSON.stringify(Array.from({ length: 64 }, (_, at) => job(at)));

/** Milliseconds that the same piece of work takes: reading and writing 64 jobs as JSON, 400 times. The median of seven. */
export function yardstickMs(): number {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const since = performance.now();
    for (let at = 0; at < REPEATS; at += 1) {
      if (JSON.stringify(JSON.parse(TEXT)).length !== TEXT.length) throw new Error('the yardstick is bent');
    }
    took.push(performance.now() - since);
  }
  return median(took);
}
