import {Group, Mesh, MeshBasicMaterial, SphereGeometry, Vector3} from 'three';
import {makeGhost} from './ghosts';
import {Instances, shaftShape} from './instances';
import type {Labels} from './labels';
import {hex, kPlan} from './palette';
import {hasPlan} from './plan';
import {setPose} from './pose';
import type {Plans, Run} from './run';
import type {Stage} from './stage';

const kLinePixels = 1.6,
  kDotPixels = 3.2,
  kNothing = 1.5; // [px] radii; what moves by less is not drawn

/** What the controller expects from a frame on: the way of each body as a line with a dot per stage, and its ghost at
 *  the end. */
export class PlanLayer {
  visible = true;
  private frame: number | null = null;
  private readonly ghosts: Group[] = [];
  private readonly lines: Instances;
  private readonly dots: Instances;
  private readonly plans: Plans;

  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly labels: Labels,
  ) {
    this.plans = run.plans!;
    const solid = new MeshBasicMaterial({transparent: true, depthTest: false});
    this.lines = new Instances(stage.overlay, shaftShape(), solid, 2);
    this.dots = new Instances(stage.overlay, new SphereGeometry(1, 12, 8), solid, 2);
    for (const body of this.plans.bodies) {
      const ghost = makeGhost(run.scene.bodies[body], hex(kPlan), 0.01 * stage.radius, true);
      ghost.traverse((part) => {
        if (part instanceof Mesh) part.renderOrder = 1;
      });
      this.ghosts.push(ghost);
      stage.overlay.add(ghost);
    }
  }

  setFrame(frame: number | null): void {
    this.frame = frame !== null && hasPlan(this.run, frame) ? frame : null;
  }

  /** Before every drawing: lines and dots are of constant width on the screen. */
  layOut(): void {
    for (const instances of [this.lines, this.dots]) instances.begin();
    this.ghosts.forEach((ghost, i) => {
      ghost.visible = this.visible && this.frame !== null && this.addWay(i, ghost);
    });
    for (const instances of [this.lines, this.dots]) instances.end();
  }

  /** Whether the body goes anywhere. */
  private addWay(i: number, ghost: Group): boolean {
    const {horizon, bodies, X_WB} = this.plans;
    const at = (stage: number) => 7 * ((this.frame! * (horizon + 1) + stage) * bodies.length + i);
    const place = (stage: number) => new Vector3(...[4, 5, 6].map((j) => X_WB[at(stage) + j]));
    setPose(ghost, X_WB, at(horizon));
    const turns = [0, 1, 2, 3].some((j) => Math.abs(X_WB[at(horizon) + j] - X_WB[at(0) + j]) > 1e-3);
    const pixel = this.stage.pixelSize(ghost.position),
      up = new Vector3(0, 0, 1);
    let from = place(0),
      way = 0;
    for (let stage = 1; stage <= horizon; ++stage) {
      const to = place(stage),
        axis = to.clone().sub(from),
        length = axis.length();
      way += length;
      if (length > 0) this.lines.add(from, axis.divideScalar(length), kLinePixels * pixel, length, kPlan);
      if (length > kNothing * pixel) this.dots.add(to, up, kDotPixels * pixel, kDotPixels * pixel, kPlan);
      from = to;
    }
    if (way > 4 * kNothing * pixel) this.labels.add(from, `${this.run.names.bodies[bodies[i]]}: planned`, 'plan');
    return turns || way > kNothing * pixel;
  }
}
