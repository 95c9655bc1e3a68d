import {
  CanvasTexture,
  CircleGeometry,
  Color,
  DoubleSide,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  Quaternion,
  ShaderMaterial,
  Vector3,
} from 'three';
import {cssColour} from './dom';

const kReach = 12; // radius of what is drawn of an infinite plane, in radii of the scene

/** A round texture that fades to nothing at its rim. */
function fade(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 256;
  const paper = canvas.getContext('2d')!;
  const gradient = paper.createRadialGradient(128, 128, 0, 128, 128, 128);
  gradient.addColorStop(0, '#fff');
  gradient.addColorStop(0.35, '#fff');
  gradient.addColorStop(1, '#000');
  paper.fillStyle = gradient;
  paper.fillRect(0, 0, 256, 256);
  return new CanvasTexture(canvas);
}

/** The surface of a half-space: a wide disc about `center` (frame of the plane's parent) that fades out. */
export function makePlane(normal: Vector3, offset: number, center: Vector3, radius: number): Mesh {
  const material = new MeshLambertMaterial({transparent: true, alphaMap: fade(), depthWrite: false, side: DoubleSide});
  const plane = new Mesh(new CircleGeometry(kReach * radius, 96), material);
  place(plane, normal, offset, center);
  plane.receiveShadow = true;
  plane.renderOrder = -2;
  return plane;
}

const kDeep = 6; // of a wall, in radii of the scene

/** A half-space that stands upright on the plane of motion, seen from above: a box on its solid side, as high as what
 *  moves.
 *  @param X_WG  of the half-space; `low` and `high` are the box of what moves. Returns the box's size and pose in the
 *  world. */
export function wallBox(
  X_WG: Matrix4,
  normal: Vector3,
  offset: number,
  low: Vector3,
  high: Vector3,
  radius: number,
): {size: number[]; X_W: Matrix4} {
  const n = normal.clone().transformDirection(X_WG);
  const on = normal
    .clone()
    .multiplyScalar(offset / normal.lengthSq())
    .applyMatrix4(X_WG);
  const middle = low.clone().add(high).multiplyScalar(0.5);
  middle.addScaledVector(n, n.dot(on) - n.dot(middle) - kDeep * radius);
  const up = new Vector3(0, 0, 1),
    along = n.clone().cross(up);
  return {
    size: [2 * kReach * radius, 2 * kDeep * radius, Math.max(high.z - low.z, 0.02 * radius)],
    X_W: new Matrix4().makeBasis(along, n, up).setPosition(middle),
  };
}

function place(mesh: Mesh, normal: Vector3, offset: number, center: Vector3): void {
  const n = normal.clone().normalize();
  mesh.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), n));
  mesh.position.copy(center).addScaledVector(n, offset / normal.length() - n.dot(center));
}

/** A grid of squares `spacing` wide, every tenth line stronger, one pixel thin at any distance. */
export class Grid {
  readonly mesh: Mesh<CircleGeometry, ShaderMaterial>;
  readonly spacing: number;

  constructor(normal: Vector3, offset: number, center: Vector3, radius: number) {
    this.spacing = 10 ** Math.floor(Math.log10(0.7 * radius));
    this.mesh = new Mesh(
      new CircleGeometry(kReach * radius, 96),
      new ShaderMaterial({
        transparent: true,
        depthWrite: false,
        side: DoubleSide,
        polygonOffset: true,
        polygonOffsetFactor: -1,
        polygonOffsetUnits: -2,
        uniforms: {
          ink: {value: new Color()},
          spacing: {value: this.spacing},
          reach: {value: kReach * radius},
          shift: {value: new Vector3()},
        },
        vertexShader: `varying vec2 p; varying vec2 local; uniform vec3 shift;
        void main() { local = position.xy; p = local + shift.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
        fragmentShader: `varying vec2 p; varying vec2 local; uniform vec3 ink; uniform float spacing, reach;
        float lines(float step) { vec2 g = p / step; vec2 d = abs(fract(g - 0.5) - 0.5) / fwidth(g); return 1.0 - min(min(d.x, d.y), 1.0); }
        void main() {
          float fade = 1.0 - smoothstep(0.25, 0.85, length(local) / reach);
          float a = max(0.30 * lines(spacing), 0.55 * lines(10.0 * spacing)) * fade;
          gl_FragColor = vec4(ink, a);
          #include <colorspace_fragment>
        }`,
      }),
    );
    place(this.mesh, normal, offset, center);
    // The lines lie at whole multiples of the spacing in the plane's own axes, wherever the disc is centred.
    const local = this.mesh.position.clone().applyQuaternion(this.mesh.quaternion.clone().invert());
    this.mesh.material.uniforms.shift.value.copy(local);
    this.mesh.renderOrder = -1;
  }

  applyTheme(): void {
    this.mesh.material.uniforms.ink.value.set(cssColour('--grid'));
  }
}
