/** The module that the build makes of the machines. */
declare module 'virtual:diagrams' {
  const diagrams: import('../diagrams/types.ts').Diagram[];
  export default diagrams;
}
declare module '*.css';
