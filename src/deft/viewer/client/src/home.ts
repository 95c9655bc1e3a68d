// From where a run is looked at first: a direction from which its objects can be seen.
import {Matrix4, Vector3} from 'three';
import {drawnObjects, geometryBounds, localBounds} from './bounds';
import {poseMatrix} from './pose';
import type {Run} from './run';

const kSeen = 0.75; // a direction is good enough when this part of the points is seen
const kMostObjects = 6; // looked at
const kSteep = 0.95; // [rad] elevation of the steeper views

interface Screen {
  body: number;
  X_BG: Matrix4;
  low: Vector3;
  high: Vector3;
} // a geometry by the box around it

/** Directions in order of their angle from the usual one, each also from higher up. */
function candidates(usual: Vector3): Vector3[] {
  const azimuth = Math.atan2(usual.y, usual.x),
    low = Math.asin(usual.clone().normalize().z);
  const all: Vector3[] = [];
  for (const turn of [0, 1, -1, 2, -2, 3, -3, 4]) {
    for (const elevation of [low, Math.max(low, kSteep)]) {
      const a = azimuth + (turn * Math.PI) / 4;
      all.push(new Vector3(Math.cos(elevation) * Math.cos(a), Math.cos(elevation) * Math.sin(a), Math.sin(elevation)));
    }
  }
  return all;
}

/** Whether the ray from `p` along `d`, both in the frame of a box, meets it. */
function meets(p: Vector3, d: Vector3, low: Vector3, high: Vector3): boolean {
  let enter = 0,
    leave = Infinity;
  for (let i = 0; i < 3; ++i) {
    const [a, b] = [low, high].map((corner) => (corner.getComponent(i) - p.getComponent(i)) / d.getComponent(i));
    if (Number.isNaN(a) || Number.isNaN(b)) continue; // along a face, which it does not cross
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter < leave;
}

/** Middle and the middles of the faces of a box. */
function points(low: Vector3, high: Vector3): Vector3[] {
  const middle = low.clone().add(high).multiplyScalar(0.5);
  const faces = [0, 1, 2].flatMap((i) =>
    [low, high].map((corner) => middle.clone().setComponent(i, corner.getComponent(i))),
  );
  return [middle, ...faces];
}

/** The first direction, in order of angle from the usual one, from which at least three quarters of the objects' points
 *  are seen past what stands still, at the start, in the middle and at the end; or else that from which most are.
 *  Robots hide objects from the side on which they work: from there both are seen best. The camera counts as far away,
 *  geometries as the boxes around them. */
export function clearDirection(run: Run, usual: Vector3): Vector3 {
  const {bodies} = run.scene,
    count = run.names.bodies.length;
  const objects = drawnObjects(run).filter((_, i, all) => i % Math.ceil(all.length / kMostObjects) === 0);
  if (objects.length === 0 || run.frames === 0) return usual;
  const screens: Screen[] = bodies.flatMap((body, b) =>
    (body.role === 'object' || body.role === 'robot' ? [] : body.visuals.length ? body.visuals : body.collisions)
      .map((geometry) => ({geometry, box: geometryBounds(geometry)}))
      .filter(({box}) => !box.isEmpty())
      .map(({geometry, box}) => ({body: b, X_BG: poseMatrix(geometry.X_BG), low: box.min, high: box.max})),
  );
  const frames = [...new Set([0, (run.frames - 1) >> 1, run.frames - 1])];
  const scenes = frames.map((frame) => ({
    inverses: screens.map(({body, X_BG}) =>
      poseMatrix(run.X_WB, 7 * (frame * count + body))
        .multiply(X_BG)
        .invert(),
    ),
    targets: objects.flatMap((b) => {
      const box = localBounds(bodies[b]),
        X_WB = poseMatrix(run.X_WB, 7 * (frame * count + b));
      return box.isEmpty() ? [] : points(box.min, box.max).map((p) => p.applyMatrix4(X_WB));
    }),
  }));
  const total = scenes.reduce((sum, {targets}) => sum + targets.length, 0);
  if (total === 0 || screens.length === 0) return usual;
  const seen = (direction: Vector3): number =>
    scenes.reduce((sum, {inverses, targets}) => {
      const local = inverses.map((X) => direction.clone().transformDirection(X));
      return (
        sum +
        targets.filter(
          (p) => !screens.some(({low, high}, i) => meets(p.clone().applyMatrix4(inverses[i]), local[i], low, high)),
        ).length
      );
    }, 0);

  let best = usual,
    most = -1;
  for (const direction of candidates(usual)) {
    const number = seen(direction);
    if (number >= kSeen * total) return direction;
    if (number > most) {
      best = direction;
      most = number;
    }
  }
  return best;
}
