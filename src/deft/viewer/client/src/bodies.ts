import {
  BackSide,
  Box3,
  BufferGeometry,
  Color,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  MeshStandardMaterial,
  Object3D,
  Scene as ThreeScene,
  Vector3,
} from 'three';
import {cssColour} from './dom';
import {axesOf} from './frames';
import {makeGhost} from './ghosts';
import {Grid, makePlane, wallBox} from './ground';
import {poseMatrix, poseOf, setPose, setPoseBetween} from './pose';
import type {Run} from './run';
import type {Body, Geometry} from './scene';
import {hasEdges, isRound, makeGeometry, makeSectors} from './shapes';

export type Look = 'visual' | 'collision' | 'both';

// Objects: hues that differ for most colour-blind readers too, away from the colours of the forces.
const kObjectHues = ['#e08a3c', '#2f9e8f', '#8b6fc4', '#c9a227', '#5b9bd5', '#7fa650', '#b07d62', '#4c7a9e'];

/** Hue by role: robots one (lightness alternates from link to link), objects each its own, the rest grey. */
function bodyColour(body: Body, indexInRole: number): Color {
  if (body.role === 'object') return new Color(kObjectHues[indexInRole % kObjectHues.length]);
  if (body.role === 'robot') return new Color().setHSL(0.585, 0.34, indexInRole % 2 ? 0.52 : 0.62);
  return new Color('#a3a8ae');
}

/** Whether an object is drawn by surfaces of revolution about one line only, so that it looks the same however it turns
 *  about it. */
function showsNoTurning(body: Body): boolean {
  const shown = body.visuals.length ? body.visuals : body.collisions;
  if (body.role !== 'object' || shown.length === 0 || !shown.every(({shape}) => isRound(shape))) return false;
  const poses = shown.map(({X_BG}) => poseMatrix(X_BG)),
    from = new Vector3().setFromMatrixPosition(poses[0]);
  const ways = poses.map((X) => new Vector3().setFromMatrixPosition(X).sub(from)); // between middles
  const axes = poses
    .filter((_, i) => shown[i].shape.type !== 'sphere')
    .map((X) => new Vector3().setFromMatrixColumn(X, 2));
  const reach = Math.max(...ways.map((way) => way.length()));
  const line = axes[0] ?? ways.find((way) => way.length() > 0.5 * reach) ?? new Vector3(0, 0, 1);
  const off = (v: Vector3) => new Vector3().crossVectors(v, line).length() / line.length();
  return axes.every((axis) => off(axis) < 1e-6) && ways.every((way) => off(way) <= 1e-6 * reach);
}

/** The bodies of a run, their frames, and ghosts at a goal. */
export class Bodies {
  readonly groups: Group[] = [];
  /** The body that the camera goes along with. */
  followed: number | null = null;
  readonly grid: Grid;
  private readonly visuals: Object3D[] = [];
  private readonly collisions: Object3D[] = [];
  private readonly frames: Object3D[] = [];
  private readonly solids: MeshStandardMaterial[] = [];
  private readonly planes: Mesh[] = [];
  private readonly lines: LineBasicMaterial[] = [];
  private readonly ghosts = new Group();
  private readonly numBodies: number;
  private readonly sectored: boolean[] = []; // by body: drawn in two tones

  private readonly center: Vector3;
  private readonly depth: number; // of what moves, across the plane of motion if there is one

  /** `box` holds what moves; `radius` is that of the sphere around it. */
  constructor(
    private readonly run: Run,
    private readonly world: ThreeScene,
    private readonly box: Box3,
    private readonly radius: number,
  ) {
    this.center = box.getCenter(new Vector3());
    this.depth = box.getSize(new Vector3())[run.scene.plane === 'yz' ? 'x' : 'y'];
    this.numBodies = run.names.bodies.length;
    const countOfRole: Record<string, number> = {};
    run.names.bodies.forEach((name, index) => {
      const body = run.scene.bodies[index] ?? {name, role: 'fixed', visuals: [], collisions: []};
      const inRole = countOfRole[body.role] ?? 0;
      countOfRole[body.role] = inRole + 1;
      this.addBody(body, index, bodyColour(body, inRole));
    });
    this.grid = this.makeGrid();
    world.add(this.grid.mesh, this.ghosts);
    this.setLook('visual');
    this.setFrames(false);
  }

  update(frame: number, position: number): void {
    const {X_WB, frames} = this.run;
    if (frames === 0) return;
    const low = Math.min(frames - 1, Math.floor(position)),
      part = position - low;
    this.groups.forEach((group, b) => {
      const i = 7 * (low * this.numBodies + b);
      if (part > 0 && low + 1 < frames) setPoseBetween(group, X_WB, i, i + 7 * this.numBodies, part);
      else setPose(group, X_WB, 7 * (frame * this.numBodies + b));
    });
  }

  /** Places the bodies at poses that are no frame of the run: `X_WB` holds those of all bodies from index
   *  `first` on. */
  place(X_WB: ArrayLike<number>, first: number): void {
    this.groups.forEach((group, b) => setPose(group, X_WB, first + 7 * b));
  }

  /** A copy of a body by `make`, which gets the triangles that the body itself is drawn with. */
  copyOf(body: number, make: (body: Body, triangles: (geometry: Geometry) => BufferGeometry) => Group): Group {
    return make(this.run.scene.bodies[body], (geometry) => this.triangles(geometry, body));
  }

  setLook(look: Look): void {
    for (const part of this.visuals) part.visible = look !== 'collision' || part.userData.only;
    for (const part of this.collisions) part.visible = look !== 'visual';
  }

  setFrames(on: boolean): void {
    for (const frame of this.frames) frame.visible = on;
  }

  setOpacity(opacity: number): void {
    for (const material of this.solids) {
      material.opacity = opacity * material.userData.alpha;
      material.transparent = material.opacity < 1;
      material.depthWrite = material.opacity > 0.6;
      material.needsUpdate = true;
    }
  }

  /** Transparent copies at the poses of a goal; null removes them. */
  setGoal(index: number | null): void {
    this.ghosts.clear();
    if (index === null) return;
    for (const {body, X_WB} of this.run.scene.goals[index].bodies) {
      const ghost = makeGhost(this.run.scene.bodies[body], cssColour('--goal'), 0.01 * this.radius);
      setPose(ghost, X_WB);
      this.ghosts.add(ghost);
    }
  }

  applyTheme(): void {
    for (const plane of this.planes) (plane.material as MeshLambertMaterial).color.set(cssColour('--ground'));
    for (const line of this.lines) line.color.set(cssColour('--edge'));
    this.grid.applyTheme();
  }

  private addBody(body: Body, index: number, colour: Color): void {
    const group = new Group();
    group.name = body.name;
    group.userData.body = index;
    const shown = body.visuals.length ? body.visuals : body.collisions;
    this.sectored.push(showsNoTurning(body));
    for (const geometry of shown) this.addVisual(group, geometry, colour, body.visuals.length === 0);
    for (const geometry of body.collisions) this.addCollision(group, geometry);
    const axes = axesOf(body.role === 'world' ? 0.2 * this.radius : 0.12 * this.radius);
    this.frames.push(axes);
    group.add(axes);
    this.groups.push(group);
    this.world.add(group);
  }

  private addVisual(group: Group, geometry: Geometry, colour: Color, only: boolean): void {
    const {shape} = geometry;
    if (shape.type === 'half_space') {
      const wall = this.wall(group.userData.body, geometry);
      if (wall) this.addVisual(group, wall, colour, only);
      else this.addPlane(group, geometry, shape.normal, shape.offset);
      return;
    }
    const alpha = geometry.rgba?.[3] ?? 1;
    const material = new MeshStandardMaterial({
      roughness: 0.72,
      metalness: 0.0,
      transparent: alpha < 1,
      opacity: alpha,
    });
    if (geometry.rgba) material.color.setRGB(geometry.rgba[0], geometry.rgba[1], geometry.rgba[2], 'srgb');
    else if (shape.type !== 'mesh' || !shape.colors) material.color.copy(colour);
    material.userData.alpha = alpha;
    this.solids.push(material);
    const mesh = new Mesh(this.triangles(geometry, group.userData.body), material);
    material.vertexColors = mesh.geometry.hasAttribute('color');
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.userData.only = only;
    setPose(mesh, geometry.X_BG);
    if (hasEdges(shape)) mesh.add(this.edges(mesh));
    this.visuals.push(mesh);
    group.add(mesh);
  }

  /** A geometry's triangles, in two tones where the body would show no turning otherwise: the poles of a ball lie
   *  across the plane of motion, or along its own z. */
  private triangles(geometry: Geometry, body: number): BufferGeometry {
    const shape = geometry.shape as Exclude<Geometry['shape'], {type: 'half_space'}>;
    if (!this.sectored[body] || !isRound(shape)) return makeGeometry(shape, 0.01 * this.radius);
    const {plane} = this.run.scene;
    if (!plane || this.run.frames === 0) return makeSectors(shape, new Vector3(0, 0, 1));
    const X_WG = poseMatrix(this.run.X_WB, 7 * body).multiply(poseMatrix(geometry.X_BG));
    return makeSectors(
      shape,
      new Vector3().setComponent({yz: 0, xz: 1, xy: 2}[plane], 1).transformDirection(X_WG.invert()),
    );
  }

  /** In a plane of motion that is seen from above, a half-space that stands upright: what is solid of it near the
   *  scene. */
  private wall(body: number, {shape, X_BG}: Geometry): Geometry | null {
    if (shape.type !== 'half_space' || this.run.scene.plane !== 'xy' || this.run.frames === 0) return null;
    const X_WB = poseMatrix(this.run.X_WB, 7 * body),
      X_WG = X_WB.clone().multiply(poseMatrix(X_BG)),
      normal = new Vector3(...shape.normal);
    if (Math.abs(normal.clone().transformDirection(X_WG).z) > 1e-3) return null;
    const {size, X_W} = wallBox(X_WG, normal, shape.offset, this.box.min, this.box.max, this.radius);
    return {X_BG: poseOf(X_W.premultiply(X_WB.invert())), shape: {type: 'box', size}};
  }

  private addPlane(group: Group, geometry: Geometry, normal: number[], offset: number): void {
    const X_WG = poseMatrix(geometry.X_BG);
    if (this.run.frames > 0) X_WG.premultiply(poseMatrix(this.run.X_WB, 7 * group.userData.body));
    const plane = makePlane(
      new Vector3(...normal),
      offset,
      this.center.clone().applyMatrix4(X_WG.invert()),
      this.radius,
    );
    const holder = new Group();
    setPose(holder, geometry.X_BG);
    this.planes.push(plane);
    group.add(holder.add(plane));
  }

  private edges(mesh: Mesh): LineSegments {
    const material = new LineBasicMaterial({transparent: true, opacity: 0.35});
    this.lines.push(material);
    return new LineSegments(new EdgesGeometry(mesh.geometry, 25), material);
  }

  private addCollision(group: Group, geometry: Geometry): void {
    if (geometry.shape.type === 'half_space') return;
    const triangles = makeGeometry(geometry.shape, 0.01 * this.radius);
    const glass = {color: '#17a2a2', transparent: true, opacity: 0.22, depthWrite: false};
    const shell = new Mesh(triangles, new MeshLambertMaterial(glass));
    const back = new Mesh(triangles, new MeshLambertMaterial({...glass, side: BackSide}));
    const part = new Group();
    part.add(shell, back);
    if (hasEdges(geometry.shape)) {
      const edge = new LineBasicMaterial({color: '#0e7f7f', transparent: true, opacity: 0.8});
      part.add(new LineSegments(new EdgesGeometry(triangles, 12), edge));
    }
    setPose(part, geometry.X_BG);
    this.collisions.push(part);
    group.add(part);
  }

  /** On the first half-space that does not move, else behind a motion in a plane, else on z = 0. */
  private makeGrid(): Grid {
    for (const body of this.run.scene.bodies) {
      if (body.role !== 'world' && body.role !== 'fixed') continue;
      for (const {shape, X_BG} of body.collisions) {
        if (shape.type !== 'half_space') continue;
        const n = new Vector3(...shape.normal).normalize();
        const point = n
          .clone()
          .multiplyScalar(shape.offset / new Vector3(...shape.normal).length())
          .applyMatrix4(poseMatrix(X_BG));
        n.transformDirection(poseMatrix(X_BG));
        if (this.wall(this.run.scene.bodies.indexOf(body), {shape, X_BG})) continue;
        if (body.role === 'world' || this.run.frames === 0) return new Grid(n, n.dot(point), this.center, this.radius);
        const X_WB = poseMatrix(this.run.X_WB, 7 * this.run.scene.bodies.indexOf(body));
        n.transformDirection(X_WB);
        return new Grid(n, n.dot(point.applyMatrix4(X_WB)), this.center, this.radius);
      }
    }
    const {plane} = this.run.scene;
    if (plane === 'yz') return new Grid(new Vector3(1, 0, 0), this.center.x - this.depth / 2, this.center, this.radius);
    if (plane === 'xz')
      return new Grid(new Vector3(0, -1, 0), -this.center.y - this.depth / 2, this.center, this.radius);
    return new Grid(new Vector3(0, 0, 1), 0, this.center, this.radius);
  }
}
