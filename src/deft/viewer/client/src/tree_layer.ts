import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  Vector2,
  Vector3,
} from 'three';
import {drawnObjects, localBounds} from './bounds';
import {cssColour} from './dom';
import {Instances, shaftShape} from './instances';
import {poseMatrix} from './pose';
import type {Run} from './run';
import type {Stage} from './stage';
import {pathTo} from './tree';
import type {TreeState} from './tree_state';

const kReach = 9; // [px] how near the pointer must come to a node
const kSame = 0.5; // [px] of nodes at one place the first is taken: later ones were grown from it
const kStill = 4; // [px] a press that moves less is a click
const kPixels = [13, 12, 8]; // size of the mark by kind

/** Square, diamond, disc; the first two with a dark rim. */
function markTexture(kind: number): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d')!;
  pen.beginPath();
  if (kind === 2) pen.arc(32, 32, 26, 0, 2 * Math.PI);
  else if (kind === 0) pen.rect(9, 9, 46, 46);
  else {
    pen.moveTo(32, 4);
    pen.lineTo(60, 32);
    pen.lineTo(32, 60);
    pen.lineTo(4, 32);
    pen.closePath();
  }
  pen.fillStyle = '#fff';
  pen.fill();
  if (kind !== 2) {
    pen.lineWidth = 7;
    pen.strokeStyle = '#222';
    pen.stroke();
  }
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = 'srgb';
  return texture;
}

/** The tree in the scene: each node at the middle of an object there, drawn over the bodies. */
export class TreeLayer {
  /** Objects that the tree can be drawn at. */
  readonly objects: number[];
  private open = false; // its panel is in sight
  private allowed = true; // by the reader
  private readonly local: Vector3[];
  private at: Vector3[] = [];
  private readonly marks: Points<BufferGeometry, PointsMaterial>[];
  private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly ways: Instances;

  constructor(
    private readonly run: Run,
    private readonly state: TreeState,
    private readonly stage: Stage,
  ) {
    const goal = run.scene.goals.find((g) => g.name === state.tree.goal);
    const inGoal = (b: number) => goal?.bodies.some((placed) => placed.body === b) ?? false;
    this.objects = drawnObjects(run).sort((a, b) => Number(inGoal(b)) - Number(inGoal(a)) || a - b);
    this.local = run.scene.bodies.map((body) => {
      const box: Box3 = localBounds(body);
      return box.isEmpty() ? new Vector3() : box.getCenter(new Vector3());
    });
    this.marks = kPixels.map(
      (size, kind) =>
        new Points(
          new BufferGeometry(),
          new PointsMaterial({
            size,
            sizeAttenuation: false,
            map: markTexture(kind),
            vertexColors: true,
            transparent: true,
            alphaTest: 0.3,
            depthTest: false,
          }),
        ),
    );
    this.lines = new LineSegments(
      new BufferGeometry(),
      new LineBasicMaterial({transparent: true, opacity: 0.5, depthTest: false}),
    );
    for (const [order, part] of [this.lines, ...this.marks].entries()) {
      part.frustumCulled = false;
      part.renderOrder = [5, 9, 7, 8][order]; // lines, start, transits and over them the smaller marks of roll-outs
      stage.overlay.add(part);
    }
    const shaft = shaftShape();
    this.ways = new Instances(stage.overlay, shaft, new MeshBasicMaterial({transparent: true, depthTest: false}), 6);
    if (this.objects.length) this.setObject(this.objects[0]);
    state.onChange(() => this.update());
    this.addPicking();
  }

  show(open: boolean): void {
    this.open = open;
    this.update();
  }

  allow(allowed: boolean): void {
    this.allowed = allowed;
    this.update();
  }

  private get visible(): boolean {
    return this.open && this.allowed;
  }

  /** Draws the tree at another object. */
  setObject(body: number): void {
    const row = 7 * this.run.names.bodies.length,
      {tree} = this.state;
    this.at = Array.from({length: tree.count}, (_, n) =>
      this.local[body].clone().applyMatrix4(poseMatrix(tree.X_WB, n * row + 7 * body) as Matrix4),
    );
    this.update();
  }

  applyTheme(): void {
    this.lines.material.color.set(cssColour('--ink-soft'));
    this.stage.invalidate();
  }

  /** Before every drawing: ways are of constant width on the screen. */
  layOut(): void {
    this.ways.begin();
    if (this.visible && this.at.length) {
      this.addWay(this.state.plan, new Color(cssColour('--ink')), 2);
      if (this.state.selected !== null)
        this.addWay(pathTo(this.state.tree, this.state.selected), new Color(cssColour('--accent')), 2.8);
    }
    this.ways.end();
  }

  private update(): void {
    const {tree, shown} = this.state;
    const drawn = this.visible && this.at.length > 0;
    for (const part of [this.lines, ...this.marks]) part.visible = drawn;
    if (drawn) {
      const ends: number[] = [];
      for (let n = 1; n < shown; ++n) ends.push(...this.at[tree.parent[n]].toArray(), ...this.at[n].toArray());
      this.fill(this.lines.geometry, ends);
      this.marks.forEach((points, kind) => {
        const positions: number[] = [],
          colours: number[] = [],
          colour = new Color();
        for (let n = 0; n < shown; ++n) {
          if (tree.kind[n] !== kind) continue;
          positions.push(...this.at[n].toArray());
          colours.push(...this.state.colourOf(n, colour).toArray());
        }
        this.fill(points.geometry, positions, colours);
      });
    }
    this.stage.invalidate();
  }

  private fill(geometry: BufferGeometry, positions: number[], colours?: number[]): void {
    geometry.dispose();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
    if (colours) geometry.setAttribute('color', new BufferAttribute(new Float32Array(colours), 3));
  }

  private addWay(nodes: number[], colour: Color, pixels: number): void {
    for (let i = 1; i < nodes.length && nodes[i] < this.state.shown; ++i) {
      const from = this.at[nodes[i - 1]],
        axis = this.at[nodes[i]].clone().sub(from),
        length = axis.length();
      if (length > 1e-9)
        this.ways.add(from, axis.divideScalar(length), pixels * this.stage.pixelSize(from), length, colour);
    }
  }

  /** A click on a node in the picture chooses it. */
  private addPicking(): void {
    const {canvas, camera} = this.stage;
    const from = new Vector2();
    canvas.addEventListener('pointerdown', (event) => from.set(event.clientX, event.clientY));
    canvas.addEventListener('click', (event) => {
      if (!this.visible || from.distanceTo(new Vector2(event.clientX, event.clientY)) > kStill) return;
      let best: number | null = null,
        least = kReach;
      for (let n = 0; n < Math.min(this.at.length, this.state.shown); ++n) {
        const p = this.at[n].clone().project(camera);
        const d = Math.hypot(
          ((p.x + 1) / 2) * canvas.clientWidth - event.offsetX,
          ((1 - p.y) / 2) * canvas.clientHeight - event.offsetY,
        );
        if (p.z < 1 && d < least - kSame) {
          best = n;
          least = d;
        }
      }
      if (best !== null) this.state.select(best);
    });
  }
}
