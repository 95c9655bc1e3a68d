import {Box3, Group, LineSegments, Mesh, MeshBasicMaterial, Vector3} from 'three';
import {Elsewhere, elsewhere} from './alternative';
import {cssColour} from './dom';
import {makeGhost} from './ghosts';
import type {Labels} from './labels';
import {setPose} from './pose';
import type {Run} from './run';
import type {Stage} from './stage';

const kNothing = 1.5; // [px] what is moved by less is not seen

/** Where bodies would be in the alternative solution of a step. */
export class AlternativeLayer {
  visible = true;
  private readonly root = new Group();
  private readonly ghosts = new Map<number, {group: Group; radius: number}>(); // by body, made when first needed
  private shown: Elsewhere[] = [];

  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly labels: Labels,
  ) {
    stage.overlay.add(this.root);
  }

  /** Shows the alternative solution of the step that ends at the frame, if one is known; null: none. */
  setFrame(frame: number | null): void {
    const {run} = this,
      row = frame === null ? undefined : run.alternatives!.ofFrame.get(frame);
    this.shown = row === undefined ? [] : elsewhere(run, frame!);
    for (const {body} of this.shown)
      setPose(this.ghostOf(body).group, run.alternatives!.X_WB, 7 * (row! * run.names.bodies.length + body));
  }

  private ghostOf(body: number): {group: Group; radius: number} {
    let ghost = this.ghosts.get(body);
    if (!ghost) {
      const group = makeGhost(this.run.scene.bodies[body], cssColour('--alternative'), 0.01 * this.stage.radius, true);
      ghost = {group, radius: new Box3().setFromObject(group).getSize(new Vector3()).length() / 2};
      this.ghosts.set(body, ghost);
      this.root.add(group);
    }
    return ghost;
  }

  /** Before every drawing: what is elsewhere by less than a pixel or two is left out, and said in numbers only. */
  layOut(): void {
    this.root.visible = this.visible;
    for (const {group} of this.ghosts.values()) group.visible = false;
    if (!this.visible) return;
    for (const {body, metres, radians} of this.shown) {
      const {group, radius} = this.ghostOf(body);
      group.visible = metres + radius * radians > kNothing * this.stage.pixelSize(group.position);
      if (group.visible) this.labels.add(group.position, `alternative: ${this.run.names.bodies[body]}`, 'alternative');
    }
  }

  applyTheme(): void {
    const colour = cssColour('--alternative');
    this.root.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) (part.material as MeshBasicMaterial).color.set(colour);
    });
  }
}
