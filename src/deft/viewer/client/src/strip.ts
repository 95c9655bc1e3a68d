import {cssColour, el} from './dom';
import {figures} from './format';
import type {Player} from './player';
import {isFailed, Run, statusWord} from './run';

interface Lane {name: string; unit: string; log: boolean; value: (step: number) => number}

const kLaneHeight = 18; // [px]

/** Residual, iterations and solve time of every step, one bar each; steps that failed are marked by a cross and a red column. */
export class StepStrip {
  readonly root: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly head = el('div', {className: 'playhead'});
  private readonly lanes: Lane[];
  private readonly worst: number[];
  private readonly cursorNote: HTMLElement;

  constructor(private readonly run: Run, private readonly player: Player) {
    const {residual, iterations, solve_us} = run.steps;
    this.lanes = [
      {name: 'residual', unit: '', log: true, value: (j) => residual[j]},
      {name: 'iterations', unit: '', log: false, value: (j) => iterations[j]},
      {name: 'solve', unit: ' µs', log: false, value: (j) => solve_us[j]},
    ];
    this.worst = this.lanes.map((lane) => this.worstStep(lane));
    this.canvas = el('canvas', {className: 'bars', role: 'img', 'aria-label': this.summary(), onclick: (e: MouseEvent) => this.jump(e)});
    this.cursorNote = el('span', {className: 'bubble', hidden: true});
    if (run.steps.count === 0) {
      this.root = el('p', {className: 'strip-empty'}, 'No steps, so no residuals to show.');
      return;
    }
    const names = this.lanes.map((lane, i) => el('button', {
      className: 'lane-name', title: `Jump to the step with the largest ${lane.name} (x: largest residual)`,
      'aria-label': `Jump to worst ${lane.name}, step ${run.frame[this.worst[i] + 1]}, ${figures(lane.value(this.worst[i]))}${lane.unit}`,
      onclick: () => player.seek(this.worst[i] + 1),
    }, lane.name, el('small', {}, `${figures(lane.value(this.worst[i]), 2)}${lane.unit}`)));
    const holder = el('div', {className: 'scrub'}, this.canvas, this.head, this.cursorNote);
    this.root = el('div', {className: 'strip'}, el('div', {className: 'lane-names'}, ...names), holder);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('pointerleave', () => { this.cursorNote.hidden = true; });
    player.onChange(() => this.moveHead());
    new ResizeObserver(() => { this.draw(); this.moveHead(); }).observe(holder);
  }

  /** The step that failed first, else the one with the largest residual. */
  toWorst(): void {
    if (this.run.steps.count === 0) return;
    const failed = Array.from({length: this.run.steps.count}, (_, j) => j).find((j) => isFailed(this.run, j));
    this.player.seek((failed ?? this.worst[0]) + 1);
  }

  draw(): void {
    const width = this.canvas.clientWidth, height = kLaneHeight * this.lanes.length, ratio = devicePixelRatio;
    if (width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext('2d')!;
    pen.scale(ratio, ratio);
    this.lanes.forEach((lane, i) => this.drawLane(pen, lane, i * kLaneHeight, width));
    this.drawFailures(pen, width, height);
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

  private drawFailures(pen: CanvasRenderingContext2D, width: number, height: number): void {
    const {count} = this.run.steps;
    pen.strokeStyle = pen.fillStyle = cssColour('--bad');
    pen.lineWidth = 1.5;
    for (let j = 0; j < count; ++j) {
      if (!isFailed(this.run, j)) continue;
      const x = ((j + 0.5) * width) / count;
      pen.globalAlpha = 0.25;
      pen.fillRect(x - Math.max(1, width / count / 2), 0, Math.max(2, width / count), height - 2);
      pen.globalAlpha = 1;
      pen.beginPath();
      for (const s of [-1, 1]) { pen.moveTo(x - 3.5, 8 - 3.5 * s); pen.lineTo(x + 3.5, 8 + 3.5 * s); }
      pen.stroke();
    }
  }

  /** value → [0, 1]: linear from zero, or decades above 1e-16. */
  private scaleOf(lane: Lane): (x: number) => number {
    let top = 0;
    for (let j = 0; j < this.run.steps.count; ++j) if (Number.isFinite(lane.value(j))) top = Math.max(top, lane.value(j));
    if (!lane.log) return (x) => (Number.isFinite(x) ? x / (top || 1) : 1);
    const decades = Math.log10(Math.max(top, 1e-15) / 1e-16);
    return (x) => (Number.isFinite(x) ? Math.max(0, Math.log10(Math.max(x, 1e-16) / 1e-16) / decades) : 1);
  }

  private worstStep(lane: Lane): number {
    let worst = 0;
    for (let j = 1; j < this.run.steps.count; ++j) if (!(lane.value(j) <= lane.value(worst))) worst = j;
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

  private jump(event: MouseEvent): void { this.player.seek(this.stepAt(event) + 1); }

  private hover(event: PointerEvent): void {
    const j = this.stepAt(event);
    const {residual, iterations, solve_us} = this.run.steps;
    this.cursorNote.textContent = `step ${this.run.frame[j + 1]}: ${statusWord(this.run, j)}, residual ${figures(residual[j], 2)}, ` +
      `${iterations[j]} iterations, ${figures(solve_us[j])} µs`;
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
    const largest = this.lanes.map((lane, i) => `largest ${lane.name} ${figures(lane.value(this.worst[i]))}${lane.unit}`).join(', ');
    return `${this.run.steps.count} steps, ${failed} not solved; ${largest}. Click to jump to a step.`;
  }
}
