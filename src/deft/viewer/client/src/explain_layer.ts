import {Group, LineSegments, Mesh, MeshBasicMaterial} from 'three';
import {cssColour} from './dom';
import type {Explanation} from './explanation';
import {makeGhost} from './ghosts';
import type {Labels} from './labels';
import {setPose} from './pose';
import type {Run} from './run';
import type {Stage} from './stage';

/** A try of the search that came to nothing: robots and objects where it ended, or where its grasp would have been. */
export class ExplainLayer {
  private readonly root = new Group();
  private readonly ghosts = new Map<number, Group>(); // by body, made when first needed
  private chosen: number | null = null;
  private open = false;

  constructor(
    private readonly run: Run,
    private readonly explanation: Explanation,
    private readonly stage: Stage,
    private readonly labels: Labels,
  ) {
    stage.overlay.add(this.root);
  }

  /** The try that is drawn; null: none. */
  get shown(): number | null {
    return this.open ? this.chosen : null;
  }

  /** Draws a try, or none. */
  choose(attempt: number | null): void {
    this.chosen = attempt;
    this.place();
  }

  /** Whether its tab is open: no ghost stays behind. */
  show(open: boolean): void {
    this.open = open;
    this.place();
  }

  /** Before every drawing. */
  layOut(): void {
    if (this.shown === null) return;
    const object = [...this.ghosts].find(([body]) => this.run.scene.bodies[body]?.role === 'object');
    if (object) this.labels.add(object[1].position, `failed: ${this.explanation.tries[this.shown]}`, 'failed');
  }

  applyTheme(): void {
    const colour = cssColour('--bad');
    this.root.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) (part.material as MeshBasicMaterial).color.set(colour);
    });
  }

  private place(): void {
    this.root.visible = this.shown !== null;
    if (this.shown !== null) {
      const {bodies} = this.run.names;
      bodies.forEach((_, body) => {
        if (['robot', 'object'].includes(this.run.scene.bodies[body]?.role))
          setPose(this.ghostOf(body), this.explanation.X_WB, 7 * (this.shown! * bodies.length + body));
      });
    }
    this.stage.invalidate();
  }

  private ghostOf(body: number): Group {
    let ghost = this.ghosts.get(body);
    if (!ghost) {
      ghost = makeGhost(this.run.scene.bodies[body], cssColour('--bad'), 0.01 * this.stage.radius, true);
      this.ghosts.set(body, ghost);
      this.root.add(ghost);
    }
    return ghost;
  }
}
