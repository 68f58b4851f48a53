/** The run configuration file, as far as a run needs it; a file made by hand may omit the other members of a JobRunConfig. */
import { Type } from 'typebox';
import { mapOf, text } from '../build.ts';
import { double } from '../scalars.ts';
import { storedCount } from '../members/member-schemas.ts';

export const RunConfigFile = Type.Object({
  run_id: storedCount,
  metadata: Type.Object({ simulation_name: text('The simulation.') }),
  parameters: mapOf(double('The sampled value.'), { description: 'Dispersion name -> sampled value.' }),
});
