// Where the next command brings bodies, to first order: ellipsoids of positions and of turns, at frames of the run and at nodes.
import {Vector3} from 'three';

type Numbers = Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** Rows of `ellipsoids` [rows × bodies × 8 × 3]: centre of mass and where it goes if the command stays [m], semi-axes of its positions
 *  [m], semi-axes of the turns [rad], longest first, world axes. `ofFrame` and `ofNode` hold the row of each frame and node that has one. */
export interface Reach {
  radius: number; kappa: number | null; bodies: number[]; ofFrame: Map<number, number>; ofNode: Map<number, number>; ellipsoids: Numbers;
}

/** What one command reaches of one body. */
export interface BodyReach {body: number; com: Vector3; center: Vector3; shifts: Vector3[]; turns: Vector3[]}

interface Header {radius: number; kappa: number | null; bodies: number[]}

/** `frames` is how many frames the page has: places below are frames, the others nodes. */
export function readReach(header: Header, frames: number, block: (name: string) => Numbers): Reach {
  const ofFrame = new Map<number, number>(), ofNode = new Map<number, number>();
  const places = block('reachable_place');
  for (let row = 0; row < places.length; ++row) {
    if (places[row] < frames) ofFrame.set(places[row], row);
    else ofNode.set(places[row] - frames, row);
  }
  return {...header, ofFrame, ofNode, ellipsoids: block('reachable_ellipsoids')};
}

/** The sets of all bodies in a row. */
export function reachAt(reach: Reach, row: number): BodyReach[] {
  return reach.bodies.map((body, i) => {
    const vector = (k: number) => new Vector3().fromArray(reach.ellipsoids as Float32Array, 3 * (8 * (row * reach.bodies.length + i) + k));
    return {body, com: vector(0), center: vector(1), shifts: [2, 3, 4].map(vector), turns: [5, 6, 7].map(vector)};
  });
}

export const degrees = (radians: number): number => (radians * 180) / Math.PI;
