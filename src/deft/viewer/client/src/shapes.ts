import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three';
import {toCreasedNormals} from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import type {Shape} from './scene';

type Bounded = Exclude<Shape, {type: 'half_space'}>;

const kCrease = (35 * Math.PI) / 180; // [rad] faces that meet at a larger angle keep a sharp edge
const kFineMesh = 60_000; // indices; above, edges are neither sharpened nor outlined: it would take seconds

const made = new WeakMap<Shape, BufferGeometry>();

/** Triangles of a bounded shape, in its own frame, made once. Capsules and cylinders lie along z; `length` is that of
 *  the straight part. Spheres of radius 0 (points) are drawn with `pointRadius`. */
export function makeGeometry(shape: Bounded, pointRadius: number): BufferGeometry {
  if (shape.type === 'sphere' && shape.radius === 0) return new SphereGeometry(pointRadius, 24, 16);
  let geometry = made.get(shape);
  if (!geometry) made.set(shape, (geometry = triangulate(shape)));
  return geometry;
}

/** `around`: pieces of a full turn of round shapes. */
function triangulate(shape: Bounded, around?: number): BufferGeometry {
  switch (shape.type) {
    case 'sphere':
      return new SphereGeometry(shape.radius, around ?? 40, 24);
    case 'box':
      return new BoxGeometry(...(shape.size as [number, number, number]));
    case 'capsule':
      return new CapsuleGeometry(shape.radius, shape.length, 12, around ?? 32).rotateX(Math.PI / 2);
    case 'cylinder':
      return new CylinderGeometry(shape.radius, shape.radius, shape.length, around ?? 48).rotateX(Math.PI / 2);
    case 'ellipsoid':
      return new SphereGeometry(1, 40, 24).scale(...(shape.radii as [number, number, number]));
    case 'mesh': {
      const mesh = new BufferGeometry();
      mesh.setAttribute('position', new BufferAttribute(new Float32Array(shape.vertices), 3));
      if (shape.colors) mesh.setAttribute('color', linearColours(shape.colors));
      mesh.setIndex(shape.triangles);
      if (shape.triangles.length <= kFineMesh) return toCreasedNormals(mesh, kCrease);
      mesh.computeVertexNormals();
      return mesh;
    }
  }
}

/** Colours of vertices as they are stored, in sRGB, in the light that three computes with. */
function linearColours(colours: number[]): BufferAttribute {
  const colour = new Color(),
    values = new Float32Array(colours.length);
  for (let i = 0; i < colours.length; i += 3)
    colour.setRGB(colours[i], colours[i + 1], colours[i + 2], 'srgb').toArray(values, i);
  return new BufferAttribute(values, 3);
}

const kSectors = 6; // odd in half a turn: a half turn exchanges the tones
const kDarkTone = 0.42; // of the colour, in linear light

type Round = Extract<Shape, {type: 'sphere' | 'cylinder' | 'capsule'}>;

/** Whether a shape looks the same however it turns about an axis. */
export const isRound = (shape: Shape): shape is Round =>
  (shape.type === 'sphere' && shape.radius > 0) || shape.type === 'cylinder' || shape.type === 'capsule';

const madeInTones = new Map<string, BufferGeometry>(); // shared by equal shapes: piles have a thousand of one

/** A round shape's triangles with vertex colours: sectors between meridians, light and dark in turn. Cylinders and
 *  capsules have their meridians about their own z, balls about `pole` (their frame). */
export function makeSectors(shape: Round, pole: Vector3): BufferGeometry {
  const key = JSON.stringify([shape, shape.type === 'sphere' ? pole.toArray().map((x) => x.toFixed(6)) : null]);
  let geometry = madeInTones.get(key);
  if (!geometry) madeInTones.set(key, (geometry = inSectors(shape, pole)));
  return geometry;
}

function inSectors(shape: Round, pole: Vector3): BufferGeometry {
  const smooth = triangulate(shape, 8 * kSectors);
  if (shape.type === 'sphere') smooth.rotateX(Math.PI / 2); // its poles on z, as the others have them
  const geometry = smooth.toNonIndexed(),
    at = geometry.getAttribute('position');
  const tones = new Float32Array(3 * at.count);
  for (let v = 0; v < at.count; v += 3) {
    const mean = (pick: (i: number) => number) => pick(v) + pick(v + 1) + pick(v + 2);
    const angle = Math.atan2(
      mean((i) => at.getY(i)),
      mean((i) => at.getX(i)),
    );
    const sector = Math.floor((angle / (2 * Math.PI) + 1) * kSectors);
    tones.fill(sector % 2 ? kDarkTone : 1, 3 * v, 3 * v + 9);
  }
  geometry.setAttribute('color', new BufferAttribute(tones, 3));
  return shape.type === 'sphere'
    ? geometry.applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), pole))
    : geometry;
}

/** Whether a line along the sharp edges helps to read the shape. */
export const hasEdges = (shape: Shape): boolean =>
  shape.type === 'box' || shape.type === 'cylinder' || (shape.type === 'mesh' && shape.triangles.length <= kFineMesh);
