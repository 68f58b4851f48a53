/** The runs whose histories and derived outputs lack telemetry that came too late or was lost: counted, and said in answers about their study. */
import type { Warning } from '../../../../analysis/warning.ts';
import { listed } from '../../../../analysis/wording.ts';
import type { StoredResult } from '../../../../contract/types.ts';
import { type Declared, planOf } from '../../../../domain/histories/stream/plan.ts';
import { plural } from '../../../../domain/plural.ts';
import { lateVariables } from '../../../../domain/runs/late-values.ts';

export class IncompleteRuns {
  /** The variables of which anything is computed. */
  readonly #variables: readonly string[];
  readonly #late = new Set<string>();
  #lateRuns = 0;
  #lossyRuns = 0;

  constructor(declared: Declared) {
    this.#variables = planOf(declared).variables;
  }

  /** Takes the result of a run, once. */
  add({ metadata, telemetry }: Pick<StoredResult, 'metadata' | 'telemetry'>): void {
    if (this.#variables.length === 0) return;
    const late = lateVariables(metadata).filter((it) => this.#variables.includes(it));
    if (late.length > 0) this.#lateRuns++;
    for (const name of late) this.#late.add(name);
    if ((telemetry?.lost ?? 0) > 0) this.#lossyRuns++;
  }

  /** One sentence with the variables; none where no run lacks any. Which variables the lost samples had is not known: all may be concerned. */
  warnings(): Warning[] {
    const [late, lossy] = [this.#lateRuns, this.#lossyRuns];
    const clauses = [
      late > 0 && `${plural(late, 'run')} lack values of ${named([...this.#late])} that came too late`,
      lossy > 0 &&
        `${plural(lossy, 'run')} lack samples, perhaps of ${named(this.#variables)}, that were lost before they reached the runner`,
    ].filter((it) => it !== false);
    if (clauses.length === 0) return [];
    const message = `histories and derived outputs of ${clauses.join(', and those of ')}`;
    return [{ code: 'incomplete-telemetry', message }];
  }
}

const named = (names: readonly string[]): string => listed(names.map((it) => JSON.stringify(it)));
