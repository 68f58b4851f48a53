/**
 * Histograms for prom-client, which writes them. It sorts, joins and checks the labels of each observed value; here a series is found
 * once and counts by itself.
 */
import type { Histogram as PromHistogram, Registry } from 'prom-client';

/** The values observed with the same labels. */
export class Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** Of each bucket alone; the last one has the values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** Counts a finite value. */
  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
    this.#counts[bucket]! += 1;
    this.#sum += value;
  }

  /** The lines of this series in the text format, in their order. */
  lines(name: string): Line[] {
    const { labels } = this;
    const lines: Line[] = [];
    let count = 0;
    for (const [bucket, ofBucket] of this.#counts.entries()) {
      count += ofBucket;
      const le = this.#bounds[bucket] ?? '+Inf';
      lines.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: count });
    }
    lines.push({ metricName: `${name}_sum`, labels, value: this.#sum });
    lines.push({ metricName: `${name}_count`, labels, value: count });
    return lines;
  }
}

interface Line {
  metricName: string;
  labels: Readonly<Record<string, string | number>>;
  value: number;
}

export interface HistogramOptions {
  name: string;
  help: string;
  /** Upper bounds of the buckets, ascending. */
  buckets: readonly number[];
  registry: Registry;
}

/** The part of a metric that a registry of prom-client uses. */
class Histogram {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  protected readonly buckets: readonly number[];
  readonly #all: Series[] = [];

  constructor({ name, help, buckets, registry }: HistogramOptions) {
    this.name = name;
    this.help = help;
    this.buckets = buckets;
    registry.registerMetric(this as unknown as PromHistogram);
  }

  protected add(labels: Record<string, string>): Series {
    const series = new Series(labels, this.buckets);
    this.#all.push(series);
    return series;
  }

  get(): Promise<{ name: string; help: string; type: string; values: Line[] }> {
    const { name, help, type } = this;
    return Promise.resolve({ name, help, type, values: this.#all.flatMap((it) => it.lines(name)) });
  }
}

/** A histogram without labels. */
export class PlainHistogram extends Histogram {
  readonly #series = this.add({});

  observe(value: number): void {
    this.#series.observe(value);
  }
}

/** A histogram with the label `operation` and another one. */
export class OperationHistogram<Label extends string | number> extends Histogram {
  readonly #label: string;
  readonly #known = new Map<string, Map<Label, Series>>();

  constructor(options: HistogramOptions & { label: string }) {
    super(options);
    this.#label = options.label;
  }

  observe(operation: string, label: Label, value: number): void {
    let ofOperation = this.#known.get(operation);
    if (ofOperation === undefined) this.#known.set(operation, (ofOperation = new Map()));
    let series = ofOperation.get(label);
    if (series === undefined) {
      series = this.add({ operation, [this.#label]: String(label) });
      ofOperation.set(label, series);
    }
    series.observe(value);
  }
}
