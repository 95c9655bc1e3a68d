import {EdgesGeometry, Group, LineBasicMaterial, LineDashedMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshLambertMaterial, Vector3} from 'three';
import {cssColour} from './dom';
import type {Labels} from './labels';
import {setPose} from './pose';
import type {Body, Run} from './run';
import {elsewhere} from './second';
import {hasEdges, makeGeometry} from './shapes';
import type {Stage} from './stage';

/** A transparent copy of a body at its origin, in one colour. Spheres of radius 0 get `pointRadius`. `over`: drawn over bodies, with dashed edges. */
export function makeGhost(body: Body, colour: string, pointRadius: number, over = false): Group {
  const ghost = new Group();
  for (const geometry of body.visuals.length ? body.visuals : body.collisions) {
    if (geometry.shape.type === 'half_space') continue;
    // Behind what stands where it stands, so that the two do not flicker.
    const material = over ? new MeshBasicMaterial({color: colour, transparent: true, opacity: 0.2, depthWrite: false}) :
      new MeshLambertMaterial({color: colour, transparent: true, opacity: 0.28, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2,
                               polygonOffsetUnits: 2});
    const mesh = new Mesh(makeGeometry(geometry.shape, pointRadius), material);
    setPose(mesh, geometry.X_BG);
    if (hasEdges(geometry.shape)) {
      mesh.geometry.computeBoundingSphere();
      const dash = 0.06 * mesh.geometry.boundingSphere!.radius;
      const line = over ? new LineDashedMaterial({color: colour, dashSize: dash, gapSize: 0.7 * dash}) : new LineBasicMaterial({color: colour});
      const edges = new LineSegments(new EdgesGeometry(mesh.geometry, 25), line);
      if (over) edges.computeLineDistances();
      mesh.add(edges);
    }
    ghost.add(mesh);
  }
  return ghost;
}

/** Where bodies would be after the other motion of a step. */
export class SecondLayer {
  visible = true;
  private readonly root = new Group();
  private readonly ghosts = new Map<number, Group>(); // by body, made when first needed
  private shown: number[] = [];

  constructor(private readonly run: Run, private readonly stage: Stage, private readonly labels: Labels) { stage.overlay.add(this.root); }

  /** Shows the other motion of the step that ends at the frame, if one is known; null: none. */
  setFrame(frame: number | null): void {
    const {run} = this, row = frame === null ? undefined : run.second!.ofFrame.get(frame);
    this.shown = row === undefined ? [] : elsewhere(run, frame!).map(({body}) => body);
    for (const [body, ghost] of this.ghosts) ghost.visible = this.shown.includes(body);
    for (const body of this.shown) {
      let ghost = this.ghosts.get(body);
      if (!ghost) {
        ghost = makeGhost(run.scene.bodies[body], cssColour('--second'), 0.01 * this.stage.radius, true);
        this.ghosts.set(body, ghost);
        this.root.add(ghost);
      }
      setPose(ghost, run.second!.X_WB, 7 * (row! * run.names.bodies.length + body));
    }
  }

  layOut(): void {
    this.root.visible = this.visible;
    if (!this.visible) return;
    for (const body of this.shown.slice(0, 3)) {
      this.labels.add(this.ghosts.get(body)!.getWorldPosition(new Vector3()), `or here: ${this.run.names.bodies[body]}`, 'second');
    }
  }

  applyTheme(): void {
    const colour = cssColour('--second');
    this.root.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) (part.material as MeshBasicMaterial).color.set(colour);
    });
  }
}
