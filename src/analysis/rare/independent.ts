/** The independent draws of a study of rare events, from all their proposals, and the balance weights of those that violate. */
import type { Point } from './component.ts';
import type { Proposal } from './proposal.ts';

/** The violating draws in run order, with their balance weights, whose sum estimates the probability. */
export interface WeightedViolations {
  points: readonly Point[];
  weights: readonly number[];
  /** The sum of the weights. */
  estimate: number;
  /** The square of the sum divided by the sum of the squares; 0 without a violation. */
  effectiveSize: number;
}

export class IndependentDraws {
  readonly #counts = new Map<Proposal, number>();
  readonly #violating: Point[] = [];

  /** Takes the draws of a round. */
  add(proposal: Proposal, points: readonly Point[], isViolating: (at: number) => boolean): void {
    this.#counts.set(proposal, (this.#counts.get(proposal) ?? 0) + points.length);
    for (const [at, point] of points.entries()) if (isViolating(at)) this.#violating.push(point);
  }

  /** Weighs each violating draw by 1 / sum of (draws of a proposal) x q / phi. */
  weighted(): WeightedViolations {
    const points = [...this.#violating];
    const weights = points.map((z) => {
      let sum = 0;
      for (const [proposal, count] of this.#counts) sum += count * proposal.ratio(z);
      return 1 / sum;
    });
    const estimate = weights.reduce((sum, it) => sum + it, 0);
    const squares = weights.reduce((sum, it) => sum + it * it, 0);
    return { points, weights, estimate, effectiveSize: squares > 0 ? estimate ** 2 / squares : 0 };
  }
}
