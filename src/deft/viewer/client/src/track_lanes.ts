import {cssColour, el, onWidth} from './dom';
import {figures} from './format';
import type {Player} from './player';
import type {Run} from './run';
import {errorBeside, kErrors, limitsOf} from './track';

const kHeight = 34; // [px] of a row
const kBarePixels = 3; // above the curve
const kDecades = 4; // below the largest error, on a logarithmic axis

/** Position and rotation error over the steps, on the axis of the strip: the run's own, the second run's, and where a
 *  new plan is made. */
export class ErrorLanes {
  readonly parts: HTMLElement[] = [];
  private logarithmic = false;
  private readonly rows: {canvas: HTMLCanvasElement; head: HTMLElement; error: number; top: number}[] = [];

  constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    if (!run.steps.count || !(run.track || run.beside?.errors)) return;
    kErrors.forEach((_, error) => this.addRow(error));
    player.onChange(() => this.moveHeads());
    onWidth(this.rows[0].canvas.parentElement!, () => {
      this.draw();
      this.moveHeads();
    });
  }

  /** [px] */
  get height(): number {
    return kHeight * this.rows.length;
  }

  private own(error: number, step: number): number {
    return this.run.track?.[kErrors[error].name][step] ?? NaN;
  }
  private other(error: number, step: number): number | null {
    const {run} = this;
    return run.beside ? errorBeside(run.beside, kErrors[error].name, run.t[step + 1]) : null;
  }

  private addRow(error: number): void {
    const {run, player} = this,
      {name, title, unit, scale} = kErrors[error];
    let worst = 0,
      top = 0;
    for (let j = 0; j < run.steps.count; ++j) {
      const value = run.track ? this.own(error, j) : (this.other(error, j) ?? NaN);
      if (value > top || j === 0) [worst, top] = [j, Number.isFinite(value) ? value : top];
    }
    const largest = top;
    for (let j = 0; j < run.steps.count; ++j) top = Math.max(top, this.other(error, j) ?? 0);
    const text = `${figures(scale * largest)} ${unit}`;
    const button = el(
      'button',
      {
        className: 'lane-name tall',
        title: `${title}: largest ${text}. Jump there`,
        'aria-label': `Jump to the largest ${name} error, step ${run.frame[worst + 1]}, ${text}`,
        onclick: () => player.seek(worst + 1),
      },
      el('span', {}, `${name} error`),
      el('small', {}, `≤ ${text}`),
    );
    const otherLargest = run.beside?.errors
      ? Math.max(...Array.from(run.beside.errors[name], (x) => (Number.isFinite(x) ? x : 0)), 0)
      : null;
    const canvas = el('canvas', {
      className: 'bars',
      role: 'img',
      style: `height:${kHeight}px`,
      'aria-label':
        `${title} over the steps; ${run.track ? `largest ${text}` : 'none of this run'}` +
        (otherLargest === null ? '' : `; of ${run.beside!.title} ${figures(scale * otherLargest)} ${unit}`),
      onclick: (e: MouseEvent) => player.seek(this.stepAt(e) + 1),
    });
    const head = el('div', {className: 'playhead'}),
      bubble = el('span', {className: 'bubble', hidden: true});
    const holder = el('div', {className: 'scrub errors'}, canvas, head, bubble);
    canvas.addEventListener('pointermove', (e) => {
      const j = this.stepAt(e),
        own = this.own(error, j),
        other = this.other(error, j);
      const texts = [
        ...(Number.isNaN(own) ? [] : [`${figures(scale * own)} ${unit}`]),
        ...(other === null ? [] : [`${run.beside!.title}: ${figures(scale * other)} ${unit}`]),
      ];
      bubble.textContent = `step ${run.frame[j + 1]}: ${texts.join('; ') || 'no error known'}`;
      bubble.style.left = `${e.offsetX}px`;
      bubble.classList.toggle('to-left', e.offsetX > canvas.clientWidth / 2);
      bubble.hidden = false;
    });
    canvas.addEventListener('pointerleave', () => {
      bubble.hidden = true;
    });
    this.rows.push({canvas, head, error, top});
    this.parts.push(button, holder);
  }

  setLogarithmic(on: boolean): void {
    this.logarithmic = on;
    this.draw();
  }

  draw(): void {
    for (const {canvas, error, top} of this.rows) {
      const width = canvas.clientWidth,
        ratio = devicePixelRatio;
      if (width === 0) continue;
      canvas.width = width * ratio;
      canvas.height = kHeight * ratio;
      const pen = canvas.getContext('2d')!;
      pen.scale(ratio, ratio);
      pen.fillStyle = cssColour('--lane');
      pen.fillRect(0, 0, width, kHeight - 2);
      this.drawRow(pen, error, top, width);
    }
  }

  private drawRow(pen: CanvasRenderingContext2D, error: number, top: number, width: number): void {
    const {run} = this,
      {count} = run.steps,
      floor = kHeight - 3,
      limits = limitsOf(run, error);
    // The limit that starts a new plan is in the picture if the errors come near it.
    const high =
      limits.replan !== null && (this.logarithmic || limits.replan < 3 * top) ? Math.max(top, limits.replan) : top;
    const part = (value: number) =>
      this.logarithmic ? Math.max(0, 1 + Math.log10(value / (high || 1)) / kDecades) : value / (high || 1);
    const y = (value: number) => floor - part(value) * (floor - kBarePixels);
    for (const [limit, colour] of [
      [limits.replan, '--bad'],
      [limits.tolerance, '--ink-soft'],
    ] as const) {
      if (limit === null || limit > 1.001 * high || (colour === '--ink-soft' && limit === limits.replan)) continue;
      pen.strokeStyle = cssColour(colour);
      pen.setLineDash([2, 3]);
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(0, Math.floor(y(limit)) + 0.5);
      pen.lineTo(width, Math.floor(y(limit)) + 0.5);
      pen.stroke();
    }
    const curve = (value: (step: number) => number | null, colour: string, dash: number[]) => {
      pen.strokeStyle = cssColour(colour);
      pen.setLineDash(dash);
      pen.lineWidth = 2;
      pen.beginPath();
      let down = false;
      for (let j = 0; j < count; ++j) {
        const v = value(j);
        if (v === null || !Number.isFinite(v)) {
          down = false;
          continue;
        }
        const x = ((j + 0.5) * width) / count;
        if (down) pen.lineTo(x, y(v));
        else pen.moveTo(x, y(v));
        down = true;
      }
      pen.stroke();
    };
    if (run.beside) curve((j) => this.other(error, j), '--beside', [5, 3]);
    if (run.track) curve((j) => this.own(error, j), '--accent', []);
  }

  private stepAt(event: MouseEvent): number {
    const {count} = this.run.steps,
      width = (event.target as HTMLElement).clientWidth;
    return Math.min(count - 1, Math.max(0, Math.floor((event.offsetX / width) * count)));
  }

  private moveHeads(): void {
    const {run, player} = this;
    for (const {head} of this.rows) head.style.left = `${(100 * player.frame) / run.steps.count}%`;
  }
}

/** The moment that is shown, with fractions of frames while playing. */
export function timeShown(run: Run, player: Player): number {
  const low = Math.min(player.last, Math.floor(player.position)),
    high = Math.min(player.last, low + 1);
  return run.t[low] + (player.position - low) * (run.t[high] - run.t[low]);
}
