/** A laid-out statechart: coordinates in pixels from the top left. */

export interface Trigger {
  event: string;
  guard: string | undefined;
  /** The member of a compound state that the event leads to; absent where the drawing shows it, or where the state stays. */
  to?: string;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DiagramState extends Box {
  key: string;
  /** Description in plain English, for people. */
  description: string;
  final: boolean;
  /** Events that it handles without leaving. */
  inner: Trigger[];
}

/** A compound state: its frame is around its members, and its transitions are those that all its members have. */
export interface DiagramGroup extends Box {
  key: string;
  description: string;
  inner: Trigger[];
  /** States, also those in groups within it. */
  members: string[];
}

export interface DiagramEdge {
  /** A state or a group. */
  from: string;
  to: string;
  /** The states that the transition leaves: the members of a group. */
  sources: string[];
  /** The states that it enters: more than one for an edge to a group. */
  targets: string[];
  triggers: Trigger[];
  points: number[][];
  /** The box of the triggers. */
  label: Box;
  /** The place of a rate or a total: in no box, and on no other label. */
  figure: Box;
}

export interface Diagram {
  kind: 'job' | 'batch' | 'runner' | 'notification' | 'supervisor' | 'attempt' | 'allocation';
  width: number;
  height: number;
  initial: string;
  states: DiagramState[];
  /** Groups of states, the outer ones first. */
  groups: DiagramGroup[];
  edges: DiagramEdge[];
}
