/** The computations of the plots of a study in the browser: relevance, dispersion, distributions with bounds, files. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';

const load = <T>(path: string): Promise<T> =>
  tsImport(new URL(`../../../web/src/explore/${path}`, import.meta.url).href, import.meta.url) as Promise<T>;

interface Variable {
  key: string;
  name: string;
  label: string;
  kind: 'parameter' | 'output';
  values: Float64Array;
}
const variable = (name: string, values: readonly number[], kind: Variable['kind'] = 'output'): Variable => ({
  key: `${kind === 'output' ? 'o' : 'p'}.${name}`,
  name,
  label: name,
  kind,
  values: Float64Array.from(values),
});
const rows = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, at) => at);
const [COMPLETED, FAILED] = [3, 4];

describe('web/explore/target', () => {
  type Found = { value: number; n: number };
  interface Targets {
    rankCorrelation: typeof rankCorrelation;
    failingContrast: typeof failingContrast;
    noiseFloor: typeof noiseFloor;
    targetsOf: typeof targetsOf;
    targetOf: typeof targetOf;
  }
  let rankCorrelation: (a: Variable, b: Variable, some: Uint32Array) => Found;
  let failingContrast: (a: Variable, status: Uint8Array, some: Uint32Array) => Found;
  let noiseFloor: (n: number) => number;
  let targetsOf: (
    outputs: Variable[],
    requirements: unknown[],
    hasFailed: boolean,
  ) => { key: string; question: string }[];
  let targetOf: (targets: unknown[], key: string | null) => { key: string } | undefined;
  before(async () => {
    ({ rankCorrelation, failingContrast, noiseFloor, targetsOf, targetOf } = await load<Targets>('target.ts'));
  });

  it('ranks by order alone, with the mean rank for equal values, over the rows that have both', () => {
    const a = variable('a', [1, 2, 3, 4, 5, NaN]);
    expect(rankCorrelation(a, variable('b', [1, 8, 27, 64, 1e9, 0]), rows(6))).to.deep.equal({ value: 1, n: 5 });
    expect(rankCorrelation(a, variable('b', [5, 4, 3, 2, 1, 0]), rows(6)).value).to.equal(-1);
    // SciPy: spearmanr([1, 2, 3, 4, 5], [1, 1, 2, 2, 0]).
    expect(rankCorrelation(a, variable('b', [1, 1, 2, 2, 0, 9]), rows(6)).value).to.be.closeTo(
      -0.10540925533894598,
      1e-12,
    );
    expect(rankCorrelation(a, variable('b', [7, 7, 7, 7, 7, 7]), rows(6)).value).to.be.NaN;
  });

  it('is 2 AUC - 1 for failures: the pairs in which the failing run is greater less those in which it is smaller', () => {
    const status = Uint8Array.of(FAILED, COMPLETED, FAILED, COMPLETED, 0, COMPLETED);
    const values = [3, 1, 2, 2, 99, 4];
    let sum = 0;
    for (const failing of [3, 2]) for (const passing of [1, 2, 4]) sum += Math.sign(failing - passing);
    const found = failingContrast(variable('a', values), status, rows(6));
    expect(found.value).to.be.closeTo(sum / 6, 1e-12);
    expect(found.n, 'an open run does not count').to.equal(5);
    expect(failingContrast(variable('a', values), new Uint8Array(6).fill(COMPLETED), rows(6)).value).to.be.NaN;
  });

  it('has a noise floor that few values do not reach by chance', () => {
    expect([noiseFloor(3), noiseFloor(103)]).to.deep.equal([1, Math.tanh(0.196)]);
  });

  it('takes the output of the worst requirement by default, and what the address names', () => {
    const outputs = [variable('execution_secs', [1]), variable('y', [1]), variable('z', [1])];
    const targets = targetsOf(outputs, [{ name: 'soft', output: 'z' }], true);
    expect(targets.map(({ key }) => key)).to.deep.equal(['r.soft', 'o.execution_secs', 'o.y', 'o.z', 'failed']);
    expect(targets[0]!.question).to.equal('attribution?failing=soft');
    expect(targetOf(targets, null)!.key).to.equal('o.z');
    expect(targetOf(targets, 'failed')!.key).to.equal('failed');
    expect(targetOf(targetsOf(outputs, [], false), 'o.gone')!.key).to.equal('o.y');
  });
});

describe('web/explore/cards/geometry', () => {
  type Point = [number, number];
  interface Dispersion {
    centre: Point;
    sigmas: Point;
    angle: number;
    cep: number;
  }
  interface Geometry {
    dispersionOf: typeof dispersionOf;
    ellipse: typeof ellipse;
    readPolygons: typeof readPolygons;
    isInside: typeof isInside;
  }
  let dispersionOf: (points: Point[]) => Dispersion | undefined;
  let ellipse: (of: Dispersion, times: number) => Point[];
  let readPolygons: (text: string) => Point[][][];
  let isInside: (polygons: Point[][][], point: Point) => boolean;
  before(async () => {
    ({ dispersionOf, ellipse, readPolygons, isInside } = await load<Geometry>('cards/geometry.ts'));
  });
  /** A cloud of two standard deviations along one axis and one along the other, turned by 30 degrees about (10, -5). */
  const turned = (): Point[] =>
    Array.from({ length: 400 }, (_, at): Point => {
      const turn = (2 * Math.PI * at) / 400;
      const [u, v] = [2 * Math.SQRT2 * Math.cos(turn), Math.SQRT2 * Math.sin(turn)];
      const [c, s] = [Math.cos(Math.PI / 6), Math.sin(Math.PI / 6)];
      return [10 + u * c - v * s, -5 + u * s + v * c];
    });

  it('finds the axes of a turned cloud, and its ellipse is that of the covariance', () => {
    const found = dispersionOf(turned())!;
    expect(found.centre[0]).to.be.closeTo(10, 1e-9);
    expect(found.sigmas[0]).to.be.closeTo(2 * Math.sqrt(400 / 399), 1e-9);
    expect(found.sigmas[1]).to.be.closeTo(Math.sqrt(400 / 399), 1e-9);
    expect(found.angle).to.be.closeTo(Math.PI / 6, 1e-9);
    const far = ellipse(found, 3).map(([x, y]) => Math.hypot(x - 10, y + 5));
    expect(Math.max(...far)).to.be.closeTo(3 * found.sigmas[0], 1e-9);
    expect(Math.min(...far)).to.be.closeTo(3 * found.sigmas[1], 1e-9);
    expect(
      dispersionOf([
        [0, 0],
        [1, 1],
      ]),
    ).to.equal(undefined);
  });

  it('has half of the points within the circular error probable', () => {
    const { cep, centre } = dispersionOf(turned())!;
    const inside = turned().filter(([x, y]) => Math.hypot(x - centre[0], y - centre[1]) <= cep).length;
    expect(inside).to.be.within(199, 201);
  });

  it('reads polygons with holes anywhere in a GeoJSON file, and names what is wrong', () => {
    const ring = (from: number, to: number): Point[] => [
      [from, from],
      [to, from],
      [to, to],
      [from, to],
      [from, from],
    ];
    const polygon = { type: 'Polygon', coordinates: [ring(0, 10), ring(4, 6)] };
    const polygons = readPolygons(
      JSON.stringify({ type: 'FeatureCollection', features: [{ type: 'Feature', geometry: polygon }] }),
    );
    const table: [Point, boolean][] = [
      [[1, 1], true],
      [[5, 5], false],
      [[11, 5], false],
      [[9, 9], true],
    ];
    for (const [point, expected] of table) expect(isInside(polygons, point), String(point)).to.equal(expected);
    const many = { type: 'MultiPolygon', coordinates: [[ring(0, 1)], [ring(20, 21)]] };
    expect(isInside(readPolygons(JSON.stringify(many)), [20.5, 20.5])).to.equal(true);
    const faults: [string, RegExp][] = [
      ['no json', /not JSON/],
      ['{"type":"Point","coordinates":[1,2]}', /no Polygon/],
      ['{"type":"Polygon","coordinates":[[[0,0],[1,"x"],[1,1],[0,0]]]}', /not a number/],
      ['{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0]]]}', /fewer than four/],
      [
        JSON.stringify({ type: 'Polygon', coordinates: [Array.from({ length: 20_001 }, () => [0, 0])] }),
        /more than 20000/,
      ],
    ];
    for (const [text, reason] of faults) expect(() => readPolygons(text), text.slice(0, 40)).to.throw(reason);
  });
});

describe('web/cards/distribution', () => {
  interface Steps {
    points: { value: number; share: number; low: number; high: number }[];
    n: number;
    missing: number;
    isBanded: boolean;
    isThinned: boolean;
  }
  let boundedSteps: (values: Float64Array, isCounted: (row: number) => boolean, confidence?: number) => Steps;
  before(async () => {
    ({ boundedSteps } = await load<{ boundedSteps: typeof boundedSteps }>('../cards/distribution.ts'));
  });

  it('has a step for each distinct value, and holds runs without a value at either end', () => {
    const found = boundedSteps(Float64Array.of(5, 1, NaN, 3, 3, 9), (row) => row !== 5);
    expect([found.n, found.missing, found.isBanded, found.isThinned]).to.deep.equal([5, 1, false, false]);
    expect(found.points.map(({ value, share }) => [value, share])).to.deep.equal([
      [1, 0.25],
      [3, 0.75],
      [5, 1],
    ]);
    expect(found.points.map(({ low, high }) => [low, high])).to.deep.equal([
      [0.2, 0.4],
      [0.6, 0.8],
      [0.8, 1],
    ]);
  });

  it('has the band of Dvoretzky, Kiefer and Wolfowitz for a sample, and says what it leaves out', () => {
    const found = boundedSteps(
      Float64Array.from({ length: 1_000 }, (_, at) => at),
      () => true,
      0.95,
    );
    const room = Math.sqrt(Math.log(40) / 2_000);
    const middle = found.points.find(({ share }) => Math.abs(share - 0.5) < 0.01)!;
    expect(middle.high - middle.share).to.be.closeTo(room, 1e-12);
    expect(middle.share - middle.low).to.be.closeTo(room, 1e-12);
    expect([found.isThinned, found.points.length, found.points.at(-1)!.value]).to.deep.equal([true, 400, 999]);
    expect(boundedSteps(Float64Array.of(NaN), () => true).points).to.deep.equal([]);
  });
});

describe('web/explore/cards', () => {
  it('the running median follows the middle of the values, over selected rows', async () => {
    const { medianCourse } = await load<{
      medianCourse: (a: Float64Array, b: Float64Array, mask?: Uint8Array) => [number, number, number][];
    }>('cards/running-median.ts');
    const across = Float64Array.from({ length: 200 }, (_, at) => (at * 37) % 200);
    const up = across.map((it) => 2 * it + (it % 2 === 0 ? 1_000 * Number(it % 10 === 0) : 0));
    for (const [x, median, width] of medianCourse(across, up)) {
      expect(width).to.equal(20);
      expect(median).to.be.within(2 * x - 6, 2 * x + 12);
    }
    // Each window has the median that sorting gives, of even and of odd widths.
    for (const size of [220, 231]) {
      const [x, y] = [0.37, 0.71].map((step) => Float64Array.from({ length: size }, (_, at) => (at * step) % 1));
      const order = [...x!.keys()].toSorted((a, b) => x![a]! - x![b]!);
      const course = medianCourse(x!, y!);
      const [width, last] = [course[0]![2], size - course[0]![2]];
      const middle = (values: number[]): number =>
        ((values.toSorted((a, b) => a - b)[Math.floor((width - 1) / 2)] ?? 0) +
          (values.toSorted((a, b) => a - b)[Math.ceil((width - 1) / 2)] ?? 0)) /
        2;
      for (const [at, [, median]] of course.entries()) {
        const from = Math.round((last * at) / (course.length - 1));
        expect(median).to.be.closeTo(middle(order.slice(from, from + width).map((row) => y![row]!)), 1e-12);
      }
    }
    expect(medianCourse(across, up, new Uint8Array(200))).to.deep.equal([]);
    expect(medianCourse(across.subarray(0, 21), up.subarray(0, 21))).to.deep.equal([]);
  });

  it('a box has the quartiles, the ends of its lines, and the values beyond them, some of many', async () => {
    const { boxOf } = await load<{
      boxOf: (values: Float64Array, most: number) => Record<string, number> & { beyond: Float64Array };
    }>('cards/box-of.ts');
    const { beyond, ...rest } = boxOf(Float64Array.of(100, 1, 2, 3, 4, 5, 6, 7, 8, 9, -50, 101), 2);
    // The lines reach from -5.5 to 16.5.
    expect(rest).to.deep.equal({ n: 12, low: 1, high: 9, q1: 2.75, median: 5.5, q3: 8.25, outside: 3 });
    expect([...beyond]).to.deep.equal([-50, 101]);
    expect([...boxOf(Float64Array.of(100, 1, 2, 3, 4, 5, 6, 7, 8, 9, -50, 101), 3).beyond]).to.deep.equal([
      -50, 100, 101,
    ]);
    expect(boxOf(Float64Array.of(7), 5)).to.deep.equal({
      n: 1,
      low: 7,
      high: 7,
      q1: 7,
      median: 7,
      q3: 7,
      outside: 0,
      beyond: new Float64Array(),
    });
  });

  it('a CSV file holds no formula, and quotes what needs it', async () => {
    const { csvText } = await load<{
      csvText: (rows: { columns: string[]; rows: (string | number | null)[][] }) => string;
    }>('../cards/csv.ts');
    const found = csvText({
      columns: ['a', 'b "x"'],
      rows: [
        ['=1+1', 2.5],
        ['x,y', NaN],
        [null, -3],
      ],
    });
    expect(found).to.equal('a,"b ""x"""\r\n\'=1+1,2.5\r\n"x,y",\r\n,-3\r\n');
  });
});
