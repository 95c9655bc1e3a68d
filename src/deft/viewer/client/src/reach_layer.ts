import {Color, Mesh, MeshBasicMaterial, SphereGeometry, Vector3} from 'three';
import {localBounds} from './bounds';
import {figures} from './format';
import {Instances, headShape, shaftShape} from './instances';
import type {Labels} from './labels';
import {kReach} from './palette';
import {BodyReach, degrees, reachAt} from './reach';
import type {Reach, Run} from './run';
import type {Stage} from './stage';

const kNothing = 2.5; // [px] what is smaller is left out
const kFar = 6; // [px] a way that is shorter is left out
const kLinePixels = 1.3; // radius of a line on the screen
const kHaloPixels = 2.6; // of the light rim that sets it off from bodies of its own colour
const kArcRadius = 1.18; // of the arcs, in half-widths of the body
const kPieces = 48; // of a whole turn
const kUp = new Vector3(0, 0, 1);
const kHalo = new Color('#fff');

/** Two vectors that span the plane across `axis` (unit), the first as near to up as it can be; where the axis itself
 *  points up, to `front`. */
function across(axis: Vector3, front: Vector3): [Vector3, Vector3] {
  const near = Math.abs(axis.dot(kUp)) < 0.9 ? kUp : front;
  const first = near.clone().addScaledVector(axis, -near.dot(axis)).normalize();
  return [first, axis.clone().cross(first)];
}

/** What the next command reaches, drawn over the bodies: an ellipsoid of the positions of a body's centre of mass, and
 *  for each principal turn an arc about its axis, as long as the body turns either way. Both are to scale. */
export class ReachLayer {
  visible = true;
  /** Row that is shown; null where none was recorded. */
  row: number | null = null;
  private sets: BodyReach[] = [];
  private readonly shells: Mesh[] = [];
  private readonly lines: Instances;
  private readonly heads: Instances;
  private readonly halos: Instances;
  private readonly halfWidths: number[];
  private readonly front: Vector3;

  constructor(
    run: Run,
    readonly reach: Reach,
    private readonly stage: Stage,
    private readonly labels: Labels,
  ) {
    this.front = stage.homeView.clone();
    this.halfWidths = run.scene.bodies.map(
      (body) => Math.max(0, ...localBounds(body).getSize(new Vector3()).toArray()) / 2,
    );
    const solid = new MeshBasicMaterial({transparent: true, depthTest: false});
    const rod = shaftShape();
    const pale = new MeshBasicMaterial({transparent: true, depthTest: false});
    this.halos = new Instances(stage.overlay, rod, pale, 1);
    this.lines = new Instances(stage.overlay, rod, solid, 2);
    this.heads = new Instances(stage.overlay, headShape(), solid, 2);
    const ball = new SphereGeometry(1, 48, 32),
      glass = new MeshBasicMaterial({
        color: kReach,
        transparent: true,
        opacity: 0.14,
        depthWrite: false,
        depthTest: false,
      });
    for (let i = 0; i < reach.bodies.length; ++i) {
      const shell = new Mesh(ball, glass);
      shell.matrixAutoUpdate = false;
      shell.frustumCulled = false;
      this.shells.push(shell);
      stage.overlay.add(shell);
    }
  }

  setFrame(frame: number): void {
    this.setRow(this.reach.ofFrame.get(frame) ?? null);
  }
  setNode(node: number): void {
    this.setRow(this.reach.ofNode.get(node) ?? null);
  }

  private setRow(row: number | null): void {
    this.row = row;
    this.sets = row === null ? [] : reachAt(this.reach, row).filter((set) => Number.isFinite(set.center.length()));
  }

  /** Before every drawing: lines are of constant width on the screen. */
  layOut(): void {
    for (const instances of [this.halos, this.lines, this.heads]) instances.begin();
    this.shells.forEach((shell) => {
      shell.visible = false;
    });
    if (this.visible)
      this.sets.forEach((set, i) => {
        this.addPositions(set, this.shells[i]);
        this.addTurns(set);
      });
    for (const instances of [this.halos, this.lines, this.heads]) instances.end();
  }

  private addPositions({com, center, shifts}: BodyReach, shell: Mesh): void {
    const pixel = this.stage.pixelSize(center),
      longest = shifts[0].length();
    if (longest < kNothing * pixel) return;
    shell.visible = true;
    if (com.distanceTo(center) > kFar * pixel) this.addLine(com, center);
    // Flat ones have no normals, and need none.
    shell.matrix.makeBasis(shifts[0], shifts[1], shifts[2]).setPosition(center);
    shell.matrixWorldNeedsUpdate = true;
    for (const [i, j] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      if (shifts[i].length() > kNothing * pixel) this.addCurve(center, shifts[i], shifts[j], Math.PI);
    }
    this.labels.add(
      this.rightmost(center.clone().sub(shifts[0]), center.clone().add(shifts[0])),
      `±${figures(1e3 * longest, 2)} mm`,
      'reach',
    );
  }

  private addTurns({body, center, turns}: BodyReach): void {
    const radius = kArcRadius * this.halfWidths[body],
      pixel = this.stage.pixelSize(center);
    turns.forEach((turn, i) => {
      const angle = Math.min(turn.length(), Math.PI);
      if (angle * radius < kNothing * pixel) return;
      const [first, second] = across(turn.clone().normalize(), this.front).map((v) => v.multiplyScalar(radius));
      const point = (a: number) =>
        center.clone().addScaledVector(first, Math.cos(a)).addScaledVector(second, Math.sin(a));
      const head = Math.min(9 * pixel, 0.5 * angle * radius),
        neck = angle - head / radius;
      this.addCurve(center, first, second, neck);
      for (const side of [-1, 1]) {
        const base = point(side * neck),
          axis = point(side * angle).sub(base);
        this.heads.add(base, axis.clone().normalize(), 0.4 * head, axis.length(), kReach);
      }
      // A mark in its middle: the orientation if the command stays as it is.
      const [inner, outer] = [-4, 4].map((pixels) =>
        center.clone().addScaledVector(first, 1 + (pixels * pixel) / radius),
      );
      this.addLine(inner, outer);
      if (i === 0) {
        this.labels.add(
          this.rightmost(point(-angle), point(angle)),
          `±${figures(degrees(turn.length()), 2)}°`,
          'reach',
        );
      }
    });
  }

  /** Of two points the one further right on the screen: labels are not to jump with the sign of an axis. */
  private rightmost(a: Vector3, b: Vector3): Vector3 {
    const right = new Vector3().setFromMatrixColumn(this.stage.camera.matrixWorld, 0);
    return right.dot(a) > right.dot(b) ? a : b;
  }

  /** The part of the ellipse center + cos(a) x + sin(a) y with |a| ≤ angle. */
  private addCurve(center: Vector3, x: Vector3, y: Vector3, angle: number): void {
    const pieces = Math.max(2, Math.ceil((kPieces * angle) / Math.PI));
    const point = (k: number) => {
      const a = angle * ((2 * k) / pieces - 1);
      return center.clone().addScaledVector(x, Math.cos(a)).addScaledVector(y, Math.sin(a));
    };
    for (let k = 0, from = point(0); k < pieces; ++k) {
      const to = point(k + 1);
      this.addLine(from, to);
      from = to;
    }
  }

  private addLine(from: Vector3, to: Vector3): void {
    const axis = to.clone().sub(from),
      length = axis.length(),
      pixel = this.stage.pixelSize(from);
    if (!(length > 0)) return;
    axis.divideScalar(length);
    this.halos.add(from, axis, kHaloPixels * pixel, length, kHalo);
    this.lines.add(from, axis, kLinePixels * pixel, length, kReach);
  }
}
