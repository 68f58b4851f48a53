/** A sum whose rounding error does not grow with the number of its terms. Source: Neumaier (1974). */
export class CompensatedSum {
  #sum = 0;
  #lost = 0;

  add(term: number): void {
    const sum = this.#sum + term;
    this.#lost += Math.abs(this.#sum) >= Math.abs(term) ? this.#sum - sum + term : term - sum + this.#sum;
    this.#sum = sum;
  }

  /** Infinite or NaN as of the plain sum, where a term is infinite or the sum overflows. */
  get value(): number {
    return Number.isFinite(this.#sum) ? this.#sum + this.#lost : this.#sum;
  }
}
