import {
  BufferGeometry,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
} from 'three';
import {setPose} from './pose';
import type {Body, Geometry} from './scene';
import {hasEdges, makeGeometry} from './shapes';

/** A transparent copy of a body at its origin, in one colour. Spheres of radius 0 get `pointRadius`. `over`: drawn over
 *  bodies, with dashed edges. `triangles` are those of a geometry, if not the plain ones; their vertex colours shade
 *  the one colour. */
export function makeGhost(
  body: Body,
  colour: string,
  pointRadius: number,
  over = false,
  triangles?: (geometry: Geometry) => BufferGeometry,
): Group {
  const ghost = new Group();
  for (const geometry of body.visuals.length ? body.visuals : body.collisions) {
    if (geometry.shape.type === 'half_space') continue;
    // Behind what stands where it stands, so that the two do not flicker.
    const material = over
      ? new MeshBasicMaterial({color: colour, transparent: true, opacity: 0.2, depthWrite: false})
      : new MeshLambertMaterial({
          color: colour,
          transparent: true,
          opacity: 0.28,
          depthWrite: false,
          polygonOffset: true,
          polygonOffsetFactor: 2,
          polygonOffsetUnits: 2,
        });
    const mesh = new Mesh(triangles ? triangles(geometry) : makeGeometry(geometry.shape, pointRadius), material);
    material.vertexColors = mesh.geometry.hasAttribute('color');
    setPose(mesh, geometry.X_BG);
    if (hasEdges(geometry.shape)) {
      mesh.geometry.computeBoundingSphere();
      const dash = 0.06 * mesh.geometry.boundingSphere!.radius;
      const line = over
        ? new LineDashedMaterial({color: colour, dashSize: dash, gapSize: 0.7 * dash})
        : new LineBasicMaterial({color: colour});
      const edges = new LineSegments(new EdgesGeometry(mesh.geometry, 25), line);
      if (over) edges.computeLineDistances();
      mesh.add(edges);
    }
    ghost.add(mesh);
  }
  return ghost;
}
