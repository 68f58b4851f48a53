/** Two variables of a card, chosen in its header and kept in the address. */
import { changeQuery } from '../../router.ts';
import type { Variable } from '../../plots/variables.ts';
import { VariableChoice } from '../choices.tsx';
import type { Bench } from '../state.ts';

interface Props {
  bench: Bench;
  across: Variable;
  up: Variable;
  /** The members of the address that hold them. */
  names?: readonly [string, string];
  /** The variables to choose from; all by default. */
  variables?: readonly Variable[];
}

export function PairChoice({ bench, across, up, names = ['x', 'y'], variables = bench.variables }: Props) {
  return (
    <>
      <VariableChoice
        label="Across"
        isQuiet
        value={across.key}
        variables={variables}
        onChange={(key) => changeQuery({ [names[0]]: key })}
      />
      <VariableChoice
        label="Up"
        isQuiet
        value={up.key}
        variables={variables}
        onChange={(key) => changeQuery({ [names[1]]: key })}
      />
    </>
  );
}
