/** Assembles small WebAssembly modules: loops over memory with 128-bit vectors, which JavaScript does not have. */

/** Instructions as bytes. Source: WebAssembly Core Specification 2.0, chapter 5.4 (binary format of instructions). */
export type Code = readonly number[];

/** Instructions one after the other. */
export const seq = (...parts: readonly Code[]): Code => parts.flat();

/** An unsigned integer below 2^32 in LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

/** An int32 in signed LEB128. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

const vector = (opcode: number): Code => [0xfd, ...unsigned(opcode)];

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number): Code => [0x21, ...unsigned(local)];

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  add: [0x6a] as Code,
  shl: [0x74] as Code,
  lessUnsigned: [0x49] as Code,
  load16Unsigned: (offset: number): Code => [0x2f, 1, ...unsigned(offset)],
};

export const v128 = {
  load: (offset: number): Code => [...vector(0), 4, ...unsigned(offset)],
  store: (offset: number): Code => [...vector(11), 4, ...unsigned(offset)],
  xor: vector(81),
  /** Four int32 of two vectors: places 0 to 3 are the first vector's. */
  shuffle32: (...places: [number, number, number, number]): Code => [
    ...vector(13),
    ...places.flatMap((place) => [0, 1, 2, 3].map((byte) => 4 * place + byte)),
  ],
};

export const i32x4 = {
  const: (...lanes: [number, number, number, number]): Code => [
    ...vector(12),
    ...new Uint8Array(Int32Array.from(lanes).buffer),
  ],
  splat: vector(17),
  add: vector(174),
  /** The 64-bit products of the lower, or upper, two lanes. */
  multiplyLowUnsigned: vector(222),
  multiplyHighUnsigned: vector(223),
};

/** Repeats the body while the condition leaves a number other than 0. */
export const loopWhile = (condition: Code, body: Code): Code =>
  // A loop within a block: the block is left when the condition fails.
  seq([0x02, 0x40, 0x03, 0x40], condition, [0x45, 0x0d, 1], body, [0x0c, 0, 0x0b, 0x0b]);

const I32 = 0x7f;
const V128 = 0x7b;

/** A function without result; its parameters are int32. */
export interface KernelFunction {
  parameters: number;
  /** Numbers of locals after the parameters: first the int32, then the vectors. */
  locals: { i32: number; v128: number };
  body: Code;
}

/** The part of `WebAssembly` that is used here; Node.js has it, its types do not. */
interface WasmApi {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: Record<string, unknown> };
}

/** An instance of a module. */
export interface Kernel<Name extends string> {
  memory: ArrayBuffer;
  functions: Record<Name, (...parameters: number[]) => void>;
}

const PAGE_BYTES = 65_536;
/** `\0asm` and the version of the format. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Instantiates functions that share a memory of so many bytes; undefined where the platform has no WebAssembly with vectors. */
export function assemble<Name extends string>(
  functions: Record<Name, KernelFunction>,
  memoryBytes: number,
): Kernel<Name> | undefined {
  const wasm = (globalThis as { WebAssembly?: WasmApi }).WebAssembly;
  const bytes = moduleBytes(Object.entries<KernelFunction>(functions), Math.ceil(memoryBytes / PAGE_BYTES));
  if (wasm === undefined || !wasm.validate(bytes)) return undefined;
  const { exports } = new wasm.Instance(new wasm.Module(bytes));
  const { buffer } = exports['memory'] as { buffer: ArrayBuffer };
  return { memory: buffer, functions: exports as Kernel<Name>['functions'] };
}

function moduleBytes(functions: [name: string, KernelFunction][], pages: number): Uint8Array {
  const list = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()];
  const section = (id: number, content: readonly number[]): number[] => [id, ...unsigned(content.length), ...content];
  const name = (text: string): number[] => list([...new TextEncoder().encode(text)].map((byte) => [byte]));
  const code = functions.map(([, { locals, body }]) => {
    const content = [
      ...list([
        [...unsigned(locals.i32), I32],
        [...unsigned(locals.v128), V128],
      ]),
      ...body,
      0x0b,
    ];
    return [...unsigned(content.length), ...content];
  });
  return Uint8Array.from([
    ...HEADER,
    ...section(
      1,
      list(functions.map(([, it]) => [0x60, ...list(Array.from({ length: it.parameters }, () => [I32])), 0])),
    ),
    ...section(3, list(functions.map((_, at) => unsigned(at)))),
    ...section(5, list([[0, ...unsigned(pages)]])),
    ...section(
      7,
      list([[...name('memory'), 2, 0], ...functions.map(([text], at) => [...name(text), 0, ...unsigned(at)])]),
    ),
    ...section(10, list(code)),
  ]);
}
