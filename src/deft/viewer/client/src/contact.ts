// Contacts of a run, one by one, as a reader looks at them.
import type {Numbers} from './blocks';
import type {Run} from './run';
import type {Role} from './scene';

/** First and last + 1 index of the contacts shown at a frame. */
export function contactRange(run: Run, frame: number): [number, number] {
  return frame < 1 ? [0, 0] : [run.contacts.offset[frame - 1], run.contacts.offset[frame]];
}

/** Everything one contact shows, in SI units; forces as they act on body `on`. */
export interface Contact {
  index: number;
  on: number;
  from: number;
  state: number;
  point: number[];
  normal: number[];
  force: number[];
  gap: number;
  mu: number;
  fn: number;
  ft: number;
  utilisation: number;
  torque: number;
}

const kRank: Record<Role, number> = {object: 2, robot: 1, fixed: 0, world: 0};

/** Contact c, seen from the body a reader cares for most: an object before a robot before what is fixed (ties:
 *  body a). */
export function readContact(run: Run, c: number): Contact {
  const {bodies, state, point, normal, force, gap, mu, torque} = run.contacts;
  const rank = (body: number) => kRank[run.scene.bodies[body]?.role ?? 'fixed'];
  const [a, b] = [bodies[2 * c], bodies[2 * c + 1]];
  const flip = rank(b) > rank(a);
  const sign = flip ? -1 : 1;
  const at = (block: Numbers, s: number) => [s * block[3 * c], s * block[3 * c + 1], s * block[3 * c + 2]];
  const n = at(normal, sign),
    f = at(force, sign);
  const fn = n[0] * f[0] + n[1] * f[1] + n[2] * f[2];
  const ft = Math.hypot(f[0] - fn * n[0], f[1] - fn * n[1], f[2] - fn * n[2]);
  const limit = mu[c] * fn;
  return {
    index: c,
    on: flip ? b : a,
    from: flip ? a : b,
    state: state[c],
    point: at(point, 1),
    normal: n,
    force: f,
    gap: gap[c],
    mu: mu[c],
    fn,
    ft,
    utilisation: limit > 0 ? ft / limit : 0,
    torque: torque ? Math.hypot(...at(torque, 1)) : 0,
  };
}

export const readContacts = (run: Run, frame: number): Contact[] => {
  const [begin, end] = contactRange(run, frame);
  return Array.from({length: end - begin}, (_, i) => readContact(run, begin + i));
};
