// What the plots show, taken from the run. A null is a moment without a value.
import {readContact} from './contact';
import {rotationBetween} from './pose';
import type {Run} from './run';

export interface Pair {
  key: string;
  name: string;
  load: number;
  byRobot: boolean;
  contacts: number[];
  frames: number[];
}

/** The pairs of bodies that came near each other, the most loaded first (sum of normal forces over the run). */
export function contactPairs(run: Run): Pair[] {
  const pairs = new Map<string, Pair>();
  for (let k = 1; k < run.frames; ++k) {
    for (let c = run.contacts.offset[k - 1]; c < run.contacts.offset[k]; ++c) {
      const contact = readContact(run, c);
      const key = [contact.on, contact.from].sort((a, b) => a - b).join('-');
      let pair = pairs.get(key);
      if (!pair) {
        pair = {
          key,
          name: `${run.names.bodies[contact.on]} – ${run.names.bodies[contact.from]}`,
          load: 0,
          byRobot: [contact.on, contact.from].some((b) => run.scene.bodies[b]?.role === 'robot'),
          contacts: [],
          frames: [],
        };
        pairs.set(key, pair);
      }
      if (Number.isFinite(contact.fn)) pair.load += contact.fn;
      pair.contacts.push(c);
      pair.frames.push(k);
    }
  }
  return [...pairs.values()].sort((a, b) => b.load - a.load);
}

export interface PairSeries {
  gap: (number | null)[];
  fn: (number | null)[];
  ft: (number | null)[];
  product: (number | null)[];
}

/** Smallest gap [mm], sums of normal and tangential force [N], largest |gap · f_n| [mJ] over the points of a pair, per
 *  frame. */
export function pairSeries(run: Run, pair: Pair): PairSeries {
  const blank = () => new Array<number | null>(run.frames).fill(null);
  const series = {gap: blank(), fn: blank(), ft: blank(), product: blank()};
  pair.contacts.forEach((c, i) => {
    const k = pair.frames[i];
    const {gap, fn, ft} = readContact(run, c);
    series.gap[k] = Math.min(series.gap[k] ?? Infinity, 1e3 * gap);
    series.fn[k] = (series.fn[k] ?? 0) + fn;
    series.ft[k] = (series.ft[k] ?? 0) + ft;
    series.product[k] = Math.max(series.product[k] ?? 0, Math.abs(1e3 * gap * fn));
  });
  return series;
}

/** Whether commands are velocities of the joints; of all other models they are their targets. */
export const commandsVelocities = (run: Run): boolean => run.scene.settings.model === 'limit-surface';

/** Index of the command that drives coordinate i, or −1. Runs without u_index_q are matched by name. */
export const commandOf = (run: Run, i: number): number =>
  run.u_index_q.length ? run.u_index_q.indexOf(i) : run.names.u.indexOf(run.names.q[i]);

export const coordinate = (run: Run, i: number): number[] =>
  Array.from({length: run.frames}, (_, k) => run.q[k * run.names.q.length + i]);

/** The command of a step is shown where the step ends. */
export const command = (run: Run, i: number): (number | null)[] =>
  Array.from({length: run.frames}, (_, k) => (k === 0 ? null : run.u[(k - 1) * run.names.u.length + i]));

/** Mean velocity of a coordinate since the frame before. */
export const velocity = (run: Run, i: number): (number | null)[] => {
  const q = coordinate(run, i);
  return q.map((x, k) => (k === 0 ? null : (x - q[k - 1]) / (run.t[k] - run.t[k - 1])));
};

/** The coordinate that moves most, among the commanded ones if there are any. */
export function liveliest(run: Run, among: number[]): number {
  const travel = (i: number) => {
    let low = Infinity,
      high = -Infinity;
    for (let k = 0; k < run.frames; ++k) {
      const x = run.q[k * run.names.q.length + i];
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    return high - low;
  };
  return among.reduce((best, i) => (travel(i) > travel(best) ? i : best), among[0]);
}

/** Position [m] and rotation from the start [deg, rotation vector in world axes] of a body: six lists. */
export function poseSeries(run: Run, body: number): number[][] {
  const lists: number[][] = Array.from({length: 6}, () => []);
  for (let k = 0; k < run.frames; ++k) {
    const at = 7 * (k * run.names.bodies.length + body),
      start = 7 * body;
    for (let i = 0; i < 3; ++i) lists[i].push(run.X_WB[at + 4 + i]);
    rotationBetween(run.X_WB, start, at).forEach((angle, i) => lists[3 + i].push(angle));
  }
  return lists;
}

/** Unit of a coordinate as far as its name says: quaternions have none, x, y, z and s are lengths, other joints turn or
 *  slide. */
export function unitOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  if (/^q[wxyz]$/.test(last)) return '1';
  if (/^[xyzs]$/.test(last)) return 'm';
  return last === 'theta' ? 'rad' : 'rad or m';
}

/** Unit of a coordinate's velocity. */
export const rateUnitOf = (name: string): string =>
  unitOf(name)
    .split(' or ')
    .map((unit) => `${unit}/s`)
    .join(' or ');
