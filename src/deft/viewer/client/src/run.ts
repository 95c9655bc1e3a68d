// A run as the page holds it: names and flat arrays of what was recorded (../../README.md). What the page makes of them
// is in modules above this one, which knows none of them; run_document.ts reads a run.
import type {Numbers} from './blocks';
import type {Explanation} from './explanation';
import type {Scene} from './scene';

/** Contacts of all frames, one after another; those of frame k ≥ 1 are [offset[k-1], offset[k]). */
export interface Contacts {
  count: number;
  offset: Numbers;
  bodies: Numbers;
  state: Numbers;
  point: Numbers;
  normal: Numbers;
  force: Numbers;
  gap: Numbers;
  mu: Numbers;
  torque: Numbers | null;
}

/** Records of the steps; step j ends at frame j + 1. */
export interface Steps {
  count: number;
  status: Numbers;
  unique: Numbers;
  iterations: Numbers;
  residual: Numbers;
  solve_us: Numbers;
  energy: Numbers;
  gap_min: Numbers;
  uniqueness: Numbers | null; // 0 unknown, 1 unique, 2 alternative solution found; null where none was looked for
}

/** Alternative solutions of steps: poses of all bodies [rows × bodies × 7], how far from those of the frame [rows ×
 *  bodies × (m, rad)], and the row of each frame that has one. */
export interface Alternatives {
  ofFrame: Map<number, number>;
  X_WB: Numbers;
  distance: Numbers;
}

/** Per contact: 0 not known, 1 point, 2 line, 3 surface; t; (v_t, v_o, v_r) of a against b; (e_t, e_o, e_r). */
export interface Patches {
  kind: Numbers;
  tangent: Numbers;
  slip: Numbers;
  ellipsoid: Numbers;
}

/** Records of steps × supports; see ../../README.md. */
export interface Supports {
  bodies: number[];
  load: Numbers;
  factor: Numbers;
  twist: Numbers;
  form: Numbers;
  state: Numbers;
}

/** What a controller planned: one row per frame that starts a step. */
export interface Plans {
  horizon: number;
  bodies: number[];
  names_v: string[];
  count: number;
  X_WB: Numbers;
  cost: Numbers;
  bound: Numbers;
  gap: Numbers;
  time: Numbers;
  status: Numbers;
  fallback: Numbers;
  offset: Numbers;
  pairs: Numbers;
  limits: Numbers;
  states: Numbers;
}

/** Steps [first, last) of the run, under one set of contacts or, as a transit, between two; `node` at its end, −1: not
 *  in the tree. */
export interface Segment {
  first: number;
  last: number;
  transit: boolean;
  node: number;
}

/** Rows of `ellipsoids` [rows × bodies × 8 × 3]: centre of mass and where it goes if the command stays [m], semi-axes
 *  of its positions [m], semi-axes of the turns [rad], longest first, world axes. `ofFrame` and `ofNode` hold the row
 *  of each frame and node that has one. */
export interface Reach {
  radius: number;
  kappa: number | null;
  bodies: number[];
  ofFrame: Map<number, number>;
  ofNode: Map<number, number>;
  ellipsoids: Numbers;
}

/** Nodes in the order of growth; the parent of node 0 is 0. `success` is null where the search was cut short. */
export interface Tree {
  goal: string;
  success: boolean | null;
  total: number;
  count: number;
  segments: Segment[];
  parent: Numbers;
  kind: Numbers;
  regrasps: Numbers;
  distance: Numbers;
  cost: Numbers;
  time: Numbers;
  X_WB: Numbers;
  reach: Reach | null; // runs of a search that was cut short have none, nor have old ones
}

/** Largest distance of the objects from where they should be [m, rad], one per step; step j ends at frame j + 1. */
export interface Errors {
  position: Numbers;
  rotation: Numbers;
}

/** The plan that a run follows, and how well it does. */
export interface Tracking extends Errors {
  words: string[];
  bodies: number[];
  X_WB: Numbers; // reference: frames × bodies × 7
  knot: Numbers;
  period: Numbers;
  status: Numbers;
  plan: Numbers;
}

/** A second run: what of it is drawn, at its own times. */
export interface Beside {
  title: string;
  here: string;
  bodies: number[];
  t: Numbers;
  X_WB: Numbers;
  errors: Errors | null; // of a run that follows a plan
}

export interface Run {
  title: string;
  scene: Scene;
  names: {q: string[]; u: string[]; bodies: string[]; status_words: string[]};
  u_index_q: number[];
  totalFrames: number;
  frames: number;
  frame: Numbers;
  t: Numbers;
  q: Numbers;
  u: Numbers;
  X_WB: Numbers;
  contacts: Contacts;
  steps: Steps;
  patches: Patches | null; // of the model of the equivalent contact point
  alternatives: Alternatives | null;
  supports: Supports | null; // of the limit-surface model
  plans: Plans | null; // of a run under a controller
  tree: Tree | null; // of a planner's run
  track: Tracking | null; // of a run that follows a plan
  beside: Beside | null; // a second run
  explanation: Explanation | null; // of a planner's run that was asked why
}

export const statusWord = (run: Run, step: number): string => run.names.status_words[run.steps.status[step]];
/** Whether a step has no motion to go on with. NotUnique is no failure: one of several solutions was taken. */
export const isFailed = (run: Run, step: number): boolean => !['Solved', 'NotUnique'].includes(statusWord(run, step));
/** κ is finite: forces act at a distance. */
export const isSmoothed = (run: Run): boolean => typeof run.scene.settings.kappa === 'number';
