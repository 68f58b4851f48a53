import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';

interface Variable {
  key: string;
  name: string;
  label: string;
  kind: 'output';
  values: Float64Array;
}
interface Planar {
  planarOutputs: (variables: readonly Variable[]) => Variable[];
  planarPair: (some: readonly Variable[], x?: Variable, y?: Variable) => [Variable, Variable] | undefined;
}
const { planarOutputs, planarPair } = (await tsImport(
  new URL('../../../web/src/explore/cards/planar.ts', import.meta.url).href,
  import.meta.url,
)) as Planar;

const output = (label: string): Variable => {
  const name = label.replace(/ \[.*/, '');
  return { key: `o.${name}`, name, label, kind: 'output', values: new Float64Array() };
};
const pairOf = (labels: readonly string[], x?: string): string | undefined => {
  const some = planarOutputs(labels.map(output));
  return planarPair(
    some,
    some.find((it) => it.name === x),
  )
    ?.map((it) => it.name)
    .join(' and ');
};

describe('web/explore: the outputs of a plane', () => {
  const rows: readonly [labels: readonly string[], found: string | undefined, x?: string][] = [
    [['apogee_m [m]', 'range_m [m]', 'landing_north_m', 'landing_east_m'], 'landing_east_m and landing_north_m'],
    [['miss [m]', 'landing_y [m]', 'landing_x [m]'], 'landing_x and landing_y'],
    [['lat', 'lon', 'mach'], 'lon and lat'],
    [['impact.x [m]', 'impact.y [ft]'], undefined],
    [['leg_a [m]', 'leg_b [m]', 'height [m]'], 'leg_a and leg_b'],
    [['apogee_m [m]', 'range_m [m]', 'mach'], 'apogee_m and range_m'],
    [['apogee_m [m]', 'landing_east_m [m]', 'landing_north_m [m]'], 'apogee_m and landing_east_m', 'apogee_m'],
    [['mach', 'speed [m/s]'], undefined],
    [['x_x', 'y_y'], undefined],
  ];
  for (const [labels, found, x] of rows)
    it(`${labels.join(', ')}${x === undefined ? '' : `, from ${x}`}: ${found ?? 'none'}`, () => {
      expect(pairOf(labels, x)).to.equal(found);
    });
});
