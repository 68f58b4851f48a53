/** The lines of a result in the terminal. */
import { expect } from 'chai';
import { resultPairs } from '../../src/cli/commands/runs/run.ts';

describe('cli/commands/runs: the result of a run', () => {
  it('says which derived outputs have no value, and why', () => {
    const pairs = resultPairs({
      execution_time_secs: 1,
      output_files: [],
      metadata: { landed: true },
      derived_missing: { peak_m: 'every sample of "z" is NaN' },
    });
    expect(pairs).to.deep.include(['landed', 'true']);
    expect(pairs).to.deep.include(['peak_m', 'no value: every sample of "z" is NaN']);
  });
});
