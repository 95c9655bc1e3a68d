// How large bodies are, and where they come in a run.
import {Box3, Vector3} from 'three';
import {poseMatrix} from './pose';
import type {Run} from './run';
import type {Body, Geometry} from './scene';
import {makeGeometry} from './shapes';

/** Bounds of a geometry in its own frame; half-spaces have none. */
export function geometryBounds(geometry: Geometry): Box3 {
  if (geometry.shape.type === 'half_space') return new Box3();
  const triangles = makeGeometry(geometry.shape, 0);
  triangles.computeBoundingBox();
  return triangles.boundingBox!.clone();
}

/** Bounds of what is drawn of a body, in its frame. */
export function localBounds(body: Body): Box3 {
  const box = new Box3();
  for (const geometry of body.visuals.length ? body.visuals : body.collisions) {
    const bounds = geometryBounds(geometry);
    if (!bounds.isEmpty()) box.union(bounds.applyMatrix4(poseMatrix(geometry.X_BG)));
  }
  return box;
}

/** Indices of the objects' bodies that are drawn; of all of them if none is. */
export function drawnObjects(run: Run): number[] {
  const objects = run.scene.bodies.map((_, b) => b).filter((b) => run.scene.bodies[b].role === 'object');
  const drawn = objects.filter((b) => !localBounds(run.scene.bodies[b]).isEmpty());
  return drawn.length ? drawn : objects;
}

/** The middle one of the objects' radii, or of all bodies' if there are no objects: what forces are drawn in proportion
 *  to. */
export function typicalRadius(run: Run): number {
  for (const wanted of [['object'], ['robot', 'fixed', 'world']]) {
    const radii = run.scene.bodies
      .filter((body) => wanted.includes(body.role))
      .map(localBounds)
      .filter((box) => !box.isEmpty())
      .map((box) => box.getSize(new Vector3()).length() / 2)
      .filter((r) => r > 0)
      .sort((a, b) => a - b);
    if (radii.length) return radii[radii.length >> 1];
  }
  return Infinity;
}

/** The box that holds what moves (robots and objects) over the whole run; without any of them, everything bounded. */
export function boundsOfMotion(run: Run): Box3 {
  const num_bodies = run.names.bodies.length;
  const local = run.scene.bodies.map(localBounds);
  const stride = Math.max(1, Math.floor(run.frames / 40));
  for (const wanted of [
    ['robot', 'object'],
    ['fixed', 'world'],
  ]) {
    const all = new Box3();
    run.scene.bodies.forEach((body, b) => {
      if (!wanted.includes(body.role) || local[b].isEmpty()) return;
      for (let k = 0; k < run.frames; k += stride) {
        const box = local[b].clone().applyMatrix4(poseMatrix(run.X_WB, 7 * (k * num_bodies + b)));
        if (Number.isFinite(box.min.length() + box.max.length())) all.union(box);
      }
    });
    if (!all.isEmpty()) return all;
  }
  return new Box3(new Vector3(-0.5, -0.5, 0), new Vector3(0.5, 0.5, 0.5));
}
