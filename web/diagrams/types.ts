/** A laid-out statechart: coordinates in pixels from the top left. */

export interface Trigger {
  event: string;
  guard: string | undefined;
}

export interface DiagramState {
  /** The state's name; `*` means "any state". */
  key: string;
  final: boolean;
  /** Events that it handles without leaving. */
  inner: Trigger[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DiagramEdge {
  from: string;
  to: string;
  triggers: Trigger[];
  points: number[][];
  label: { x: number; y: number; width: number; height: number };
}

export interface Diagram {
  kind: 'job' | 'batch' | 'runner' | 'supervisor' | 'allocation';
  width: number;
  height: number;
  initial: string;
  states: DiagramState[];
  edges: DiagramEdge[];
}
