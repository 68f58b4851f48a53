// Draws the plots of docs/sampling.md from the built sampler, as SVG files beside this script:
// npm run build && node docs/plots/make-plots.mjs
import { writeFileSync } from 'node:fs';
import { createSampler } from '../../dist/src/domain/sampling/sampler.js';

const METHODS = [
  { method: 'monte_carlo', colour: '#D55E00' },
  { method: 'latin_hypercube', colour: '#0072B2' },
  { method: 'quasi_monte_carlo', colour: '#009E73' },
];
const INK = '#333';
const FAINT = '#d9d9d9';
const UNIT = { type: 'uniform', min: 0, max: 1 };

/** All uniforms of a study of `count` parameters: one Float64Array per run. */
function uniforms(method, count, runs, seed) {
  const names = Array.from({ length: count }, (_, k) => `p${String(k).padStart(2, '0')}`);
  const dispersions = Object.fromEntries(names.map((name) => [name, { distribution: UNIT, units: '' }]));
  const sampler = createSampler(dispersions, { runs, sampling_method: method, seed });
  return Array.from({ length: runs }, (_, run) => sampler.uniforms(run));
}

// SVG, as text.
const line = (x1, y1, x2, y2, colour, width = 1, more = '') =>
  `<line x1="${fixed(x1)}" y1="${fixed(y1)}" x2="${fixed(x2)}" y2="${fixed(y2)}" stroke="${colour}" stroke-width="${width}" ${more}/>`;
const text = (x, y, words, { size = 13, anchor = 'middle', colour = INK, more = '' } = {}) =>
  `<text x="${fixed(x)}" y="${fixed(y)}" font-size="${size}" text-anchor="${anchor}" fill="${colour}" ${more}>${words}</text>`;
const dot = (x, y, colour, r = 2.6) => `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="${r}" fill="${colour}"/>`;
const fixed = (value) => Number(value.toFixed(2));

function save(file, width, height, title, parts) {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, 'DejaVu Sans', sans-serif" role="img">`;
  const body = [
    head,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" rx="6" fill="#fff"/>`,
    ...parts,
    '</svg>',
  ];
  writeFileSync(new URL(file, import.meta.url), `${body.join('\n')}\n`);
}

/** A unit square with points, a title above and a note below; ticks outside the frame show each point's place on both axes. */
function square(left, top, side, points, { title, note, colour, cells, rug }) {
  const parts = [text(left + side / 2, top - 12, title, { size: 15, colour, more: 'font-weight="600"' })];
  for (let k = 1; k < cells; k++) {
    const at = (k / cells) * side;
    parts.push(line(left + at, top, left + at, top + side, FAINT), line(left, top + at, left + side, top + at, FAINT));
  }
  parts.push(`<rect x="${left}" y="${top}" width="${side}" height="${side}" fill="none" stroke="${INK}"/>`);
  for (const [x, y] of points) {
    const [px, py] = [left + x * side, top + (1 - y) * side];
    if (rug)
      parts.push(line(px, top + side + 4, px, top + side + 11, colour), line(left - 11, py, left - 4, py, colour));
    parts.push(dot(px, py, colour));
  }
  parts.push(text(left + side / 2, top + side + 30, note, { size: 12.5 }));
  return parts;
}

function pointsPlot() {
  const [side, gap, runs] = [250, 40, 64];
  const parts = [];
  for (const [k, { method, colour }] of METHODS.entries()) {
    const points = uniforms(method, 2, runs, 1);
    const cells = new Set(points.map(([x, y]) => Math.floor(x * 8) + 8 * Math.floor(y * 8))).size;
    const strata = new Set(points.map(([x]) => Math.floor(x * runs))).size;
    const note = `${strata} of 64 strata of x met, ${cells} of 64 cells`;
    parts.push(
      ...square(34 + k * (side + gap), 40, side, points, { title: method, note, colour, cells: 8, rug: true }),
    );
  }
  save(
    'points.svg',
    34 + 3 * side + 2 * gap + 22,
    40 + side + 48,
    '64 runs of two parameters under each method',
    parts,
  );
}

function correlation(points, a, b) {
  const mean = (k) => points.reduce((sum, point) => sum + point[k], 0) / points.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [aa, bb, ab] = [0, 0, 0];
  for (const point of points) {
    aa += (point[a] - meanA) ** 2;
    bb += (point[b] - meanB) ** 2;
    ab += (point[a] - meanA) * (point[b] - meanB);
  }
  return ab / Math.sqrt(aa * bb);
}

/** The most correlated pair among all parameters. */
function worstPair(points) {
  let worst = { a: 0, b: 1, r: 0 };
  for (let a = 0; a < points[0].length; a++) {
    for (let b = a + 1; b < points[0].length; b++) {
      const r = correlation(points, a, b);
      if (Math.abs(r) > Math.abs(worst.r)) worst = { a, b, r };
    }
  }
  return worst;
}

function fewRunsPlot() {
  const [side, gap] = [250, 40];
  const parts = [];
  for (const [k, { method, colour }] of METHODS.entries()) {
    const points = uniforms(method, 50, 64, 3);
    const { a, b, r } = worstPair(points);
    const note = `pair (${a + 1}, ${b + 1}) of 50: correlation ${r.toFixed(2)}`;
    const pairs = points.map((point) => [point[a], point[b]]);
    parts.push(
      ...square(22 + k * (side + gap), 40, side, pairs, { title: method, note, colour, cells: 8, rug: false }),
    );
  }
  save(
    'few-runs.svg',
    22 + 3 * side + 2 * gap + 22,
    40 + side + 48,
    'The most correlated pair of 50 parameters after 64 runs',
    parts,
  );
}

/** Mean 1 over the unit cube; not additive, so that a Latin hypercube cannot be exact to first order only. */
const integrand = (u) => u.reduce((product, v) => product * (1 + 0.6 * (Math.exp(v) / (Math.E - 1) - 1)), 1);

/** Root mean square error of the mean over `seeds` studies, for each number of runs. */
function errors(method, counts, seeds) {
  return counts.map((runs) => {
    let sum = 0;
    for (let seed = 0; seed < seeds; seed++) {
      const total = uniforms(method, 6, runs, seed).reduce((all, u) => all + integrand(u), 0);
      sum += (total / runs - 1) ** 2;
    }
    return Math.sqrt(sum / seeds);
  });
}

function convergencePlot() {
  const [left, top, width, height] = [74, 24, 500, 360];
  const counts = Array.from({ length: 11 }, (_, k) => 16 * 2 ** k);
  const [least, most] = [1e-6, 1];
  const x = (runs) => left + (Math.log2(runs / counts[0]) / (counts.length - 1)) * width;
  const y = (error) => top + (Math.log(most / error) / Math.log(most / least)) * height;
  const parts = [];
  for (const runs of counts) {
    parts.push(
      line(x(runs), top, x(runs), top + height, FAINT),
      text(x(runs), top + height + 18, String(runs), { size: 12 }),
    );
  }
  for (let power = 0; power >= -6; power--) {
    const at = y(10 ** power);
    const label = `10<tspan dy="-5" font-size="9">${power}</tspan>`;
    parts.push(line(left, at, left + width, at, FAINT), text(left - 8, at + 4, label, { size: 12, anchor: 'end' }));
  }
  parts.push(`<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="none" stroke="${INK}"/>`);
  const last = counts.at(-1);
  for (const { method, colour } of METHODS) {
    const values = errors(method, counts, 50);
    const path = counts.map((runs, k) => `${fixed(x(runs))},${fixed(y(values[k]))}`).join(' ');
    parts.push(`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const [k, runs] of counts.entries()) parts.push(dot(x(runs), y(values[k]), colour, 3.2));
    const slope = Math.log(values.at(-1) / values[4]) / Math.log(last / counts[4]);
    const exponent = `<tspan dy="-5" font-size="9">${slope.toFixed(2).replace('-', '−')}</tspan>`;
    parts.push(
      text(left + width + 10, y(values.at(-1)) - 2, method, {
        size: 13,
        anchor: 'start',
        colour,
        more: 'font-weight="600"',
      }),
    );
    parts.push(
      text(left + width + 10, y(values.at(-1)) + 14, `falls as runs${exponent}`, {
        size: 12,
        anchor: 'start',
      }),
    );
  }
  parts.push(text(left + width / 2, top + height + 42, 'runs'));
  const middle = top + height / 2;
  parts.push(
    text(20, middle, 'error of the mean (root mean square)', { more: `transform="rotate(-90 20 ${middle})"` }),
  );
  save(
    'convergence.svg',
    left + width + 170,
    top + height + 56,
    'Error of an estimated mean against the number of runs',
    parts,
  );
}

/** Small histograms: 4096 samples of one Latin hypercube for each distribution. */
function distributionsPlot() {
  const panels = [
    ['normal', { type: 'normal', mean: 0, std_dev: 1 }, -3, 3],
    ['normal, lower -1, upper 2', { type: 'normal', mean: 0, std_dev: 1, lower: -1, upper: 2 }, -3, 3],
    ['uniform', { type: 'uniform', min: -2, max: 2 }, -3, 3],
    ['triangular', { type: 'triangular', min: -2, mode: -1, max: 2.5 }, -3, 3],
    ['exponential', { type: 'exponential', lambda: 1 }, 0, 4],
    ['gamma, shape 2', { type: 'gamma', shape: 2, scale: 0.5 }, 0, 4],
    ['lognormal, sigma 0.6', { type: 'lognormal', mu: 0, sigma: 0.6 }, 0, 4],
    ['weibull, shape 3', { type: 'weibull', shape: 3, scale: 1.5 }, 0, 4],
    ['beta, 2 and 5', { type: 'beta', alpha: 2, beta: 5 }, 0, 1],
    ['loguniform, 0.05 to 1', { type: 'loguniform', min: 0.05, max: 1 }, 0, 1],
    [
      'discrete, weights 1 : 2 : 1',
      {
        type: 'discrete',
        values: [
          { value: 0.2, weight: 1 },
          { value: 0.5, weight: 2 },
          { value: 0.8, weight: 1 },
        ],
      },
      0,
      1,
    ],
    ['empirical, 6 numbers', { type: 'empirical', data: [0.1, 0.3, 0.35, 0.4, 0.7, 0.95] }, 0, 1],
  ];
  const [columns, width, height, runs, bins] = [4, 180, 96, 4096, 60];
  const parts = [];
  for (const [k, [title, distribution, from, to]] of panels.entries()) {
    const left = 20 + (k % columns) * (width + 16);
    const top = 34 + Math.floor(k / columns) * (height + 56);
    const sampler = createSampler(
      { x: { distribution, units: '' } },
      { runs, sampling_method: 'latin_hypercube', seed: 1 },
    );
    const counts = Array.from({ length: bins }, () => 0);
    for (let run = 0; run < runs; run++) {
      const bin = Math.floor(((sampler.parameters(run).x - from) / (to - from)) * bins);
      if (bin >= 0 && bin < bins) counts[bin] += 1;
    }
    const most = Math.max(...counts);
    parts.push(text(left + width / 2, top - 9, title, { size: 12.5, more: 'font-weight="600"' }));
    for (const [bin, count] of counts.entries()) {
      if (count === 0) continue;
      const h = (count / most) * height;
      parts.push(
        `<rect x="${fixed(left + (bin / bins) * width)}" y="${fixed(top + height - h)}" width="${fixed(width / bins)}" height="${fixed(h)}" fill="#0072B2" fill-opacity="0.75"/>`,
      );
    }
    parts.push(line(left, top + height, left + width, top + height, INK));
    parts.push(text(left, top + height + 15, fixed(from), { size: 11, anchor: 'start' }));
    parts.push(text(left + width, top + height + 15, fixed(to), { size: 11, anchor: 'end' }));
  }
  save(
    'distributions.svg',
    20 + 4 * width + 3 * 16 + 20,
    34 + 3 * (height + 56) - 14,
    'Samples of the distributions',
    parts,
  );
}

/** Two parameters under three rank correlations: their distributions stay. */
function correlationPlot() {
  const [side, gap, runs] = [250, 40, 400];
  const parts = [];
  for (const [k, rank] of [-0.5, 0, 0.9].entries()) {
    const dispersions = { x: { distribution: UNIT, units: '' }, y: { distribution: UNIT, units: '' } };
    const correlations = rank === 0 ? [] : [{ parameters: ['x', 'y'], rank }];
    const sampler = createSampler(dispersions, { runs, sampling_method: 'monte_carlo', seed: 4, correlations });
    const points = Array.from({ length: runs }, (_, run) => sampler.uniforms(run));
    const note = `correlation of these ${runs} runs: ${correlation(points, 0, 1).toFixed(2)}`;
    parts.push(
      ...square(22 + k * (side + gap), 40, side, points, {
        title: `rank ${rank}`,
        note,
        colour: '#D55E00',
        cells: 1,
        rug: false,
      }),
    );
  }
  save(
    'correlation.svg',
    22 + 3 * side + 2 * gap + 22,
    40 + side + 48,
    `${runs} runs of two correlated parameters`,
    parts,
  );
}

pointsPlot();
fewRunsPlot();
convergencePlot();
distributionsPlot();
correlationPlot();
