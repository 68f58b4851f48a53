/** The module that the build generates from the machines. */
declare module 'virtual:diagrams' {
  const diagrams: import('../diagrams/types.ts').Diagram[];
  export default diagrams;
  /** Without labels and inner events. */
  export const compact: import('../diagrams/types.ts').Diagram[];
}
declare module '*.css';
declare module 'hyparquet/src/snappy.js' {
  export function snappyUncompress(input: Uint8Array, output: Uint8Array): void;
}
