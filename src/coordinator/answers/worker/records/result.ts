/** The members of a stored result that tables show: those of every run, and its outputs by slots, read from its bytes. */
import type { TerminationCondition } from '../../../../contract/types.ts';
import { MAX_DEPTH, type OutputPlace, outputName } from '../../../../domain/runs/outputs.ts';
import type { RecordBytes } from './chunk.ts';
import { decimalAt } from '../../../../base/decimals/read.ts';
import { KIND, type Level, NamedLevel, RecordScanner } from './scanner.ts';
import { TextCache, unescaped } from './texts.ts';

type Rule = Pick<TerminationCondition, 'variable' | 'condition'>;

const SLOTS = {
  execution_secs: 0,
  execution_time_secs: 1,
  error_message: 2,
  terminated_by: 3,
  would_terminate: 4,
} as const;
const LOST = 5;
/** The slots of outputs follow. */
const FIRST_OUTPUT = 6;

/** The outputs of metadata: nested members have names of their own, see `visitOutputs`. */
class OutputLevel implements Level {
  readonly #slotOf: (output: string) => number;
  readonly #place: OutputPlace;

  constructor(slotOf: (output: string) => number, place: OutputPlace = { prefix: '', depth: 0 }) {
    this.#slotOf = slotOf;
    this.#place = place;
  }

  slotOf(name: string): number {
    const output = outputName(this.#place.prefix, name);
    return output === '' ? -1 : this.#slotOf(output);
  }

  levelOf(name: string): Level | undefined {
    const { prefix, depth } = this.#place;
    if (depth + 1 >= MAX_DEPTH) return undefined;
    return new OutputLevel(this.#slotOf, { prefix: outputName(prefix, name), depth: depth + 1 });
  }
}

export class ResultReader {
  readonly #scanner: RecordScanner;
  readonly #texts = new TextCache();

  /** `outputAt`: the place from 0 that an output has among the wanted ones; -1 where it is not wanted. */
  constructor(outputAt: (output: string) => number) {
    const slotOf = (output: string): number => {
      const at = outputAt(output);
      return at < 0 ? at : FIRST_OUTPUT + at;
    };
    const levels = { metadata: new OutputLevel(slotOf), telemetry: new NamedLevel({ lost: LOST }) };
    this.#scanner = new RecordScanner(new NamedLevel(SLOTS, levels), FIRST_OUTPUT);
  }

  /** Reads a result; the other members are then of this one. */
  read(record: RecordBytes): this {
    this.#scanner.read(record);
    return this;
  }

  get executionSecs(): number | undefined {
    return this.#number(SLOTS.execution_secs) ?? this.#number(SLOTS.execution_time_secs);
  }

  get errorMessage(): string | null {
    return this.#text(SLOTS.error_message) ?? null;
  }

  get terminatedBy(): Rule | undefined {
    return this.#rule(SLOTS.terminated_by);
  }

  get wouldTerminate(): Rule | undefined {
    return this.#rule(SLOTS.would_terminate);
  }

  get telemetryLost(): number | undefined {
    return this.#number(LOST);
  }

  /** The kind of an output; `KIND.absent` where the result does not have it. */
  kind(at: number): number {
    return this.#scanner.kinds[FIRST_OUTPUT + at] ?? KIND.absent;
  }

  /** The kinds that an output has had in all results so far: bit n for kind n. */
  seen(at: number): number {
    return this.#scanner.seen[FIRST_OUTPUT + at] ?? 0;
  }

  /** An output as statistics use it: a number, or a boolean as 0 or 1; NaN for any other value. */
  outputNumber(at: number): number {
    const kind = this.kind(at);
    if (kind === KIND.number) return this.#number(FIRST_OUTPUT + at)!;
    if (kind === KIND.true) return 1;
    return kind === KIND.false ? 0 : Number.NaN;
  }

  /** Null for an output that is not a text. */
  outputText(at: number): string | null {
    return this.#text(FIRST_OUTPUT + at) ?? null;
  }

  /** The JSON value of an output. */
  outputValue(at: number): unknown {
    return JSON.parse(this.#scanner.raw(FIRST_OUTPUT + at));
  }

  /** The bytes of an output, as `JSON.stringify` writes it. */
  outputBytes(at: number): { bytes: Uint8Array; start: number; end: number } {
    const { bytes, starts, ends } = this.#scanner;
    return { bytes, start: starts[FIRST_OUTPUT + at]!, end: ends[FIRST_OUTPUT + at]! };
  }

  #number(slot: number): number | undefined {
    const { kinds, bytes, starts, ends } = this.#scanner;
    return kinds[slot] === KIND.number ? decimalAt(bytes, starts[slot]!, ends[slot]!) : undefined;
  }

  #text(slot: number): string | undefined {
    const { kinds, bytes, starts, ends } = this.#scanner;
    if (kinds[slot] === KIND.text) return this.#texts.of(bytes, starts[slot]! + 1, ends[slot]! - 1);
    return kinds[slot] === KIND.escaped ? unescaped(bytes, starts[slot]!, ends[slot]!) : undefined;
  }

  #rule(slot: number): Rule | undefined {
    return this.#scanner.kinds[slot] === KIND.other ? (JSON.parse(this.#scanner.raw(slot)) as Rule) : undefined;
  }
}
