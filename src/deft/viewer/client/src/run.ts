// A run as the page holds it: names and flat arrays, decoded from the document described in ../../README.md.
import {Patches, readPatches} from './patch';
import {Plans, readPlans} from './plan';
import {readSupports, Supports, SurfaceSpec} from './support';
import {Beside, readBeside, readTrack, Track} from './track';
import {readTree, Tree} from './tree';

export type Pose = ArrayLike<number>; // [qw, qx, qy, qz, x, y, z]

export type Shape =
  | {type: 'sphere'; radius: number}
  | {type: 'box'; size: number[]}
  | {type: 'capsule' | 'cylinder'; radius: number; length: number}
  | {type: 'ellipsoid'; radii: number[]}
  | {type: 'half_space'; normal: number[]; offset: number}
  | {type: 'mesh'; vertices: number[]; triangles: number[]};

export interface Geometry {X_BG: number[]; rgba?: number[]; shape: Shape}
export type Role = 'world' | 'robot' | 'object' | 'fixed';
export interface Body {name: string; role: Role; visuals: Geometry[]; collisions: Geometry[]; limit_surface?: SurfaceSpec}
export interface Goal {name: string; bodies: {body: number; X_WB: number[]}[]}
export interface Settings {
  h?: number | null; model?: string | null; cone?: string | null; rays?: number | null; kappa?: number | string | null;
  contact_margin?: number | string | null;
  replan?: number[] | null; tolerance?: number[] | null; // of runs that follow a plan [m, rad]
}
export interface Scene {name?: string; plane?: 'xy' | 'xz' | 'yz' | null; settings: Settings; bodies: Body[]; goals: Goal[]}

export type Numbers = Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** Contacts of all frames, one after another; those of frame k ≥ 1 are [offset[k-1], offset[k]). */
export interface Contacts {
  count: number; offset: Numbers; bodies: Numbers; state: Numbers; point: Numbers; normal: Numbers; force: Numbers;
  gap: Numbers; mu: Numbers; torque: Numbers | null;
}

/** Records of the steps; step j ends at frame j + 1. */
export interface Steps {
  count: number; status: Numbers; unique: Numbers; iterations: Numbers; residual: Numbers; solve_us: Numbers;
  energy: Numbers; gap_min: Numbers;
  uniqueness: Numbers | null; // 0 unknown, 1 unique, 2 a second motion was found; null where none was looked for
}

/** Other motions of steps: poses of all bodies [rows × bodies × 7], how far from those of the frame [rows × bodies × (m, rad)], and the row
 *  of each frame that has one. */
export interface SecondMotions {ofFrame: Map<number, number>; X_WB: Numbers; distance: Numbers}

export interface Run {
  title: string; scene: Scene; names: {q: string[]; u: string[]; bodies: string[]; status_words: string[]};
  u_index_q: number[]; totalFrames: number; frames: number; frame: Numbers; t: Numbers; q: Numbers; u: Numbers;
  X_WB: Numbers; contacts: Contacts; steps: Steps;
  patches: Patches | null; // of the model of the equivalent contact point
  second: SecondMotions | null;
  supports: Supports | null; // of the limit-surface model
  plans: Plans | null; // of a run under a controller
  tree: Tree | null; // of a planner's run
  track: Track | null; // of a run that follows a plan
  beside: Beside | null; // a second run
}

interface Block {type: 'f4' | 'u4' | 'u2' | 'u1'; shape: number[]; data: string}

const kArrays = {f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array};

/** Little-endian numbers out of base64; every machine with a browser is little-endian. */
function decodeBlock(name: string, block: Block | undefined): Numbers {
  if (!block) throw new Error(`The run has no block “${name}”: it was written by another version of deft.`);
  const text = atob(block.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const values = new kArrays[block.type](bytes.buffer);
  const expected = block.shape.reduce((product, n) => product * n, 1);
  if (values.length !== expected) {
    throw new Error(`Block “${name}” holds ${values.length} numbers, its shape says ${expected}.`);
  }
  return values;
}

/** @throws Error with a sentence for the reader if the text is not a run. */
export function parseRun(text: string): Run {
  const doc = JSON.parse(text);
  if (doc?.format !== 'deft-run') throw new Error('This is not a deft run (its “format” is not “deft-run”).');
  if (doc.version !== 1) throw new Error(`This page reads version 1 of the run format, the file is version ${doc.version}.`);
  const block = (name: string) => decodeBlock(name, doc.blocks[name]);
  const t = block('t');
  const residual = block('step_residual');
  const gap = block('contact_gap');
  return {
    title: doc.title || doc.scene.name || 'run',
    scene: {...doc.scene, settings: doc.scene.settings ?? {}, bodies: doc.scene.bodies ?? [], goals: doc.scene.goals ?? []},
    names: doc.names, u_index_q: doc.u_index_q, totalFrames: doc.frames.total, frames: t.length,
    frame: block('frame'), t, q: block('q'), u: block('u'), X_WB: block('X_WB'),
    contacts: {
      count: gap.length, offset: block('contact_offset'), bodies: block('contact_bodies'), state: block('contact_state'),
      point: block('contact_point_W'), normal: block('contact_normal_W'), force: block('contact_force_W'), gap,
      mu: block('contact_mu'), torque: doc.blocks.contact_torque_W ? block('contact_torque_W') : null,
    },
    steps: {
      count: residual.length, status: block('step_status'), unique: block('step_unique'),
      iterations: block('step_iterations'), residual, solve_us: block('step_solve_us'), energy: block('step_energy'),
      gap_min: block('step_gap_min'), uniqueness: doc.blocks.step_uniqueness ? block('step_uniqueness') : null,
    },
    patches: doc.blocks.contact_kind ? readPatches(block) : null,
    second: doc.blocks.second_frame ?
      {ofFrame: new Map(Array.from(block('second_frame'), (frame, row) => [frame, row])), X_WB: block('second_X_WB'),
       distance: block('second_distance')} : null,
    supports: doc.supports ? readSupports(doc.supports, block) : null,
    plans: doc.control ? readPlans(doc.control, block) : null,
    tree: doc.tree ? readTree(doc.tree, t.length, block) : null,
    track: doc.track ? readTrack(doc.track, block) : null,
    beside: doc.beside ? readBeside(doc.beside, block) : null,
  };
}

/** The run inside an HTML page written by deft, or the text itself if it is JSON. Empty if the page holds no run. */
export function runText(fileText: string): string {
  if (!fileText.trimStart().startsWith('<')) return fileText;
  const page = new DOMParser().parseFromString(fileText, 'text/html');
  return page.querySelector('#deft-run')?.textContent?.trim() ?? '';
}

/** First and last + 1 index of the contacts shown at a frame. */
export function contactRange(run: Run, frame: number): [number, number] {
  return frame < 1 ? [0, 0] : [run.contacts.offset[frame - 1], run.contacts.offset[frame]];
}

export const statusWord = (run: Run, step: number): string => run.names.status_words[run.steps.status[step]];
/** Whether a step has no motion to go on with. NotUnique is no failure: one of several motions was taken. */
export const isFailed = (run: Run, step: number): boolean => !['Solved', 'NotUnique'].includes(statusWord(run, step));
/** κ is finite: forces act at a distance. */
export const isSmoothed = (run: Run): boolean => typeof run.scene.settings.kappa === 'number';

/** Everything one contact shows, in SI units; forces as they act on body `on`. */
export interface Contact {
  index: number; on: number; from: number; state: number; point: number[]; normal: number[]; force: number[];
  gap: number; mu: number; fn: number; ft: number; utilisation: number; torque: number;
}

const kRank: Record<Role, number> = {object: 2, robot: 1, fixed: 0, world: 0};

/** Contact c, seen from the body a reader cares for most: an object before a robot before what is fixed (ties: body a). */
export function readContact(run: Run, c: number): Contact {
  const {bodies, state, point, normal, force, gap, mu, torque} = run.contacts;
  const rank = (body: number) => kRank[run.scene.bodies[body]?.role ?? 'fixed'];
  const [a, b] = [bodies[2 * c], bodies[2 * c + 1]];
  const flip = rank(b) > rank(a);
  const sign = flip ? -1 : 1;
  const at = (block: Numbers, s: number) => [s * block[3 * c], s * block[3 * c + 1], s * block[3 * c + 2]];
  const n = at(normal, sign), f = at(force, sign);
  const fn = n[0] * f[0] + n[1] * f[1] + n[2] * f[2];
  const ft = Math.hypot(f[0] - fn * n[0], f[1] - fn * n[1], f[2] - fn * n[2]);
  const limit = mu[c] * fn;
  return {
    index: c, on: flip ? b : a, from: flip ? a : b, state: state[c], point: at(point, 1), normal: n, force: f, gap: gap[c],
    mu: mu[c], fn, ft, utilisation: limit > 0 ? ft / limit : 0, torque: torque ? Math.hypot(...at(torque, 1)) : 0,
  };
}

export const readContacts = (run: Run, frame: number): Contact[] => {
  const [begin, end] = contactRange(run, frame);
  return Array.from({length: end - begin}, (_, i) => readContact(run, begin + i));
};
