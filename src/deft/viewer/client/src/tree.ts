// What the pictures of a planner's tree need of it.
import {drawnObjects} from './bounds';
import {rotationBetween} from './pose';
import type {Run, Tree} from './run';

/** Kinds by index: how a node came from its parent. */
export const kKinds = [
  {word: 'start', glyph: '■'},
  {word: 'transit (regrasp)', glyph: '◆'},
  {word: 'roll-out', glyph: '●'},
];

/** The nodes from the root to `node`. */
export function pathTo(tree: Tree, node: number): number[] {
  const path = [node];
  while (path[path.length - 1] > 0) path.push(tree.parent[path[path.length - 1]]);
  return path.reverse();
}

/** The nodes that the plan passes, from the root on. */
export function planPath(tree: Tree): number[] {
  const ends = tree.segments.filter((s) => s.node >= 0);
  return ends.length ? pathTo(tree, ends[ends.length - 1].node) : [];
}

/** The node nearest to the goal. */
export function nearestNode(tree: Tree): number {
  let best = 0;
  for (let i = 1; i < tree.count; ++i) if (tree.distance[i] < tree.distance[best]) best = i;
  return best;
}

export const range = (values: ArrayLike<number>): [number, number] => {
  let low = Infinity,
    high = -Infinity;
  for (let i = 0; i < values.length; ++i) {
    if (!Number.isFinite(values[i])) continue;
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  return low <= high ? [low, high] : [0, 1];
};

/** A number of every node; `goal` is its value at the goal where the goal says. */
export interface Axis {
  name: string;
  unit: string;
  values: ArrayLike<number>;
  goal: number | null;
}

/** “ball” for “ball/ball”. */
const shortName = (run: Run, body: number): string => run.names.bodies[body].replace(/^(.*)\/\1$/, '$1');

const kLetters = ['x', 'y', 'z'];
const kRadian = 180 / Math.PI;

/** Coordinates of the objects that differ in the tree (those that the goal changes most first), then the tree's own
 *  numbers. */
export function axesOf(run: Run, tree: Tree): Axis[] {
  const coordinates: Axis[] = [];
  drawnObjects(run).forEach((b) => {
    const at =
      run.scene.goals.find((goal) => goal.name === tree.goal)?.bodies.find((placed) => placed.body === b)?.X_WB ?? null;
    coordinates.push(...positions(run, tree, b, at), ...rotations(run, tree, b, at));
  });
  const weight = (axis: Axis) => (axis.unit === 'm' ? 1 : 1 / kRadian);
  const way = (axis: Axis) => (axis.goal === null ? 0 : weight(axis) * Math.abs(axis.goal - axis.values[0]));
  const varied = coordinates.filter((axis) => {
    const [low, high] = range(axis.values);
    return weight(axis) * (high - low) > 1e-4;
  });
  return [
    ...varied.sort((a, b) => way(b) - way(a)),
    {name: 'distance to the goal', unit: 'm', values: tree.distance, goal: 0},
    {name: 'cost from the start', unit: 's', values: tree.cost, goal: null},
    {name: 'grown after', unit: 's', values: tree.time, goal: null},
    {name: 'regrasps', unit: '1', values: tree.regrasps, goal: null},
  ];
}

/** Which two axes show most: the coordinate that the goal changes most, and another one that it changes, or the
 *  cost. */
export function firstAxes(axes: Axis[]): [number, number] {
  const cost = axes.findIndex((axis) => axis.name.startsWith('cost'));
  const changed = (i: number) =>
    axes[i].goal !== null && Math.abs(axes[i].goal! - axes[i].values[0]) > (axes[i].unit === 'm' ? 1e-3 : 0.5);
  const coordinates = cost - 1;
  return [coordinates > 0 ? 0 : cost - 1, coordinates > 1 && changed(1) ? 1 : cost];
}

function positions(run: Run, tree: Tree, body: number, goal: number[] | null): Axis[] {
  const row = 7 * run.names.bodies.length;
  return kLetters.map((letter, i) => ({
    name: `${shortName(run, body)} ${letter}`,
    unit: 'm',
    goal: goal ? goal[4 + i] : null,
    values: Float64Array.from({length: tree.count}, (_, n) => tree.X_WB[n * row + 7 * body + 4 + i]),
  }));
}

/** Rotation vectors since the start [°]; of the vectors of one rotation, r + 360° k r/|r|, the one next to the
 *  parent's. */
function rotations(run: Run, tree: Tree, body: number, goal: number[] | null): Axis[] {
  const row = 7 * run.names.bodies.length;
  const values = kLetters.map(() => new Float64Array(tree.count));
  for (let n = 1; n < tree.count; ++n) {
    const r = rotationBetween(tree.X_WB, 7 * body, n * row + 7 * body);
    nextTo(
      r,
      values.map((list) => list[tree.parent[n]]),
    ).forEach((angle, i) => {
      values[i][n] = angle;
    });
  }
  let target: number[] | null = null;
  if (goal) {
    const both = [...Array.from({length: 7}, (_, i) => tree.X_WB[7 * body + i]), ...goal];
    const nearest = nearestNode(tree);
    target = nextTo(
      rotationBetween(both, 0, 7),
      values.map((list) => list[nearest]),
    );
  }
  return kLetters.map((letter, i) => ({
    name: `${shortName(run, body)} rotation ${letter}`,
    unit: '°',
    values: values[i],
    goal: target ? target[i] : null,
  }));
}

function nextTo(r: number[], near: number[]): number[] {
  const size = Math.hypot(...r);
  if (size < 1e-9) return r;
  const along = (near[0] * r[0] + near[1] * r[1] + near[2] * r[2]) / size;
  const turns = Math.round((along - size) / 360);
  return r.map((angle) => angle * (1 + (360 * turns) / size));
}
