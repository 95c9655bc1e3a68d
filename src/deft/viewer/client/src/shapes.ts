import {BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, SphereGeometry} from 'three';
import {toCreasedNormals} from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import type {Shape} from './run';

type Bounded = Exclude<Shape, {type: 'half_space'}>;

const kCrease = (35 * Math.PI) / 180;  // [rad] faces that meet at a larger angle keep a sharp edge
const kFineMesh = 60_000;              // indices; above, edges are neither sharpened nor outlined: it would take seconds

const made = new WeakMap<Shape, BufferGeometry>();

/** Triangles of a bounded shape, in its own frame, made once. Capsules and cylinders lie along z; `length` is that of the straight
 *  part. Spheres of radius 0 (points) are drawn with `pointRadius`. */
export function makeGeometry(shape: Bounded, pointRadius: number): BufferGeometry {
  if (shape.type === 'sphere' && shape.radius === 0) return new SphereGeometry(pointRadius, 24, 16);
  let geometry = made.get(shape);
  if (!geometry) made.set(shape, (geometry = triangulate(shape)));
  return geometry;
}

function triangulate(shape: Bounded): BufferGeometry {
  switch (shape.type) {
    case 'sphere': return new SphereGeometry(shape.radius, 40, 24);
    case 'box': return new BoxGeometry(...(shape.size as [number, number, number]));
    case 'capsule': return new CapsuleGeometry(shape.radius, shape.length, 12, 32).rotateX(Math.PI / 2);
    case 'cylinder': return new CylinderGeometry(shape.radius, shape.radius, shape.length, 48).rotateX(Math.PI / 2);
    case 'ellipsoid': return new SphereGeometry(1, 40, 24).scale(...(shape.radii as [number, number, number]));
    case 'mesh': {
      const mesh = new BufferGeometry();
      mesh.setAttribute('position', new BufferAttribute(new Float32Array(shape.vertices), 3));
      mesh.setIndex(shape.triangles);
      if (shape.triangles.length <= kFineMesh) return toCreasedNormals(mesh, kCrease);
      mesh.computeVertexNormals();
      return mesh;
    }
  }
}

/** Whether a line along the sharp edges helps to read the shape. */
export const hasEdges = (shape: Shape): boolean =>
  shape.type === 'box' || shape.type === 'cylinder' || (shape.type === 'mesh' && shape.triangles.length <= kFineMesh);
