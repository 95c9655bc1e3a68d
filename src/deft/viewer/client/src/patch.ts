// What the model of the equivalent contact point says of a contact: what the bodies share there, how they slide, what
// friction can bear. See ../../README.md.
import {Matrix4, Vector3} from 'three';
import type {Numbers} from './blocks';
import {Contact, contactRange, readContact} from './contact';
import type {Kind} from './kind';
import {poseMatrix} from './pose';
import type {Run} from './run';

/** One contact, as its body `on` meets it: axes t, o = n × t, n; slips of that body against the other; forces on it. */
export interface Patch {
  contact: Contact;
  kind: number;
  axes: [Vector3, Vector3, Vector3];
  slip: number[]; // v_t, v_o [m/s], v_r [rad/s]
  force: number[]; // f_t, f_o [N], torsion about n [N·m]
  largest: number[]; // the friction ellipsoid's semi-axes e_t μ f_n, e_o μ f_n [N], e_r μ f_n [N·m]
  used: number; // of what friction can bear: 1 on the ellipsoid
}

const kNothing = 1e-9; // [N] of a normal force

export const hasPatch = (run: Run, c: number): boolean => run.patches !== null && run.patches.kind[c] > 0;

/** Contact c, or null if its model reports no kind. */
export function readPatch(run: Run, c: number): Patch | null {
  const {patches} = run;
  if (!patches || !(patches.kind[c] > 0)) return null;
  const contact = readContact(run, c),
    flip = contact.on !== run.contacts.bodies[2 * c];
  const vector = (block: Numbers) => [block[3 * c], block[3 * c + 1], block[3 * c + 2]];
  const n = new Vector3(...contact.normal),
    t = new Vector3(...vector(patches.tangent)),
    o = n.clone().cross(t);
  // Of b against a, along −n: o = n × t turns over with n, and so v_o and v_r stay.
  const [v_t, v_o, v_r] = vector(patches.slip),
    f = new Vector3(...contact.force),
    torque = run.contacts.torque ? new Vector3(...vector(run.contacts.torque)) : new Vector3();
  const force = [f.dot(t), f.dot(o), (flip ? -1 : 1) * torque.dot(n)],
    limit = contact.mu * Math.max(0, contact.fn);
  const largest = vector(patches.ellipsoid).map((e) => e * limit);
  return {
    contact,
    kind: patches.kind[c],
    axes: [t, o, n],
    slip: [flip ? -v_t : v_t, v_o, v_r],
    force,
    largest,
    used: limit > 0 ? Math.hypot(...force.map((x, i) => (largest[i] > 0 ? x / largest[i] : 0))) : 0,
  };
}

/** The contacts of one pair over the run, at most one per frame; a second one of the same pair is a track of
 *  its own. */
export interface Track {
  name: string;
  short: string;
  body: number;
  at: Int32Array;
  load: number;
}

const known = new WeakMap<Run, Track[]>();

/** The most loaded first. */
export function tracks(run: Run): Track[] {
  const made = known.get(run);
  if (made) return made;
  const found = new Map<string, Track>(),
    names = run.names.bodies;
  for (let frame = 1; run.patches && frame < run.frames; ++frame) {
    const seen = new Map<string, number>(),
      [begin, end] = contactRange(run, frame);
    for (let c = begin; c < end; ++c) {
      if (!hasPatch(run, c)) continue;
      const {on, from, fn} = readContact(run, c),
        pair = `${on}-${from}`,
        count = (seen.get(pair) ?? 0) + 1,
        key = `${pair}-${count}`;
      seen.set(pair, count);
      let track = found.get(key);
      if (!track) {
        track = {
          name: `${names[on]} – ${names[from]}${count > 1 ? ` (${count})` : ''}`,
          short: names[on],
          body: on,
          at: new Int32Array(run.frames).fill(-1),
          load: 0,
        };
        found.set(key, track);
      }
      track.at[frame] = c;
      if (Number.isFinite(fn)) track.load += fn;
    }
  }
  const all = [...found.values()].sort((a, b) => b.load - a.load);
  for (const track of all)
    if (all.some((other) => other !== track && other.body === track.body)) track.short = track.name;
  known.set(run, all);
  return all;
}

/** Whether the contact of a track bears a force at a frame. */
export const bears = (run: Run, track: Track, frame: number): boolean =>
  track.at[frame] >= 0 &&
  run.contacts.state[track.at[frame]] > 0 &&
  Math.abs(readContact(run, track.at[frame]).fn) > kNothing;

const poses = new Matrix4();

/** Where the equivalent contact point is in the frame of the track's body; null where nothing is borne. */
export function placeOnBody(run: Run, track: Track, frame: number): Vector3 | null {
  if (!bears(run, track, frame)) return null;
  const {point} = run.contacts,
    c = track.at[frame];
  poses.copy(poseMatrix(run.X_WB, 7 * (frame * run.names.bodies.length + track.body))).invert();
  return new Vector3(point[3 * c], point[3 * c + 1], point[3 * c + 2]).applyMatrix4(poses);
}

/** Of all tracks the one with most to see: the most kinds, then the longest way over the body. */
export function liveliestTrack(run: Run): Track {
  const score = (track: Track) => {
    const kinds = new Set<number>();
    let way = 0,
      before: Vector3 | null = null;
    for (let frame = 1; frame < run.frames; ++frame) {
      const place = placeOnBody(run, track, frame);
      if (place) kinds.add(run.patches!.kind[track.at[frame]]);
      if (place && before) way += place.distanceTo(before);
      before = place;
    }
    return kinds.size + way / (1 + way);
  };
  const scores = new Map(tracks(run).map((track) => [track, score(track)]));
  return tracks(run).reduce((best, track) => (scores.get(track)! > scores.get(best)! ? track : best));
}

/** Its normal there, towards the body's inside. */
export function normalOnBody(run: Run, track: Track, frame: number): Vector3 {
  poses.copy(poseMatrix(run.X_WB, 7 * (frame * run.names.bodies.length + track.body))).invert();
  return new Vector3(...readContact(run, track.at[frame]).normal).transformDirection(poses);
}

/** Kinds by number: word, glyph, colour (as in style.css), how the strip shows them. */
const kApart: Kind = {
  rank: 0,
  word: 'apart',
  many: 'apart',
  meaning: 'apart',
  colour: '--good',
  fill: 'none',
  mark: '',
};
export const kKinds: (Kind & {glyph: string; hex: string})[] = [
  {...kApart, glyph: '·', hex: '#7b8490'},
  {
    rank: 1,
    word: 'point',
    many: 'point',
    meaning: 'the bodies share a point',
    colour: '--point',
    fill: 'dots',
    mark: 'dot',
    glyph: '●',
    hex: '#1f6fd6',
  },
  {
    rank: 2,
    word: 'line',
    many: 'line',
    meaning: 'the bodies share a line',
    colour: '--line-contact',
    fill: 'stripes',
    mark: 'dash',
    glyph: '▬',
    hex: '#875500',
  },
  {
    rank: 3,
    word: 'surface',
    many: 'surface',
    meaning: 'the bodies share a surface',
    colour: '--surface-contact',
    fill: 'solid',
    mark: 'hexagon',
    glyph: '⬢',
    hex: '#0f8f6c',
  },
];

/** What the bodies of a track share in a step. */
export const kindInStep =
  (track: Track) =>
  (run: Run, step: number): Kind =>
    bears(run, track, step + 1) ? (kKinds[run.patches!.kind[track.at[step + 1]]] ?? kKinds[0]) : kKinds[0];

/** “cube – floor: line”, for each pair that bears a force. */
export const kindText = (run: Run, frame: number): string =>
  tracks(run)
    .filter((track) => bears(run, track, frame))
    .map((track) => `${track.name}: ${kindInStep(track)(run, frame - 1).word}`)
    .join(', ');
