// Supports of the limit-surface model: what they resist and how their objects move, and the surfaces to draw it in.
import type {Numbers} from './blocks';
import type {Run} from './run';
import type {SurfaceSpec} from './scene';

export const kRests = 0,
  kMoves = 1,
  kJammed = 2; // support_state

export type Vec3 = [number, number, number];
export type Mat3 = [Vec3, Vec3, Vec3]; // rows

/** One support in one step, turned into the axes of the plane of motion. */
export interface SupportStep {
  load: Vec3;
  twist: Vec3;
  factor: number;
  state: number;
  form: Mat3;
}

const symmetric = (u: ArrayLike<number>, i: number): Mat3 => [
  [u[i], u[i + 1], u[i + 2]],
  [u[i + 1], u[i + 3], u[i + 4]],
  [u[i + 2], u[i + 4], u[i + 5]],
];
export const times = (M: Mat3, v: ArrayLike<number>): Vec3 =>
  M.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Vec3;
export const transposed = (M: Mat3): Mat3 => [0, 1, 2].map((i) => [M[0][i], M[1][i], M[2][i]]) as Mat3;
export const product = (A: Mat3, B: Mat3): Mat3 => A.map((row) => times(transposed(B), row)) as Mat3;
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const scaledBy = (s: number, v: Vec3): Vec3 => [s * v[0], s * v[1], s * v[2]];

/** The letters of the plane's two axes, then that of its normal, about which moments are taken. */
export const planeAxes = (run: Run): number[] =>
  ({xy: [0, 1, 2], xz: [0, 2, 1], yz: [1, 2, 0]})[run.scene.plane ?? 'xy'];

/** Rotation of a pose [qw, qx, qy, qz, …] at X[i…]. */
function rotation(X: ArrayLike<number>, i: number): Mat3 {
  const [w, x, y, z] = [X[i], X[i + 1], X[i + 2], X[i + 3]];
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
}

/** The frame at which a step's loads are taken: its start; its end where the start was left out of the page. */
export const loadFrame = (run: Run, frame: number): number =>
  frame > 0 && run.frame[frame - 1] === run.frame[frame] - 1 ? frame - 1 : frame;

/** Loads and twists of a support's axes (a, b, n) in those of the plane, at a frame. */
export function supportTurn(run: Run, body: number, frame: number): Mat3 {
  const axes = run.scene.bodies[body].limit_surface!.axes,
    [p, q, n] = planeAxes(run);
  const R = rotation(run.X_WB, 7 * (frame * run.names.bodies.length + body)),
    [a, b, c] = axes;
  return [
    [R[p][a], R[p][b], 0],
    [R[q][a], R[q][b], 0],
    [0, 0, Math.sign(R[n][c])],
  ];
}

/** Support i in the step that ends at a frame; null at the start. */
export function supportAt(run: Run, i: number, frame: number): SupportStep | null {
  if (frame < 1) return null;
  const {bodies, load, twist, factor, form, state} = run.supports!;
  const row = (frame - 1) * bodies.length + i,
    turn = supportTurn(run, bodies[i], loadFrame(run, frame));
  const vector = (block: Numbers) => times(turn, [block[3 * row], block[3 * row + 1], block[3 * row + 2]]);
  const F = symmetric(form, 6 * row);
  return {
    load: vector(load),
    twist: vector(twist),
    factor: factor[row],
    state: state[row],
    form: product(product(turn, F), transposed(turn)),
  };
}

/** Bodies that are jammed in the step that ends at a frame. */
export function jammedBodies(run: Run, frame: number): number[] {
  if (!run.supports || frame < 1) return [];
  const {bodies, state} = run.supports;
  return bodies.filter((_, i) => state[(frame - 1) * bodies.length + i] === kJammed);
}

/** A closed surface about the origin as a grid of points with outer normals, rows from the lower pole to the
 *  upper one. */
export interface Globe {
  rows: number;
  columns: number;
  points: Vec3[];
  normals: Vec3[];
}

/** The inverse of a positive definite matrix. */
export function inverse(A: Mat3): Mat3 {
  const cross = (u: Vec3, v: Vec3): Vec3 => [
    u[1] * v[2] - u[2] * v[1],
    u[2] * v[0] - u[0] * v[2],
    u[0] * v[1] - u[1] * v[0],
  ];
  const [a, b, c] = A,
    determinant = dot(a, cross(b, c));
  return transposed([
    scaledBy(1 / determinant, cross(b, c)),
    scaledBy(1 / determinant, cross(c, a)),
    scaledBy(1 / determinant, cross(a, b)),
  ]);
}

const kRows = 37,
  kColumns = 72; // every 5°

/** FᵀAF = 1: F = Bx, ‖x‖ = 1, with B upper triangular, so that the equator is the section without a moment. */
export function ellipsoidGlobe(A: Mat3): Globe {
  const K = inverse(A); // = BBᵀ
  const b33 = Math.sqrt(K[2][2]),
    b13 = K[0][2] / b33,
    b23 = K[1][2] / b33;
  const b22 = Math.sqrt(K[1][1] - b23 * b23),
    b12 = (K[0][1] - b13 * b23) / b22,
    b11 = Math.sqrt(K[0][0] - b13 * b13 - b12 * b12);
  const B: Mat3 = [
    [b11, b12, b13],
    [0, b22, b23],
    [0, 0, b33],
  ];
  const globe: Globe = {rows: kRows, columns: kColumns, points: [], normals: []};
  eachDirection(kRows, kColumns, (x) => {
    const point = times(B, x);
    globe.points.push(point);
    globe.normals.push(times(A, point));
  });
  return globe;
}

/** A limit surface in the support's own axes. */
export function surfaceGlobe(spec: SurfaceSpec): Globe {
  if (spec.ellipsoid) return ellipsoidGlobe(symmetric(spec.ellipsoid, 0));
  const loads = spec.loads!,
    columns = spec.columns!,
    rows = loads.length / 3 / columns;
  const globe: Globe = {rows, columns, points: [], normals: []};
  for (let i = 0; i < loads.length; i += 3) globe.points.push([loads[i], loads[i + 1], loads[i + 2]]);
  eachDirection(rows, columns, ([x, y, z]) => globe.normals.push([x, y, z / spec.gyration!])); // the twists
  return globe;
}

function eachDirection(rows: number, columns: number, visit: (x: Vec3) => void): void {
  for (let i = 0; i < rows; ++i) {
    const beta = Math.PI * (i / (rows - 1) - 0.5);
    for (let j = 0; j < columns; ++j) {
      const alpha = (2 * Math.PI * j) / columns;
      visit([Math.cos(beta) * Math.cos(alpha), Math.cos(beta) * Math.sin(alpha), Math.sin(beta)]);
    }
  }
}
