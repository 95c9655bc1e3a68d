import {Matrix4, Object3D, Quaternion, Vector3} from 'three';
import type {Pose} from './scene';

/** Here and in poseOf only quaternions change between deft's wxyz and three's xyzw. */
function toQuaternion(X: Pose, i: number, out: Quaternion): Quaternion {
  return out.set(X[i + 1], X[i + 2], X[i + 3], X[i]);
}

/** object ← the pose [qw, qx, qy, qz, x, y, z] at X[i…]. */
export function setPose(object: Object3D, X: Pose, i = 0): void {
  toQuaternion(X, i, object.quaternion);
  object.position.set(X[i + 4], X[i + 5], X[i + 6]);
}

const next = new Quaternion();
const nextPosition = new Vector3();

/** object ← between the poses at X[i…] and X[j…]; for display while playing only. */
export function setPoseBetween(object: Object3D, X: Pose, i: number, j: number, part: number): void {
  setPose(object, X, i);
  object.quaternion.slerp(toQuaternion(X, j, next), part);
  object.position.lerp(nextPosition.set(X[j + 4], X[j + 5], X[j + 6]), part);
}

export function poseMatrix(X: Pose, i = 0): Matrix4 {
  const position = new Vector3(X[i + 4], X[i + 5], X[i + 6]);
  return new Matrix4().compose(position, toQuaternion(X, i, new Quaternion()), new Vector3(1, 1, 1));
}

const orientation = new Quaternion();
const origin = new Vector3();
const unit = new Vector3();

/** The pose of a rigid motion. */
export function poseOf(matrix: Matrix4): number[] {
  matrix.decompose(origin, orientation, unit);
  return [orientation.w, orientation.x, orientation.y, orientation.z, origin.x, origin.y, origin.z];
}

/** The rotation vector [deg, world axes] from the pose at X[i…] to the one at X[j…]. */
export function rotationBetween(X: Pose, i: number, j: number): [number, number, number] {
  const turn = toQuaternion(X, j, new Quaternion()).multiply(toQuaternion(X, i, new Quaternion()).invert());
  if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
  const sine = Math.hypot(turn.x, turn.y, turn.z);
  const scale = sine < 1e-12 ? 0 : (2 * Math.atan2(sine, turn.w) * 180) / Math.PI / sine;
  return [turn.x * scale, turn.y * scale, turn.z * scale];
}
