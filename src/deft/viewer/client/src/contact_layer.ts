import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  CylinderGeometry,
  DoubleSide,
  Matrix4,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  Quaternion,
  Scene,
  TorusGeometry,
  Vector3,
} from 'three';
import {Contact, readContact, readContacts} from './contact';
import {millimetres} from './format';
import {Instances, headShape, shaftShape} from './instances';
import type {Labels} from './labels';
import {kForce, kGap, kNormal, kPenetration, kStates, kTangential, utilisationColour} from './palette';
import {hasPatch} from './patch';
import {isSmoothed, Run} from './run';
import type {Stage} from './stage';

const kTouching = 1e-5; // [m] above this gap a force is drawn as one at a distance
const kNoGap = 1e-6; // [m] below this size a gap is not worth a number
const kConePart = 0.6; // height of a friction cone over the length of the normal force: the arrow goes through its lid
const kShaftPixels = 2.4; // radius of an arrow on screen
const kGlyphPixels = 17; // size of a contact point; smaller where the bodies are small on screen
const kNear = 0.35; // [radii of the objects] gaps up to here are shown at first
const kPlatePixels = 5; // radius of the plates at the ends of a gap; of a penetration twice that: wider than the glyph

export interface ContactOptions {
  forces: boolean;
  split: boolean;
  cones: boolean;
  gaps: boolean;
  points: boolean;
  scale: number;
  gapLimit: number;
}

/** A glyph as a sprite: hollow ring (open), square (stick), triangle (slide), each with a light rim. */
function glyphTexture(state: number): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d')!;
  pen.beginPath();
  if (state === 0) pen.arc(32, 32, 19, 0, 2 * Math.PI);
  else if (state === 1) pen.rect(15, 15, 34, 34);
  else {
    pen.moveTo(32, 9);
    pen.lineTo(54, 50);
    pen.lineTo(10, 50);
    pen.closePath();
  }
  pen.lineJoin = 'round';
  pen.lineWidth = state === 0 ? 20 : 12;
  pen.strokeStyle = '#fff';
  pen.stroke();
  pen.lineWidth = 10;
  pen.strokeStyle = pen.fillStyle = kStates[state].colour;
  if (state === 0) pen.stroke();
  else pen.fill();
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = 'srgb';
  return texture;
}

/** Sprites of one state at the contact points. */
class Glyphs {
  private readonly points: Points<BufferGeometry, PointsMaterial>;
  constructor(scene: Scene, state: number) {
    const material = new PointsMaterial({
      sizeAttenuation: false,
      map: glyphTexture(state),
      transparent: true,
      alphaTest: 0.1,
      depthTest: false,
    });
    this.points = new Points(new BufferGeometry(), material);
    this.points.frustumCulled = false;
    this.points.renderOrder = 5;
    scene.add(this.points);
  }
  show(positions: number[], pixels: number): void {
    this.points.material.size = pixels;
    this.points.geometry.dispose();
    this.points.geometry = new BufferGeometry().setAttribute(
      'position',
      new BufferAttribute(new Float32Array(positions), 3),
    );
    this.points.visible = positions.length > 0;
  }
}

/** Forces, friction cones, gaps and contact points of one frame, drawn over the bodies. */
export class ContactLayer {
  readonly options: ContactOptions = {
    forces: true,
    split: false,
    cones: true,
    gaps: true,
    points: true,
    scale: 1,
    gapLimit: 0,
  };
  contacts: Contact[] = [];
  private readonly shafts: Instances;
  private readonly heads: Instances;
  private readonly cones: Instances;
  private readonly rims: Instances | null;
  private readonly glyphs: Glyphs[];
  /** The largest gap in the run [m]: at most the contact margin. */
  readonly largestGap: number;
  private readonly metresPerNewton: number;
  private fine = 1; // 1, or less where the bodies are small on screen: marks shrink with them

  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly labels: Labels,
    readonly bodyRadius: number,
  ) {
    // `transparent` only puts the arrows after the cones in the drawing order: they are not to be tinted by them.
    const solid = new MeshBasicMaterial({transparent: true});
    // An arrow behind a rim is not to look dashed.
    const rim = new MeshBasicMaterial({transparent: true, depthWrite: false});
    const glass = new MeshBasicMaterial({transparent: true, opacity: 0.25, side: DoubleSide, depthWrite: false});
    const {cone, rays} = run.scene.settings;
    const sides = cone === 'pyramid' ? (run.scene.plane ? 2 : Math.max(3, rays ?? 4)) : 40;
    const funnel = new CylinderGeometry(1, 0, 1, sides, 1, true).translate(0, 0.5, 0).rotateX(Math.PI / 2);
    this.cones = new Instances(stage.overlay, funnel, glass, 1);
    this.rims =
      sides < 3 ? null : new Instances(stage.overlay, new TorusGeometry(1, 0.012, 6, sides).translate(0, 0, 1), rim, 2);
    this.shafts = new Instances(stage.overlay, shaftShape(), solid, 3);
    this.heads = new Instances(stage.overlay, headShape(), solid, 3);
    this.glyphs = kStates.map((_, state) => new Glyphs(stage.overlay, state));
    let largest = 0;
    for (const gap of run.contacts.gap) if (Number.isFinite(gap)) largest = Math.max(largest, gap);
    this.largestGap = largest;
    this.options.gapLimit = Math.min(this.largestGap, kNear * bodyRadius);
    this.metresPerNewton = Math.min(0.42 * stage.radius, 1.3 * bodyRadius) / this.typicalForce();
  }

  /** Smallest gaps first: where numbers would cover one another, theirs stay. */
  setFrame(frame: number): void {
    this.contacts = readContacts(this.run, frame).sort((a, b) => a.gap - b.gap);
  }

  /** Shows none: the bodies stand at poses of which no contacts are known. */
  clear(): void {
    this.contacts = [];
  }

  /** Lays everything out for the camera of the moment: widths are constant on the screen. */
  layOut(): void {
    for (const instances of [this.shafts, this.heads, this.cones, this.rims]) instances?.begin();
    this.fine = Math.min(1, Math.max(0.45, (0.02 * this.bodyRadius) / this.stage.pixelSize(this.stage.center)));
    const positions: number[][] = kStates.map(() => []);
    for (const contact of this.contacts) {
      if (!Number.isFinite(contact.fn + contact.gap)) continue;
      const point = new Vector3(...contact.point);
      const near =
        contact.gap <= this.options.gapLimit || Math.abs(contact.fn) * this.metresPerNewton > 0.1 * this.bodyRadius;
      if (this.options.points && near && !(contact.state > 0 && hasPatch(this.run, contact.index)))
        positions[contact.state]?.push(...contact.point);
      if (this.options.cones) this.addCone(contact, point);
      if (this.options.forces) this.addForces(contact, point);
      if (this.options.gaps && contact.gap <= this.options.gapLimit) this.addGap(contact, point);
    }
    this.glyphs.forEach((glyphs, state) => glyphs.show(positions[state], kGlyphPixels * this.fine));
    for (const instances of [this.shafts, this.heads, this.cones, this.rims]) instances?.end();
  }

  /** By what marks are smaller than they are where bodies are large on the screen. */
  get markScale(): number {
    return this.fine;
  }

  /** Length of a force of 1 N [m]. */
  get metresPerForce(): number {
    return this.metresPerNewton * this.options.scale;
  }

  /** Where the force arrow of a contact ends. */
  tip(contact: Contact): Vector3 {
    return this.along(contact, contact.force);
  }

  /** The largest force that is not an outlier (95 %), so that one impact does not shrink all arrows. */
  private typicalForce(): number {
    const {count} = this.run.contacts;
    const stride = Math.max(1, Math.floor(count / 4000));
    const sizes: number[] = [];
    for (let c = 0; c < count; c += stride) {
      const {force} = readContact(this.run, c);
      const size = Math.hypot(...force);
      if (Number.isFinite(size) && size > 0) sizes.push(size);
    }
    sizes.sort((a, b) => a - b);
    return sizes[Math.floor(0.95 * (sizes.length - 1))] || 1;
  }

  private along(contact: Contact, force: number[]): Vector3 {
    return new Vector3(...contact.point).addScaledVector(new Vector3(...force), this.metresPerForce);
  }

  private addForces(contact: Contact, point: Vector3): void {
    const far = isSmoothed(this.run) && contact.gap > kTouching;
    if (!this.options.split) {
      this.addArrow(point, this.along(contact, contact.force), kForce, far);
      return;
    }
    const normal = contact.normal.map((n) => n * contact.fn);
    this.addArrow(point, this.along(contact, normal), kNormal, far);
    this.addArrow(
      point,
      this.along(
        contact,
        contact.force.map((f, i) => f - normal[i]),
      ),
      kTangential,
      far,
    );
  }

  private addArrow(from: Vector3, to: Vector3, colour: Color, dashed: boolean): void {
    const axis = to.clone().sub(from);
    const length = axis.length(),
      pixel = this.stage.pixelSize(from);
    if (length < 3 * pixel) return;
    axis.divideScalar(length);
    const width = kShaftPixels * this.fine ** 0.5 * pixel;
    const head = Math.min(0.45 * length, 5.5 * width);
    this.heads.add(to.clone().addScaledVector(axis, -head), axis, 2.6 * width, head, colour);
    const shaft = length - head;
    if (!dashed) {
      this.shafts.add(from, axis, width, shaft, colour);
      return;
    }
    const pieces = Math.min(40, Math.max(2, Math.round(shaft / (9 * pixel))));
    for (let i = 0; i < pieces; ++i) {
      this.shafts.add(
        from.clone().addScaledVector(axis, (i * shaft) / pieces),
        axis,
        width,
        (0.55 * shaft) / pieces,
        colour,
      );
    }
  }

  private addCone(contact: Contact, point: Vector3): void {
    if (hasPatch(this.run, contact.index)) return; // it has an ellipsoid
    const height = kConePart * contact.fn * this.metresPerForce;
    if (!(height > 6 * this.stage.pixelSize(point)) || contact.mu <= 0) return;
    const colour = utilisationColour(contact.utilisation);
    const orientation = this.coneFrame(new Vector3(...contact.normal));
    this.cones.addOriented(point, orientation, contact.mu * height, height, colour);
    this.rims?.addOriented(point, orientation, contact.mu * height, height, colour);
  }

  /** The frame in which a pyramid's rays lie: t₁ = normalised e_j × n, j the axis of smallest |n_j|, t₂ = n × t₁. */
  private coneFrame(n: Vector3): Quaternion {
    const e = new Vector3();
    const {plane} = this.run.scene;
    if (plane) e.setComponent({yz: 0, xz: 1, xy: 2}[plane], 1);
    else
      e.setComponent(
        [0, 1, 2].reduce((best, j) => (Math.abs(n.getComponent(j)) < Math.abs(n.getComponent(best)) ? j : best), 0),
        1,
      );
    const t = e.cross(n).normalize();
    // In the plane the geometry's two corners lie on its y axis; in space the order of the axes does not matter.
    const basis = plane ? [t.clone().cross(n), t, n] : [t, n.clone().cross(t), n];
    return new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(basis[0], basis[1], basis[2]));
  }

  private addGap(contact: Contact, point: Vector3): void {
    const {gap} = contact;
    if (Math.abs(gap) < kNoGap) return;
    const colour = gap < 0 ? kPenetration : kGap;
    const n = new Vector3(...contact.normal);
    const pixel = this.stage.pixelSize(point);
    const length = Math.abs(gap);
    const begin = point.clone().addScaledVector(n, -length / 2);
    this.shafts.add(begin, n, 1.1 * pixel, length, colour);
    for (const end of [0, length]) {
      this.shafts.add(
        begin.clone().addScaledVector(n, end - 0.5 * pixel),
        n,
        (gap < 0 ? 2 : 1) * kPlatePixels * pixel,
        pixel,
        colour,
      );
    }
    this.labels.add(point, millimetres(gap), gap < 0 ? 'penetration' : 'gap');
  }
}
