import {Vector3} from 'three';
import {cssColour, el} from './dom';
import {figures} from './format';
import {hull} from './globe_view';
import {bears, kKinds, normalOnBody, placeOnBody, Track} from './patch';
import {poseMatrix} from './pose';
import type {Run} from './run';
import {makeGeometry} from './shapes';

const kAir = 26; // [px] around the outline

/** Where a point of the body is in the picture [px]. */
type Place = (p: ArrayLike<number>) => {x: number; y: number};

/** The way of an equivalent contact point over its body, seen along one of the body's axes: outline of the body, trail
 *  up to the frame. */
export class FaceMap {
  readonly canvas = el('canvas', {role: 'img', className: 'face-map'});
  axis = 2;
  private track: Track | null = null;
  private frame = 0;
  private outline: number[][] = [];
  private places: (Vector3 | null)[] = [];

  constructor(private readonly run: Run) {
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  setTrack(track: Track): void {
    this.track = track;
    this.places = Array.from({length: this.run.frames}, (_, frame) => placeOnBody(this.run, track, frame));
    this.outline = corners(this.run, track.body);
    const far = this.places.filter((p): p is Vector3 => p !== null).map((p) => p.toArray());
    if (this.outline.length === 0) this.outline = far;
  }

  /** The body's axis along which its contact at a frame is seen from outside; the one of the first contact where there
   *  is none. */
  facing(frame: number): number {
    const {track, run} = this;
    if (!track) return 2;
    const at = bears(run, track, frame)
      ? frame
      : Array.from({length: run.frames}, (_, k) => k).find((k) => bears(run, track, k));
    if (at === undefined) return 2;
    const n = normalOnBody(run, track, at).toArray().map(Math.abs);
    return n.indexOf(Math.max(...n));
  }

  show(frame: number): void {
    this.frame = frame;
    this.draw();
  }

  draw(): void {
    const {canvas, axis, run, track} = this,
      {clientWidth: width, clientHeight: height} = canvas;
    if (width === 0 || height === 0 || !track || this.outline.length === 0) return;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    const pen = canvas.getContext('2d')!;
    pen.scale(devicePixelRatio, devicePixelRatio);
    const [i, j] = [(axis + 1) % 3, (axis + 2) % 3],
      range = (k: number) =>
        this.outline.reduce(([a, b], p) => [Math.min(a, p[k]), Math.max(b, p[k])], [Infinity, -Infinity]);
    const [x, y] = [range(i), range(j)],
      size = Math.min(
        (width - 2 * kAir) / Math.max(1e-9, x[1] - x[0]),
        (height - 2 * kAir) / Math.max(1e-9, y[1] - y[0]),
      );
    const place: Place = (p) => ({
      x: width / 2 + size * (p[i] - (x[0] + x[1]) / 2),
      y: height / 2 - size * (p[j] - (y[0] + y[1]) / 2),
    });

    pen.beginPath();
    hull(this.outline.map(place)).forEach((p, k) => (k ? pen.lineTo(p.x, p.y) : pen.moveTo(p.x, p.y)));
    pen.closePath();
    pen.fillStyle = cssColour('--panel');
    pen.fill();
    pen.strokeStyle = cssColour('--surface');
    pen.lineWidth = 1.2;
    pen.stroke();
    this.names(pen, width, height, i, j, [x[1] - x[0], y[1] - y[0]]);

    this.trail(pen, track, place);
    const now = this.places[this.frame];
    if (!now) return;
    const at = place(now.toArray());
    pen.lineWidth = 2.5;
    pen.strokeStyle = cssColour('--ink');
    pen.fillStyle = cssColour(kKinds[run.patches!.kind[track.at[this.frame]]].colour);
    pen.beginPath();
    pen.arc(at.x, at.y, 6, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }

  /** The way up to the frame, in the colours of what the contact was. */
  private trail(pen: CanvasRenderingContext2D, track: Track, place: Place): void {
    let before: {x: number; y: number} | null = null;
    this.places.slice(0, this.frame + 1).forEach((p, frame) => {
      const at = p ? place(p.toArray()) : null,
        kind = p ? kKinds[this.run.patches!.kind[track.at[frame]]] : kKinds[0];
      pen.fillStyle = pen.strokeStyle = cssColour(kind.colour);
      if (at && before) {
        pen.lineWidth = 1.2;
        pen.beginPath();
        pen.moveTo(before.x, before.y);
        pen.lineTo(at.x, at.y);
        pen.stroke();
      }
      if (at) {
        pen.beginPath();
        pen.arc(at.x, at.y, 1.6, 0, 2 * Math.PI);
        pen.fill();
      }
      before = at;
    });
  }

  private names(
    pen: CanvasRenderingContext2D,
    width: number,
    height: number,
    i: number,
    j: number,
    [w, h]: number[],
  ): void {
    pen.font = '12px system-ui, sans-serif';
    pen.fillStyle = cssColour('--ink-soft');
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillText(`${'xyz'[i]} → (${figures(1e3 * w)} mm)`, width / 2, height - kAir / 2);
    pen.save();
    pen.translate(kAir / 2, height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(`${'xyz'[j]} → (${figures(1e3 * h)} mm)`, 0, 0);
    pen.restore();
  }
}

/** Corners of what touches of a body, in its frame. */
function corners(run: Run, index: number): number[][] {
  const body = run.scene.bodies[index],
    found: number[][] = [],
    v = new Vector3();
  for (const {shape, X_BG} of body.collisions.length ? body.collisions : body.visuals) {
    if (shape.type === 'half_space') continue;
    const X = poseMatrix(X_BG),
      position = makeGeometry(shape, 1e-3).getAttribute('position');
    for (let k = 0; k < position.count; ++k) found.push(v.fromBufferAttribute(position, k).applyMatrix4(X).toArray());
  }
  return found;
}
