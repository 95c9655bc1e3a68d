import {Box3, Group, LineSegments, Mesh, MeshBasicMaterial, Vector3} from 'three';
import type {Numbers} from './blocks';
import type {Bodies} from './bodies';
import {cssColour} from './dom';
import {makeGhost} from './ghosts';
import type {Labels} from './labels';
import {setPoseBetween} from './pose';
import type {Run} from './run';
import type {Stage} from './stage';

const kNothing = 1.5; // [px] a ghost that covers its body is not drawn

interface Ghost {
  body: number;
  group: Group;
  radius: number;
  isObject: boolean;
}

/** Bodies at other poses than the run's own, as ghosts in one colour: the reference, or a second run. Robots are
 *  fainter. */
export class GhostLayer {
  objects = true;
  robots = true;
  private placed = false;
  private readonly root = new Group();
  private readonly ghosts: Ghost[] = [];

  /** `rows` × ids × 7 poses are in X_WB; `colour` names a value of the palette; labels are “BODY: name”. */
  constructor(
    run: Run,
    private readonly stage: Stage,
    private readonly bodies: Bodies,
    private readonly labels: Labels,
    ids: number[],
    private readonly X_WB: Numbers,
    private readonly colour: string,
    private readonly name: string,
    private readonly label: string,
  ) {
    for (const body of ids) {
      const isObject = run.scene.bodies[body]?.role === 'object';
      const group = run.scene.bodies[body]
        ? bodies.copyOf(body, (part, geometry) =>
            makeGhost(part, cssColour(colour), 0.01 * stage.radius, true, geometry),
          )
        : new Group();
      group.traverse((part) => {
        if (part instanceof Mesh) (part.material as MeshBasicMaterial).opacity = isObject ? 0.22 : 0.1;
      });
      const radius = new Box3().setFromObject(group).getSize(new Vector3()).length() / 2;
      this.ghosts.push({body, group, radius: Number.isFinite(radius) ? radius : 0, isObject});
      this.root.add(group);
    }
    stage.overlay.add(this.root);
  }

  /** Shows a row, with fraction; null: nothing. */
  setRow(row: number | null): void {
    this.placed = row !== null;
    if (row === null) return;
    const last = Math.max(0, this.X_WB.length / (7 * Math.max(1, this.ghosts.length)) - 1),
      low = Math.min(last, Math.floor(row));
    const high = Math.min(last, low + 1);
    this.ghosts.forEach(({group}, i) => {
      const at = (r: number) => 7 * (r * this.ghosts.length + i);
      setPoseBetween(group, this.X_WB, at(low), at(high), Math.min(1, row - low));
    });
  }

  /** How many ghosts are drawn. */
  get drawn(): number {
    return this.ghosts.filter(({group}) => group.visible).length;
  }
  get visible(): boolean {
    return this.objects || this.robots;
  }

  /** Before every drawing: what is where its body is, to a pixel or two, is left out. */
  layOut(): void {
    for (const {body, group, radius, isObject} of this.ghosts) {
      const own = this.bodies.groups[body],
        turn = 2 * Math.acos(Math.min(1, Math.abs(own.quaternion.dot(group.quaternion))));
      const off = own.position.distanceTo(group.position) + radius * turn,
        pixel = this.stage.pixelSize(group.position);
      group.visible = this.placed && (isObject ? this.objects : this.robots) && off > kNothing * pixel;
      if (group.visible && isObject) this.labels.add(group.position, this.name, this.label);
    }
  }

  applyTheme(): void {
    const colour = cssColour(this.colour);
    this.root.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) (part.material as MeshBasicMaterial).color.set(colour);
    });
  }
}
