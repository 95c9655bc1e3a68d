import {cssColour, el} from './dom';
import {hex, kForce, kTwist} from './palette';
import {dot, Globe, Mat3, times, Vec3} from './support';

/** What is drawn: loads (force, force, moment) in the axes of the plane of motion. */
export interface GlobePicture {
  surface: Globe;
  ellipsoid: Globe | null;
  turn: Mat3; // from the surface's axes to the plane's; the ellipsoid has the plane's already
  load: Vec3 | null;
  twist: Vec3 | null;
  force: number;
  moment: number; // the largest of the surface: what the axes end at
  axes: [string, string, string];
}

const kSpan = 1.45; // half-width of the picture, in sizes of the surface
const kAxis = 1.22; // length of the axes
const kArrow = 0.42; // length of the twist
export const kViews: [string, number, number][] = [
  ['slanted', -1.08, 0.46],
  ['top', -Math.PI / 2, Math.PI / 2],
  ['front', -Math.PI / 2, 0],
  ['side', 0, 0],
];

interface Point {
  x: number;
  y: number;
}

/** A closed surface with the load that it bears and the twist, which is normal to it. Forces and moments have a scale
 *  each, so that the surface fills the picture; directions of twists are scaled the other way round, so that normals
 *  stay normal. Drag to turn. */
export class GlobeView {
  readonly canvas = el('canvas', {role: 'img'});
  azimuth = kViews[0][1];
  elevation = kViews[0][2];
  private picture: GlobePicture | null = null;

  /** `turned` is called when the reader turns the picture by hand. */
  constructor(turned: () => void) {
    let last: Point | null = null;
    this.canvas.addEventListener('pointerdown', (e) => {
      last = {x: e.clientX, y: e.clientY};
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener('pointerup', () => {
      last = null;
    });
    this.canvas.addEventListener('pointermove', (e) => {
      if (!last) return;
      this.azimuth -= 0.01 * (e.clientX - last.x);
      this.elevation = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.elevation + 0.01 * (e.clientY - last.y)));
      last = {x: e.clientX, y: e.clientY};
      turned();
      this.draw();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  show(picture: GlobePicture | null): void {
    this.picture = picture;
    this.draw();
  }

  private get toCamera(): Vec3 {
    const {azimuth: a, elevation: e} = this;
    return [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  }

  draw(): void {
    const {canvas, picture} = this,
      {clientWidth: width, clientHeight: height} = canvas;
    if (width === 0 || height === 0) return;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    if (!picture) return;
    const pen = canvas.getContext('2d')!;
    pen.scale(devicePixelRatio, devicePixelRatio);
    pen.lineCap = pen.lineJoin = 'round';
    const radius = Math.min(width, height) / 2 / kSpan,
      {azimuth: a, elevation: e} = this,
      d = this.toCamera;
    const right: Vec3 = [-Math.sin(a), Math.cos(a), 0],
      up: Vec3 = [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)];
    const place = (s: Vec3): Point => ({x: width / 2 + radius * dot(right, s), y: height / 2 - radius * dot(up, s)});
    const scaled = (F: Vec3): Vec3 => [F[0] / picture.force, F[1] / picture.force, F[2] / picture.moment];
    const covector = (V: Vec3): Vec3 => [V[0] * picture.force, V[1] * picture.force, V[2] * picture.moment];

    const {surface, turn} = picture;
    const points = surface.points.map((F) => place(scaled(times(turn, F))));
    const faces = surface.normals.map((n) => dot(covector(times(turn, n)), d) >= 0);
    this.axes(pen, place);
    this.grid(pen, surface, points, faces, false);
    pen.globalAlpha = 0.16;
    pen.fillStyle = cssColour('--surface');
    pen.beginPath();
    hull(points).forEach((p, i) => (i ? pen.lineTo(p.x, p.y) : pen.moveTo(p.x, p.y)));
    pen.fill();
    pen.globalAlpha = 1;
    this.grid(pen, surface, points, faces, true);
    if (picture.ellipsoid)
      this.rings(
        pen,
        picture.ellipsoid,
        picture.ellipsoid.points.map((F) => place(scaled(F))),
      );
    this.arrows(pen, place, scaled, covector);
    this.names(pen, place);
  }

  private axes(pen: CanvasRenderingContext2D, place: (s: Vec3) => Point): void {
    pen.strokeStyle = cssColour('--ink-soft');
    pen.lineWidth = 1;
    pen.beginPath();
    for (let i = 0; i < 3; ++i) {
      const [from, to] = [-kAxis, kAxis].map((s) => place(alongAxis(i, s)));
      pen.moveTo(from.x, from.y);
      pen.lineTo(to.x, to.y);
    }
    pen.stroke();
  }

  /** Names of the axes that are not along the line of sight, over all else. */
  private names(pen: CanvasRenderingContext2D, place: (s: Vec3) => Point): void {
    pen.font = '12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.lineWidth = 4;
    pen.strokeStyle = cssColour('--lane');
    pen.fillStyle = cssColour('--ink');
    const middle = place([0, 0, 0]);
    this.picture!.axes.forEach((name, i) => {
      const at = place(alongAxis(i, kAxis + 0.12));
      if (Math.hypot(at.x - middle.x, at.y - middle.y) < 12) return;
      pen.strokeText(name, at.x, at.y);
      pen.fillText(name, at.x, at.y);
    });
  }

  /** Parallels and meridians every 30°; the equator (no moment) and the meridian of the body's own first axis are
   *  stronger. */
  private grid(
    pen: CanvasRenderingContext2D,
    {rows, columns}: Globe,
    points: Point[],
    faces: boolean[],
    front: boolean,
  ): void {
    pen.strokeStyle = cssColour('--surface');
    const segment = (i: number, j: number) => {
      if ((faces[i] || faces[j]) !== front) return;
      pen.moveTo(points[i].x, points[i].y);
      pen.lineTo(points[j].x, points[j].y);
    };
    const line = (strong: boolean, each: () => void) => {
      pen.globalAlpha = front ? (strong ? 1 : 0.55) : strong ? 0.4 : 0.2;
      pen.lineWidth = strong ? 2 : 1;
      pen.beginPath();
      each();
      pen.stroke();
    };
    const middle = (rows - 1) / 2;
    for (let i = middle / 3; i < rows - 1; i += middle / 3)
      line(i === middle, () => {
        for (let j = 0; j < columns; ++j) segment(i * columns + j, i * columns + ((j + 1) % columns));
      });
    for (let j = 0; j < columns; j += columns / 12)
      line(j === 0, () => {
        for (let i = 0; i + 1 < rows; ++i) segment(i * columns + j, (i + 1) * columns + j);
      });
    pen.globalAlpha = 1;
  }

  /** The equator and two meridians, dashed. */
  private rings(pen: CanvasRenderingContext2D, {rows, columns}: Globe, points: Point[]): void {
    pen.strokeStyle = cssColour('--accent');
    pen.lineWidth = 1.4;
    pen.setLineDash([5, 4]);
    const ring = (at: (k: number) => number, count: number) => {
      pen.beginPath();
      for (let k = 0; k <= count; ++k) {
        const p = points[at(k)];
        if (k) pen.lineTo(p.x, p.y);
        else pen.moveTo(p.x, p.y);
      }
      pen.stroke();
    };
    ring((k) => ((rows - 1) / 2) * columns + (k % columns), columns);
    for (const j of [0, columns / 4]) {
      const round = 2 * (rows - 1);
      ring((k) => {
        const i = k % round;
        return i < rows ? i * columns + j : (round - i) * columns + ((j + columns / 2) % columns);
      }, round);
    }
    pen.setLineDash([]);
  }

  /** The load from the origin to the surface, with its foot on the plane of forces; the twist from there outwards. */
  private arrows(
    pen: CanvasRenderingContext2D,
    place: (s: Vec3) => Point,
    scaled: (F: Vec3) => Vec3,
    covector: (V: Vec3) => Vec3,
  ): void {
    const {load, twist} = this.picture!;
    if (!load) return;
    const tip = scaled(load),
      foot: Vec3 = [tip[0], tip[1], 0],
      [o, p, q] = [place([0, 0, 0]), place(tip), place(foot)];
    if (Math.abs(tip[2]) > 0.03) {
      pen.strokeStyle = cssColour('--ink-soft');
      pen.lineWidth = 1;
      pen.setLineDash([2, 3]);
      pen.beginPath();
      pen.moveTo(o.x, o.y);
      pen.lineTo(q.x, q.y);
      pen.lineTo(p.x, p.y);
      pen.stroke();
      pen.setLineDash([]);
    }
    arrow(pen, o, p, hex(kForce));
    if (!twist) return;
    const n = covector(twist),
      length = Math.hypot(...n);
    const end = place(tip.map((x, i) => x + (kArrow * n[i]) / length) as Vec3);
    arrow(pen, p, end, hex(kTwist));
  }
}

const alongAxis = (i: number, s: number): Vec3 => [0, 1, 2].map((j) => (i === j ? s : 0)) as Vec3;

/** An arrow with a rim in the page's colour; a dot where it is seen from its end. */
function arrow(pen: CanvasRenderingContext2D, from: Point, to: Point, colour: string): void {
  const x = to.x - from.x,
    y = to.y - from.y,
    length = Math.hypot(x, y),
    head = Math.min(11, 0.6 * length);
  for (const [width, stroke] of [
    [6.5, cssColour('--panel')],
    [3.2, colour],
  ] as const) {
    pen.strokeStyle = pen.fillStyle = stroke;
    pen.lineWidth = width;
    pen.beginPath();
    if (length < 4) {
      pen.arc(to.x, to.y, width, 0, 2 * Math.PI);
      pen.fill();
      continue;
    }
    const [ux, uy] = [x / length, y / length],
      neck = {x: to.x - head * ux, y: to.y - head * uy},
      wide = 0.5 * head;
    pen.moveTo(from.x, from.y);
    pen.lineTo(neck.x, neck.y);
    pen.stroke();
    pen.lineWidth = Math.max(1, width - 3);
    pen.beginPath();
    pen.moveTo(to.x, to.y);
    pen.lineTo(neck.x - wide * uy, neck.y + wide * ux);
    pen.lineTo(neck.x + wide * uy, neck.y - wide * ux);
    pen.closePath();
    pen.fill();
    pen.stroke();
  }
}

/** The convex hull, in order (Andrew's monotone chain). */
export function hull(points: Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const side = (list: Point[]): Point[] => {
    const chain: Point[] = [];
    for (const p of list) {
      const turns = () => {
        const [a, b] = chain.slice(-2);
        return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) <= 0;
      };
      while (chain.length >= 2 && turns()) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...side(sorted), ...side(sorted.reverse())];
}
