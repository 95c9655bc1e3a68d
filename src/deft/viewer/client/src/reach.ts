// Where the next command brings bodies, to first order: ellipsoids of positions and of turns, at frames of the run and
// at nodes.
import {Vector3} from 'three';
import type {Reach} from './run';

/** What one command reaches of one body. */
export interface BodyReach {
  body: number;
  com: Vector3;
  center: Vector3;
  shifts: Vector3[];
  turns: Vector3[];
}

/** The sets of all bodies in a row. */
export function reachAt(reach: Reach, row: number): BodyReach[] {
  return reach.bodies.map((body, i) => {
    const vector = (k: number) =>
      new Vector3().fromArray(reach.ellipsoids as Float32Array, 3 * (8 * (row * reach.bodies.length + i) + k));
    return {body, com: vector(0), center: vector(1), shifts: [2, 3, 4].map(vector), turns: [5, 6, 7].map(vector)};
  });
}

export const degrees = (radians: number): number => (radians * 180) / Math.PI;
