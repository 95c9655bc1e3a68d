import {cssColour, el} from './dom';
import {figures, orDash} from './format';
import {countKinds, Kind} from './kind';
import {kindInStep, kindText, tracks} from './patch';
import type {Player} from './player';
import {isFailed, Run} from './run';
import {outcome, uniqueness, statusText} from './status';
import {drawStretch} from './status_lane';
import {controllerKind, kErrors, periodOf, planKind} from './track';

/** One row of the strip: bars of a number, or stretches of steps of one kind. */
interface Lane {
  name: string;
  unit: string;
  log: boolean;
  value: (step: number) => number;
  kind?: (run: Run, step: number) => Kind;
}

const kLaneHeight = 18; // [px]
const kMostContacts = 4; // rows of kinds of contacts; the most loaded

/** Residual, iterations and solve time of every step, one bar each; above them what contacts are (point, line,
 *  surface), what became of the steps, if that is not the same for all, and whether their solutions are unique, if that
 *  was asked. Steps that failed have a red column. */
export class StepStrip {
  readonly root: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly head = el('div', {className: 'playhead'});
  private readonly lanes: Lane[];
  private readonly worst: number[];
  private readonly cursorNote: HTMLElement;

  constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    this.lanes = this.makeLanes();
    this.worst = this.lanes.map((lane) => this.worstStep(lane));
    this.canvas = el('canvas', {
      className: 'bars',
      role: 'img',
      'aria-label': this.summary(),
      onclick: (e: MouseEvent) => this.jump(e),
    });
    this.cursorNote = el('span', {className: 'bubble', hidden: true});
    if (run.steps.count === 0) {
      this.root = el('p', {className: 'strip-empty'}, 'No steps, so no residuals to show.');
      return;
    }
    const names = this.lanes.map((lane, i) =>
      lane.kind ? this.kindButton(lane) : this.valueButton(lane, this.worst[i]),
    );
    this.canvas.style.height = `${this.height}px`;
    const holder = el('div', {className: 'scrub'}, this.canvas, this.head, this.cursorNote);
    this.root = el('div', {className: 'strip'}, el('div', {className: 'lane-names'}, ...names), holder);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('pointerleave', () => {
      this.cursorNote.hidden = true;
    });
    player.onChange(() => this.moveHead());
    new ResizeObserver(() => {
      this.draw();
      this.moveHead();
    }).observe(holder);
  }

  /** The rows that the run has numbers or kinds for. */
  private makeLanes(): Lane[] {
    const {run} = this,
      {residual, iterations, solve_us} = run.steps;
    const kinds = (name: string, kind: (run: Run, step: number) => Kind): Lane => ({
      name,
      unit: '',
      log: false,
      value: (j) => kind(run, j).rank,
      kind,
    });
    return [
      ...(countKinds(run, outcome).length ? [kinds('status', outcome)] : []),
      ...(run.steps.uniqueness || countKinds(run, uniqueness).length ? [kinds('solutions', uniqueness)] : []),
      ...tracks(run)
        .slice(0, kMostContacts)
        .map((track) => kinds(track.short, kindInStep(track))),
      ...(run.track ? [kinds('controller', controllerKind)] : []),
      ...(run.track && countKinds(run, planKind).length ? [kinds('plans', planKind)] : []),
      ...this.known(run.track ? run.track.period : null, {
        name: 'period',
        unit: ' µs',
        log: false,
        value: (j) => periodOf(run, j),
      }),
      ...this.known(residual, {name: 'residual', unit: '', log: true, value: (j) => residual[j]}),
      ...this.known(run.track && iterations.every((n) => n === 0) ? null : iterations, {
        name: 'iterations',
        unit: '',
        log: false,
        value: (j) => iterations[j],
      }),
      ...this.known(run.track && solve_us.every((x) => !(x > 0)) ? null : solve_us, {
        name: 'solve',
        unit: ' µs',
        log: false,
        value: (j) => solve_us[j],
      }),
    ];
  }

  /** The name of a row of bars: jumps to its worst step. */
  private valueButton(lane: Lane, worst: number): HTMLElement {
    const {run, player} = this;
    return el(
      'button',
      {
        className: 'lane-name',
        title: `Jump to the step with the largest ${lane.name} (x: largest residual)`,
        'aria-label': `Jump to worst ${lane.name}, step ${run.frame[worst + 1]}, ${figures(lane.value(worst))}${lane.unit}`,
        onclick: () => player.seek(worst + 1),
      },
      lane.name,
      el('small', {}, `${figures(lane.value(worst), 2)}${lane.unit}`),
    );
  }

  /** A row of bars, unless not one of its numbers is known (simulators that are not ours report no residual). */
  private known(values: ArrayLike<number> | null, lane: Lane): Lane[] {
    if (!values || (values.length > 0 && Array.prototype.every.call(values, (x: number) => Number.isNaN(x)))) return [];
    return [lane];
  }

  /** [px] */
  get height(): number {
    return kLaneHeight * this.lanes.length;
  }

  /** The step that failed first, else the first with several solutions, else the one with the largest residual, or
   *  error where none has a residual. */
  toWorst(): void {
    const {run} = this;
    if (run.steps.count === 0) return;
    const steps = Array.from({length: run.steps.count}, (_, j) => j);
    const notable = steps.find((j) => isFailed(run, j)) ?? steps.find((j) => uniqueness(run, j).mark === 'diamonds');
    this.player.seek(
      (notable ?? this.worst[this.lanes.findIndex((lane) => lane.name === 'residual')] ?? this.largestError()) + 1,
    );
  }

  private largestError(): number {
    const errors = this.run.track?.[kErrors[0].name] ?? [];
    let worst = 0;
    for (let j = 1; j < errors.length; ++j) if (errors[j] > errors[worst]) worst = j;
    return worst;
  }

  /** The name of a row of kinds: jumps from one stretch to the next. */
  private kindButton(lane: Lane): HTMLElement {
    const counts = countKinds(this.run, lane.kind!),
      words = counts.map(([kind, count]) => `${count} ${kind.many}`);
    const text = words.length ? words.join(', ') : `all ${lane.kind!(this.run, 0).word}`;
    return el(
      'button',
      {
        className: 'lane-name',
        title: `${text}. Jump to the next such step`,
        'aria-label': `Jump to the next step by ${lane.name}: ${text}`,
        onclick: () => this.toNext(lane),
      },
      lane.name,
      el('small', {}, words[0] ?? text),
    );
  }

  /** The first step of the next stretch that is not plain; after the last one the first. */
  private toNext(lane: Lane): void {
    const {run, player} = this,
      kind = (j: number) => lane.kind!(run, j);
    const starts = Array.from({length: run.steps.count}, (_, j) => j).filter(
      (j) => kind(j).rank > 0 && (j === 0 || kind(j - 1) !== kind(j)),
    );
    const next = starts.find((j) => j + 1 > player.frame) ?? starts[0];
    if (next !== undefined) player.seek(next + 1);
  }

  draw(): void {
    const width = this.canvas.clientWidth,
      {height} = this,
      ratio = devicePixelRatio;
    if (width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext('2d')!;
    pen.scale(ratio, ratio);
    this.lanes.forEach((lane, i) => {
      if (!lane.kind) this.drawLane(pen, lane, i * kLaneHeight, width);
    });
    this.drawFailures(pen, width, height);
    this.lanes.forEach((lane, i) => {
      if (lane.kind) this.drawKinds(pen, lane, i * kLaneHeight, width);
    });
  }

  private drawLane(pen: CanvasRenderingContext2D, lane: Lane, top: number, width: number): void {
    pen.fillStyle = cssColour('--lane');
    pen.fillRect(0, top, width, kLaneHeight - 2);
    const level = this.scaleOf(lane);
    const {count} = this.run.steps;
    pen.fillStyle = cssColour('--bar');
    const columns = Math.min(count, Math.floor(width));
    for (let column = 0; column < columns; ++column) {
      const [from, to] = this.stepsOf(column, columns);
      let value = 0;
      for (let j = from; j < to; ++j) value = Math.max(value, level(lane.value(j)));
      const h = Math.max(1, value * (kLaneHeight - 3));
      const x = (column * width) / columns;
      pen.fillRect(x, top + kLaneHeight - 2 - h, Math.max(1, width / columns - (width / columns > 4 ? 1 : 0)), h);
    }
  }

  /** Stretches of one kind; where many steps share a pixel, the worst of them counts. */
  private drawKinds(pen: CanvasRenderingContext2D, lane: Lane, top: number, width: number): void {
    pen.fillStyle = cssColour('--lane');
    pen.fillRect(0, top, width, kLaneHeight - 2);
    const columns = Math.min(this.run.steps.count, Math.floor(width)),
      marks = new Map<Kind, number | undefined>();
    const kindOf = (column: number): Kind => {
      const [from, to] = this.stepsOf(column, columns);
      let worst = lane.kind!(this.run, from);
      for (let j = from + 1; j < to; ++j) {
        const kind = lane.kind!(this.run, j);
        if (kind.rank > worst.rank) worst = kind;
      }
      return worst;
    };
    const stretches: {kind: Kind; from: number; to: number}[] = [];
    for (let column = 0; column < columns; ++column) {
      const kind = kindOf(column),
        last = stretches[stretches.length - 1];
      if (last?.kind === kind) last.to = column + 1;
      else stretches.push({kind, from: column, to: column + 1});
    }
    for (const {kind, from, to} of stretches.sort((a, b) => a.kind.rank - b.kind.rank || a.from - b.from)) {
      const x = (from * width) / columns;
      marks.set(
        kind,
        drawStretch(pen, kind, x, top, ((to - from) * width) / columns, kLaneHeight - 2, marks.get(kind)),
      );
    }
  }

  private drawFailures(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const {count} = this.run.steps;
    pen.fillStyle = cssColour('--bad');
    pen.globalAlpha = 0.25;
    for (let j = 0; j < count; ++j) {
      if (!isFailed(this.run, j)) continue;
      const x = ((j + 0.5) * width) / count;
      pen.fillRect(x - Math.max(1, width / count / 2), 0, Math.max(2, width / count), height - 2);
    }
    pen.globalAlpha = 1;
  }

  /** value → [0, 1]: linear from zero, or decades above 1e-16. */
  private scaleOf(lane: Lane): (x: number) => number {
    let top = 0;
    for (let j = 0; j < this.run.steps.count; ++j)
      if (Number.isFinite(lane.value(j))) top = Math.max(top, lane.value(j));
    // Infinite numbers fill the row; numbers that are not known leave it empty.
    if (!lane.log) return (x) => (Number.isNaN(x) ? 0 : Number.isFinite(x) ? x / (top || 1) : 1);
    const decades = Math.log10(Math.max(top, 1e-15) / 1e-16);
    return (x) =>
      Number.isNaN(x) ? 0 : Number.isFinite(x) ? Math.max(0, Math.log10(Math.max(x, 1e-16) / 1e-16) / decades) : 1;
  }

  private worstStep(lane: Lane): number {
    let worst = 0;
    for (let j = 1; j < this.run.steps.count; ++j)
      if (lane.value(j) > lane.value(worst) || Number.isNaN(lane.value(worst))) worst = j;
    return worst;
  }

  private stepsOf(column: number, columns: number): [number, number] {
    const {count} = this.run.steps;
    return [Math.floor((column * count) / columns), Math.max(1, Math.floor(((column + 1) * count) / columns))];
  }

  /** The worst step of the lane in the column of pixels under the pointer. */
  private stepAt(event: MouseEvent): number {
    const columns = Math.min(this.run.steps.count, Math.floor(this.canvas.clientWidth));
    const column = Math.min(columns - 1, Math.max(0, Math.floor((event.offsetX / this.canvas.clientWidth) * columns)));
    const lane = this.lanes[Math.min(this.lanes.length - 1, Math.max(0, Math.floor(event.offsetY / kLaneHeight)))];
    const [from, to] = this.stepsOf(column, columns);
    let worst = from;
    for (let j = from + 1; j < to; ++j) if (lane.value(j) > lane.value(worst)) worst = j;
    return worst;
  }

  private jump(event: MouseEvent): void {
    this.player.seek(this.stepAt(event) + 1);
  }

  private hover(event: PointerEvent): void {
    const j = this.stepAt(event);
    const {residual, iterations, solve_us} = this.run.steps;
    const {track} = this.run,
      touching = kindText(this.run, j + 1);
    const controller = track
      ? `${controllerKind(this.run, j).meaning}, plan ${track.plan[j]}, knot ${figures(track.knot[j])}`
      : '';
    this.cursorNote.textContent =
      `step ${this.run.frame[j + 1]}: ${statusText(this.run, j)}; ${[touching, controller]
        .filter(Boolean)
        .map((text) => `${text}; `)
        .join('')}` +
      `residual ${orDash(residual[j], (x) => figures(x, 2))}, ${iterations[j]} iterations, ${orDash(solve_us[j], figures)} µs`;
    this.cursorNote.style.left = `${event.offsetX}px`;
    this.cursorNote.classList.toggle('to-left', event.offsetX > this.canvas.clientWidth / 2);
    this.cursorNote.hidden = false;
  }

  private moveHead(): void {
    const part = this.player.frame / this.run.steps.count;
    this.head.style.left = `${100 * part}%`;
  }

  private summary(): string {
    if (this.run.steps.count === 0) return 'No steps';
    const failed = Array.from({length: this.run.steps.count}, (_, j) => j).filter((j) => isFailed(this.run, j)).length;
    const says = this.lanes
      .map((lane, i) =>
        lane.kind
          ? countKinds(this.run, lane.kind)
              .map(([kind, count]) => `${count} ${kind.many}`)
              .join(', ') || `${lane.name} all ${lane.kind(this.run, 0).word}`
          : `largest ${lane.name} ${figures(lane.value(this.worst[i]))}${lane.unit}`,
      )
      .join(', ');
    return `${this.run.steps.count} steps, ${failed} not solved; ${says}. Click to jump to a step.`;
  }
}
