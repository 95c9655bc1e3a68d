import {BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, SphereGeometry} from 'three';
import {toCreasedNormals} from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import type {Shape} from './run';

const kCrease = (35 * Math.PI) / 180; // [rad] faces that meet at a larger angle keep a sharp edge

/** Triangles of a bounded shape, in its own frame. Capsules and cylinders lie along z; `length` is that of the straight part. */
export function makeGeometry(shape: Exclude<Shape, {type: 'half_space'}>, pointRadius: number): BufferGeometry {
  switch (shape.type) {
    case 'sphere': return new SphereGeometry(shape.radius || pointRadius, 40, 24);
    case 'box': return new BoxGeometry(...(shape.size as [number, number, number]));
    case 'capsule': return new CapsuleGeometry(shape.radius, shape.length, 12, 32).rotateX(Math.PI / 2);
    case 'cylinder': return new CylinderGeometry(shape.radius, shape.radius, shape.length, 48).rotateX(Math.PI / 2);
    case 'ellipsoid': return new SphereGeometry(1, 40, 24).scale(...(shape.radii as [number, number, number]));
    case 'mesh': {
      const indexed = new BufferGeometry();
      indexed.setAttribute('position', new BufferAttribute(new Float32Array(shape.vertices), 3));
      indexed.setIndex(shape.triangles);
      return toCreasedNormals(indexed, kCrease);
    }
  }
}

/** Whether a line along the sharp edges helps to read the shape. */
export const hasEdges = (shape: Shape): boolean => ['box', 'cylinder', 'mesh'].includes(shape.type);
