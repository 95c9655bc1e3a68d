import {Box3, BufferGeometry, EdgesGeometry, Group, LineBasicMaterial, LineDashedMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshLambertMaterial, Vector3} from 'three';
import {cssColour} from './dom';
import type {Labels} from './labels';
import {setPose} from './pose';
import type {Body, Geometry, Run} from './run';
import {Elsewhere, elsewhere} from './second';
import {hasEdges, makeGeometry} from './shapes';
import type {Stage} from './stage';

const kNothing = 1.5; // [px] what is moved by less is not seen

/** A transparent copy of a body at its origin, in one colour. Spheres of radius 0 get `pointRadius`. `over`: drawn over bodies, with dashed edges.
 *  `triangles` are those of a geometry, if not the plain ones; their vertex colours shade the one colour. */
export function makeGhost(body: Body, colour: string, pointRadius: number, over = false, triangles?: (geometry: Geometry) => BufferGeometry): Group {
  const ghost = new Group();
  for (const geometry of body.visuals.length ? body.visuals : body.collisions) {
    if (geometry.shape.type === 'half_space') continue;
    // Behind what stands where it stands, so that the two do not flicker.
    const material = over ? new MeshBasicMaterial({color: colour, transparent: true, opacity: 0.2, depthWrite: false}) :
      new MeshLambertMaterial({color: colour, transparent: true, opacity: 0.28, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2,
                               polygonOffsetUnits: 2});
    const mesh = new Mesh(triangles ? triangles(geometry) : makeGeometry(geometry.shape, pointRadius), material);
    material.vertexColors = mesh.geometry.hasAttribute('color');
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
  private readonly ghosts = new Map<number, {group: Group; radius: number}>(); // by body, made when first needed
  private shown: Elsewhere[] = [];

  constructor(private readonly run: Run, private readonly stage: Stage, private readonly labels: Labels) { stage.overlay.add(this.root); }

  /** Shows the other motion of the step that ends at the frame, if one is known; null: none. */
  setFrame(frame: number | null): void {
    const {run} = this, row = frame === null ? undefined : run.second!.ofFrame.get(frame);
    this.shown = row === undefined ? [] : elsewhere(run, frame!);
    for (const {body} of this.shown) setPose(this.ghostOf(body).group, run.second!.X_WB, 7 * (row! * run.names.bodies.length + body));
  }

  private ghostOf(body: number): {group: Group; radius: number} {
    let ghost = this.ghosts.get(body);
    if (!ghost) {
      const group = makeGhost(this.run.scene.bodies[body], cssColour('--second'), 0.01 * this.stage.radius, true);
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
      if (group.visible) this.labels.add(group.position, `or here: ${this.run.names.bodies[body]}`, 'second');
    }
  }

  applyTheme(): void {
    const colour = cssColour('--second');
    this.root.traverse((part) => {
      if (part instanceof Mesh || part instanceof LineSegments) (part.material as MeshBasicMaterial).color.set(colour);
    });
  }
}
