// Reads a run from the document described in ../../README.md; alone knows what its blocks are called.
import {decodeBlock, ReadBlock} from './blocks';
import type {Explanation} from './explanation';
import type {Beside, Contacts, Patches, Plans, Reach, Run, Segment, Steps, Supports, Tracking, Tree} from './run';

/** The blocks of a document that some runs have and others have not. */
type Blocks = Record<string, unknown>;

const readContacts = (block: ReadBlock, blocks: Blocks): Contacts => {
  const gap = block('contact_gap');
  return {
    count: gap.length,
    offset: block('contact_offset'),
    bodies: block('contact_bodies'),
    state: block('contact_state'),
    point: block('contact_point_W'),
    normal: block('contact_normal_W'),
    force: block('contact_force_W'),
    gap,
    mu: block('contact_mu'),
    torque: blocks.contact_torque_W ? block('contact_torque_W') : null,
  };
};

const readSteps = (block: ReadBlock, blocks: Blocks): Steps => {
  const residual = block('step_residual');
  return {
    count: residual.length,
    status: block('step_status'),
    unique: block('step_unique'),
    iterations: block('step_iterations'),
    residual,
    solve_us: block('step_solve_us'),
    energy: block('step_energy'),
    gap_min: block('step_gap_min'),
    uniqueness: blocks.step_uniqueness ? block('step_uniqueness') : null,
  };
};

const readPatches = (block: ReadBlock): Patches => ({
  kind: block('contact_kind'),
  tangent: block('contact_tangent_W'),
  slip: block('contact_slip'),
  ellipsoid: block('contact_ellipsoid'),
});

function readSupports(header: {bodies: number[]}, block: ReadBlock): Supports {
  return {
    bodies: header.bodies,
    load: block('support_load'),
    factor: block('support_factor'),
    twist: block('support_twist'),
    form: block('support_form'),
    state: block('support_state'),
  };
}

function readPlans(header: {horizon: number; bodies: number[]; names_v: string[]}, block: ReadBlock): Plans {
  const cost = block('plan_cost');
  return {
    ...header,
    count: cost.length,
    X_WB: block('plan_X_WB'),
    cost,
    bound: block('plan_bound'),
    gap: block('plan_gap'),
    time: block('plan_time'),
    status: block('plan_status'),
    fallback: block('plan_fallback'),
    offset: block('plan_offset'),
    pairs: block('plan_pairs'),
    limits: block('plan_limits'),
    states: block('plan_states'),
  };
}

interface ReachHeader {
  radius: number;
  kappa: number | null;
  bodies: number[];
}

/** `frames` is how many frames the page has: places below are frames, the others nodes. */
function readReach(header: ReachHeader, frames: number, block: ReadBlock): Reach {
  const ofFrame = new Map<number, number>(),
    ofNode = new Map<number, number>();
  const places = block('reachable_place');
  for (let row = 0; row < places.length; ++row) {
    if (places[row] < frames) ofFrame.set(places[row], row);
    else ofNode.set(places[row] - frames, row);
  }
  return {...header, ofFrame, ofNode, ellipsoids: block('reachable_ellipsoids')};
}

interface TreeHeader {
  goal: string;
  success: boolean | null;
  total: number;
  segments: [number, number, boolean, number][];
  reachable?: ReachHeader;
}

/** `frames`: how many the page has. */
function readTree(header: TreeHeader, frames: number, block: ReadBlock): Tree {
  const parent = block('tree_parent');
  return {
    goal: header.goal,
    success: header.success,
    total: header.total,
    count: parent.length,
    parent,
    segments: joined(header.segments.map(([first, last, transit, node]) => ({first, last, transit, node}))),
    kind: block('tree_kind'),
    regrasps: block('tree_regrasps'),
    distance: block('tree_distance'),
    cost: block('tree_cost'),
    time: block('tree_time'),
    X_WB: block('tree_X_WB'),
    reach: header.reachable ? readReach(header.reachable, frames, block) : null,
  };
}

/** Roll-outs that follow each other are one: a search of single steps has a node for each step. */
function joined(segments: Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments) {
    const before = all[all.length - 1];
    if (before && !before.transit && !segment.transit && before.last === segment.first)
      Object.assign(before, {last: segment.last, node: segment.node});
    else all.push(segment);
  }
  return all;
}

function readTrack(header: {words: string[]; bodies: number[]}, block: ReadBlock): Tracking {
  return {
    ...header,
    X_WB: block('track_X_WB'),
    position: block('track_position_error'),
    rotation: block('track_rotation_error'),
    knot: block('track_knot'),
    period: block('track_period'),
    status: block('track_status'),
    plan: block('track_plan'),
  };
}

function readBeside(
  header: {title: string; here: string; bodies: number[]; tracked: boolean},
  block: ReadBlock,
): Beside {
  const {title, here, bodies} = header;
  const errors = header.tracked
    ? {position: block('beside_position_error'), rotation: block('beside_rotation_error')}
    : null;
  return {title, here, bodies, t: block('beside_t'), X_WB: block('beside_X_WB'), errors};
}

const readExplanation = (header: Omit<Explanation, 'X_WB'>, block: ReadBlock): Explanation => ({
  ...header,
  X_WB: block('failed_X_WB'),
});

/** @throws Error with a sentence for the reader if the text is not a run. */
export function parseRun(text: string): Run {
  const doc = JSON.parse(text);
  if (doc?.format !== 'deft-run') throw new Error('This is not a deft run (its “format” is not “deft-run”).');
  if (doc.version !== 1)
    throw new Error(`This page reads version 1 of the run format, the file is version ${doc.version}.`);
  const block = (name: string) => decodeBlock(name, doc.blocks[name]);
  const t = block('t');
  return {
    title: doc.title || doc.scene.name || 'run',
    scene: {
      ...doc.scene,
      settings: doc.scene.settings ?? {},
      bodies: doc.scene.bodies ?? [],
      goals: doc.scene.goals ?? [],
    },
    names: doc.names,
    u_index_q: doc.u_index_q,
    totalFrames: doc.frames.total,
    frames: t.length,
    frame: block('frame'),
    t,
    q: block('q'),
    u: block('u'),
    X_WB: block('X_WB'),
    contacts: readContacts(block, doc.blocks),
    steps: readSteps(block, doc.blocks),
    patches: doc.blocks.contact_kind ? readPatches(block) : null,
    alternatives: doc.blocks.second_frame
      ? {
          ofFrame: new Map(Array.from(block('second_frame'), (frame, row) => [frame, row])),
          X_WB: block('second_X_WB'),
          distance: block('second_distance'),
        }
      : null,
    supports: doc.supports ? readSupports(doc.supports, block) : null,
    plans: doc.control ? readPlans(doc.control, block) : null,
    tree: doc.tree ? readTree(doc.tree, t.length, block) : null,
    track: doc.track ? readTrack(doc.track, block) : null,
    beside: doc.beside ? readBeside(doc.beside, block) : null,
    explanation: doc.explanation ? readExplanation(doc.explanation, block) : null,
  };
}

/** The run inside an HTML page written by deft, or the text itself if it is JSON. Empty if the page holds no run. */
export function runText(fileText: string): string {
  if (!fileText.trimStart().startsWith('<')) return fileText;
  const page = new DOMParser().parseFromString(fileText, 'text/html');
  return page.querySelector('#deft-run')?.textContent?.trim() ?? '';
}
