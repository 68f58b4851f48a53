/** Replaces the package `hysnappy` in the dashboard: it is WebAssembly, which the page's policy forbids. */
import { snappyUncompress as uncompress } from 'hyparquet/src/snappy.js';

export function snappyUncompress(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  uncompress(input, output);
  return output;
}

export const snappyUncompressor = () => snappyUncompress;
