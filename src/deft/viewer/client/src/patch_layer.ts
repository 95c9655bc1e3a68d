import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  SphereGeometry,
  Vector3,
} from 'three';
import type {Bodies} from './bodies';
import type {ContactLayer} from './contact_layer';
import {Instances, headShape, shaftShape} from './instances';
import {kForce, kTangential, utilisationColour} from './palette';
import {kKinds, Patch, placeOnBody, readPatch, Track, tracks} from './patch';
import type {Run} from './run';
import type {Stage} from './stage';

const kMarkerPixels = 24; // size of the equivalent contact point
const kTrailPixels = 5; // of a point of its trail
const kRingPixels = 1.3,
  kShaftPixels = 2.2,
  kArcPixels = 34; // radii of lines and of the arc of the torsion
const kClear = 1.08; // radius of that arc over the friction ellipsoid's, around which it goes
const kFullTurn = 1.5 * Math.PI; // angle of the arc where friction bears no more torsion
const kPieces = 40; // of a ring
const kUp = new Vector3(0, 0, 1);

export interface PatchOptions {
  trails: boolean;
  ellipsoids: boolean;
}

/** The sign of a kind: disc, bar or hexagon with a light rim; hollow where the bodies slide. */
function markerTexture(kind: number, slides: boolean): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d')!;
  pen.beginPath();
  if (kind === 1) pen.arc(32, 32, 17, 0, 2 * Math.PI);
  else if (kind === 2) pen.rect(8, 22, 48, 20);
  else
    for (let i = 0; i < 6; ++i)
      pen.lineTo(32 + 24 * Math.cos((i * Math.PI) / 3), 32 + 24 * Math.sin((i * Math.PI) / 3));
  pen.closePath();
  pen.lineJoin = 'round';
  pen.lineWidth = 13;
  pen.strokeStyle = '#fff';
  pen.stroke();
  pen.fillStyle = '#fff';
  pen.fill();
  pen.lineWidth = 7;
  pen.strokeStyle = pen.fillStyle = kKinds[kind].hex;
  pen.stroke();
  if (!slides) pen.fill();
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = 'srgb';
  return texture;
}

/** Sprites of one size and picture. */
function makeSprites(pixels: number, map: CanvasTexture, order: number): Points<BufferGeometry, PointsMaterial> {
  const sprites = new Points(
    new BufferGeometry(),
    new PointsMaterial({
      sizeAttenuation: false,
      size: pixels,
      map,
      transparent: true,
      alphaTest: 0.1,
      depthTest: false,
    }),
  );
  sprites.frustumCulled = false;
  sprites.renderOrder = order;
  return sprites;
}

/** Round and white: coloured point by point. */
function discTexture(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const pen = canvas.getContext('2d')!;
  pen.fillStyle = '#fff';
  pen.arc(16, 16, 15, 0, 2 * Math.PI);
  pen.fill();
  return new CanvasTexture(canvas);
}

/** The way of an equivalent contact point over its body: everything is there from the start, frames still to come are
 *  not drawn. */
class Trail {
  readonly group = new Group();
  private readonly dots: Points<BufferGeometry, PointsMaterial>;
  private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly dotsUpTo: Int32Array;
  private readonly linesUpTo: Int32Array;

  constructor(
    run: Run,
    readonly track: Track,
    disc: CanvasTexture,
  ) {
    const places: number[] = [],
      colours: number[] = [],
      ways: number[] = [],
      wayColours: number[] = [],
      colour = new Color();
    this.dotsUpTo = new Int32Array(run.frames);
    this.linesUpTo = new Int32Array(run.frames);
    let before: Vector3 | null = null;
    for (let frame = 0; frame < run.frames; ++frame) {
      const place = placeOnBody(run, track, frame);
      if (place) {
        colour.set(kKinds[run.patches!.kind[track.at[frame]]].hex);
        places.push(...place.toArray());
        colours.push(colour.r, colour.g, colour.b);
        if (before) {
          ways.push(...before.toArray(), ...place.toArray());
          for (let i = 0; i < 2; ++i) wayColours.push(colour.r, colour.g, colour.b);
        }
      }
      before = place;
      this.dotsUpTo[frame] = places.length / 3;
      this.linesUpTo[frame] = ways.length / 3;
    }
    const geometry = (positions: number[], tints: number[]) =>
      new BufferGeometry()
        .setAttribute('position', new BufferAttribute(new Float32Array(positions), 3))
        .setAttribute('color', new BufferAttribute(new Float32Array(tints), 3));
    this.dots = makeSprites(kTrailPixels, disc, 4);
    this.dots.geometry = geometry(places, colours);
    this.dots.material.vertexColors = true;
    this.lines = new LineSegments(
      geometry(ways, wayColours),
      new LineBasicMaterial({vertexColors: true, transparent: true, depthTest: false}),
    );
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 4;
    this.group.add(this.dots, this.lines);
  }

  /** Up to a frame; returns how many points that are. */
  setFrame(frame: number): number {
    this.dots.geometry.setDrawRange(0, this.dotsUpTo[frame]);
    this.lines.geometry.setDrawRange(0, this.linesUpTo[frame]);
    return this.dotsUpTo[frame];
  }
}

/** Contacts of the model of the equivalent contact point: that point with its kind, its trail on the body, the torsion,
 *  the friction ellipsoid. */
export class PatchLayer {
  readonly options: PatchOptions = {trails: true, ellipsoids: true};
  /** Points of the trails that are drawn. */
  trailed = 0;
  private patches: Patch[] = [];
  private readonly trails: Trail[];
  private readonly markers: {kind: number; slides: boolean; sprites: Points<BufferGeometry, PointsMaterial>}[] = [];
  private readonly shells: Mesh<SphereGeometry, MeshBasicMaterial>[] = [];
  private readonly lines: Instances;
  private readonly heads: Instances;

  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly contacts: ContactLayer,
    private readonly bodies: Bodies,
  ) {
    const solid = new MeshBasicMaterial({transparent: true});
    this.lines = new Instances(stage.overlay, shaftShape(), solid, 3);
    this.heads = new Instances(stage.overlay, headShape(), solid, 3);
    const disc = discTexture();
    this.trails = tracks(run).map((track) => new Trail(run, track, disc));
    for (const {group} of this.trails) stage.overlay.add(group);
    for (const kind of [1, 2, 3]) {
      for (const slides of [false, true]) {
        const sprites = makeSprites(kMarkerPixels, markerTexture(kind, slides), 6);
        this.markers.push({kind, slides, sprites});
        stage.overlay.add(sprites);
      }
    }
  }

  setFrame(frame: number | null): void {
    this.patches =
      frame === null
        ? []
        : tracks(this.run).flatMap(({at}) => (at[frame] < 0 ? [] : [readPatch(this.run, at[frame])!]));
    this.trailed = 0;
    for (const trail of this.trails) this.trailed += trail.setFrame(frame ?? 0);
  }

  /** Before every drawing: widths are constant on the screen, trails go with their bodies. */
  layOut(): void {
    for (const instances of [this.lines, this.heads]) instances.begin();
    for (const {group, track} of this.trails) {
      group.visible = this.options.trails;
      group.position.copy(this.bodies.groups[track.body].position);
      group.quaternion.copy(this.bodies.groups[track.body].quaternion);
    }
    const loaded = this.patches.filter(({contact}) => contact.state > 0 && Number.isFinite(contact.fn));
    loaded.forEach((patch, i) => this.addEllipsoid(patch, i));
    for (let i = loaded.length; i < this.shells.length; ++i) this.shells[i].visible = false;
    if (this.contacts.options.forces) for (const patch of loaded) this.addTorsion(patch);
    for (const {kind, slides, sprites} of this.markers) {
      const places = this.contacts.options.points
        ? loaded.filter((p) => p.kind === kind && (p.contact.state === 2) === slides).flatMap((p) => p.contact.point)
        : [];
      sprites.visible = places.length > 0;
      sprites.material.size = kMarkerPixels * this.contacts.markScale;
      sprites.geometry.dispose();
      sprites.geometry = new BufferGeometry().setAttribute(
        'position',
        new BufferAttribute(new Float32Array(places), 3),
      );
    }
    for (const instances of [this.lines, this.heads]) instances.end();
  }

  /** Its third axis is the torsion over e_r, so that the force in it is on its surface exactly where friction can bear
   *  no more. */
  private addEllipsoid({contact, axes, force, largest, used}: Patch, i: number): void {
    const shell = (this.shells[i] ??= this.makeShell()),
      center = new Vector3(...contact.point),
      scale = this.contacts.metresPerForce;
    const limit = contact.mu * contact.fn,
      semi = [largest[0], largest[1], limit].map((x, k) => axes[k].clone().multiplyScalar(x * scale));
    shell.visible = this.options.ellipsoids && limit * scale > 4 * this.stage.pixelSize(center);
    if (!shell.visible) return;
    const colour = utilisationColour(used);
    shell.material.color.copy(colour);
    shell.matrix.makeBasis(semi[0], semi[1], semi[2]).setPosition(center);
    shell.matrixWorldNeedsUpdate = true;
    for (const [a, b] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ])
      this.addCurve(center, semi[a], semi[b], 2 * Math.PI, kRingPixels, colour);
    const radius = largest[2] > 0 ? largest[2] / limit : 0; // e_r
    const tip = center
      .clone()
      .addScaledVector(axes[0], force[0] * scale)
      .addScaledVector(axes[1], force[1] * scale)
      .addScaledVector(axes[2], radius > 0 ? (force[2] / radius) * scale : 0);
    this.addArrow(center, tip, kTangential);
  }

  private makeShell(): Mesh<SphereGeometry, MeshBasicMaterial> {
    const shell = new Mesh(
      new SphereGeometry(1, 32, 20),
      new MeshBasicMaterial({transparent: true, opacity: 0.2, side: DoubleSide, depthWrite: false}),
    );
    shell.matrixAutoUpdate = false;
    shell.frustumCulled = false;
    shell.renderOrder = 1;
    this.stage.overlay.add(shell);
    return shell;
  }

  /** An arc about the normal, as long as the torsion is large beside what friction can bear. */
  private addTorsion({contact, axes: [t, o], force, largest}: Patch): void {
    const part = largest[2] > 0 ? Math.max(-1, Math.min(1, force[2] / largest[2])) : 0;
    if (Math.abs(part) < 0.02) return;
    const center = new Vector3(...contact.point),
      pixel = this.stage.pixelSize(center),
      radius = Math.max(kArcPixels * pixel, kClear * Math.max(largest[0], largest[1]) * this.contacts.metresPerForce);
    const [x, y] = [t.clone().multiplyScalar(radius), o.clone().multiplyScalar(Math.sign(part) * radius)],
      angle = Math.abs(part) * kFullTurn;
    const head = Math.min(11 * pixel, 0.6 * angle * radius),
      neck = angle - head / radius;
    const end = this.addCurve(center, x, y, neck, kShaftPixels, kForce);
    const axis = center.clone().addScaledVector(x, Math.cos(angle)).addScaledVector(y, Math.sin(angle)).sub(end);
    this.heads.add(end, axis.clone().normalize(), 0.45 * head, axis.length(), kForce);
  }

  /** center + cos(a) x + sin(a) y, 0 ≤ a ≤ angle; returns its end. */
  private addCurve(center: Vector3, x: Vector3, y: Vector3, angle: number, pixels: number, colour: Color): Vector3 {
    const pieces = Math.max(2, Math.ceil((kPieces * angle) / (2 * Math.PI)));
    const point = (k: number) =>
      center
        .clone()
        .addScaledVector(x, Math.cos((angle * k) / pieces))
        .addScaledVector(y, Math.sin((angle * k) / pieces));
    let from = point(0);
    for (let k = 1; k <= pieces; ++k) {
      const to = point(k);
      this.addLine(from, to, pixels, colour);
      from = to;
    }
    return from;
  }

  private addLine(from: Vector3, to: Vector3, pixels: number, colour: Color): void {
    const axis = to.clone().sub(from),
      length = axis.length();
    if (length > 0)
      this.lines.add(from, axis.divideScalar(length), pixels * this.stage.pixelSize(from), length, colour);
  }

  private addArrow(from: Vector3, to: Vector3, colour: Color): void {
    const length = to.distanceTo(from),
      pixel = this.stage.pixelSize(from);
    if (length < 3 * pixel) return;
    const axis = to.clone().sub(from).divideScalar(length),
      head = Math.min(0.45 * length, 12 * pixel);
    this.addLine(from, to.clone().addScaledVector(axis, -head), kShaftPixels, colour);
    this.heads.add(
      to.clone().addScaledVector(axis, -head),
      axis.lengthSq() > 0 ? axis : kUp,
      0.42 * head,
      head,
      colour,
    );
  }
}
