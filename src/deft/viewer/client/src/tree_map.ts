import uPlot from 'uplot';
import {cssColour, el} from './dom';
import {figures} from './format';
import {hex} from './palette';
import {Axis, kKinds, pathTo, range} from './tree';
import type {TreeState} from './tree_state';

const kReach = 12; // [px] how near the pointer must come to a node
const kSame = 0.5; // [px] of nodes at one place the first is taken: later ones were grown from it
const kHeight = 224; // [px]
const kDot = 3; // [px] radius of a node's mark
const kCrowd = 400; // nodes; above, the plan is drawn over the marks
const kStill = 4; // [px] a press that moves less is a click

/** The tree over two of its numbers. Drag to zoom, double-click for the whole, click a node to choose it. */
export class TreeMap {
  readonly root = el('figure', {className: 'tree-map', role: 'img'});
  private plot: uPlot | null = null;
  private readonly tip = el('span', {className: 'bubble', hidden: true});
  private axes: [Axis, Axis];
  private width = 300;

  constructor(
    private readonly state: TreeState,
    x: Axis,
    y: Axis,
  ) {
    this.axes = [x, y];
    this.rebuild();
    state.onChange(() => this.redraw());
  }

  setAxes(x: Axis, y: Axis): void {
    this.axes = [x, y];
    this.rebuild();
  }

  resize(width: number): void {
    this.width = Math.max(160, width);
    this.plot?.setSize({width: this.width, height: kHeight});
  }

  redraw(): void {
    this.plot?.redraw(false);
  }

  private rebuild(): void {
    this.plot?.destroy();
    const [x, y] = this.axes;
    const ink = () => cssColour('--ink-soft');
    const axis = (of: Axis, size: number): uPlot.Axis => ({
      stroke: ink,
      size,
      gap: 3,
      font: '11px system-ui, sans-serif',
      ticks: {show: false},
      label: `${of.name}${of.unit === '1' ? '' : ` [${of.unit}]`}`,
      labelSize: 16,
      labelFont: '12px system-ui, sans-serif',
      grid: {stroke: () => cssColour('--plot-grid'), width: 1},
      values: (_, ticks) => ticks.map((v) => figures(v)),
    });
    const ends = (of: Axis): [number, number] => {
      const [low, high] = range(of.goal === null ? of.values : [...Array.from(of.values), of.goal]);
      const air = Math.max(0.06 * (high - low), 1e-9, 1e-6 * Math.abs(high));
      return [low - air, high + air];
    };
    this.root.replaceChildren();
    this.plot = new uPlot(
      {
        width: this.width,
        height: kHeight,
        padding: [6, 10, 0, 0],
        scales: {x: {time: false, range: (_, low, high) => [low, high]}, y: {range: (_, low, high) => [low, high]}},
        axes: [axis(x, 18), axis(y, 44)],
        legend: {show: false},
        cursor: {points: {show: false}, drag: {x: true, y: true, uni: 20}, x: false, y: false},
        series: [{}, {show: true, paths: () => null, points: {show: false}}],
        hooks: {draw: [(plot) => this.draw(plot)]},
      },
      [ends(x), ends(y)],
      this.root,
    );
    this.root.append(this.tip);
    this.root.setAttribute(
      'aria-label',
      `The tree by ${x.name} (across) and ${y.name} (up); ${this.state.tree.count} nodes. ` +
        'Choose a node by its number below, or with the pointer.',
    );
    this.listen(this.plot);
  }

  private listen(plot: uPlot): void {
    let from: [number, number] = [0, 0];
    plot.over.addEventListener('pointerdown', (event) => {
      from = [event.clientX, event.clientY];
    });
    plot.over.addEventListener('click', (event) => {
      if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > kStill) return;
      const node = this.nodeAt(event);
      if (node !== null) this.state.select(node);
    });
    plot.over.addEventListener('pointermove', (event) => {
      const node = event.buttons ? null : this.nodeAt(event);
      this.tip.hidden = node === null;
      if (node === null) return;
      const {tree} = this.state;
      this.tip.textContent = `node ${node}: ${kKinds[tree.kind[node]].word}, ${figures(tree.distance[node])} m to go`;
      const left = plot.over.offsetLeft + event.offsetX;
      this.tip.style.left = `${left}px`;
      this.tip.style.bottom = `${this.root.clientHeight - plot.over.offsetTop - event.offsetY + 10}px`;
      this.tip.classList.toggle('to-left', left > this.width / 2);
    });
    plot.over.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
  }

  private nodeAt(event: MouseEvent): number | null {
    let best: number | null = null,
      least = kReach;
    for (let i = 0; i < this.state.shown; ++i) {
      const [x, y] = this.place(i, false);
      const d = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (d < least - kSame) {
        best = i;
        least = d;
      }
    }
    return best;
  }

  /** Where a node stands, in pixels of the canvas or of the page. */
  private place(node: number, canvas: boolean): [number, number] {
    const [x, y] = this.axes;
    return [this.plot!.valToPos(x.values[node], 'x', canvas), this.plot!.valToPos(y.values[node], 'y', canvas)];
  }

  private draw(plot: uPlot): void {
    this.plot = plot; // the first drawing comes before the constructor returns
    const {state} = this;
    const pen = plot.ctx,
      {left, top, width, height} = plot.bbox;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.lineJoin = 'round';
    this.line(
      pen,
      Array.from({length: state.shown - 1}, (_, i) => i + 1),
      cssColour('--edge-soft'),
      1,
    );
    this.goal(pen);
    const ink = cssColour('--ink'),
      plan = () => this.line(pen, state.plan.slice(1), ink, 2.6);
    const crowded = state.shown > kCrowd; // marks would hide the plan
    if (!crowded) plan();
    if (state.selected !== null)
      this.line(pen, pathTo(state.tree, state.selected).slice(1), cssColour('--accent'), 3.2, [7, 4]);
    // Roll-outs over transits: they are smaller, and a transit begins where a roll-out ended.
    for (const kind of [1, 2, 0])
      for (let i = 0; i < state.shown; ++i) if (state.tree.kind[i] === kind) this.mark(pen, i, ink);
    if (crowded) plan();
    if (state.selected !== null) this.ring(pen, state.selected);
    pen.restore();
  }

  /** Lines from nodes to their parents. */
  private line(
    pen: CanvasRenderingContext2D,
    nodes: number[],
    colour: string,
    width: number,
    dash: number[] = [],
  ): void {
    pen.strokeStyle = colour;
    pen.lineWidth = width * devicePixelRatio;
    pen.setLineDash(dash.map((d) => d * devicePixelRatio));
    pen.beginPath();
    for (const node of nodes) {
      if (node >= this.state.shown) continue;
      pen.moveTo(...this.place(this.state.tree.parent[node], true));
      pen.lineTo(...this.place(node, true));
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  private mark(pen: CanvasRenderingContext2D, node: number, ink: string): void {
    const [x, y] = this.place(node, true),
      r = kDot * devicePixelRatio;
    pen.beginPath();
    if (this.state.tree.kind[node] === 2) pen.arc(x, y, r, 0, 2 * Math.PI);
    else if (this.state.tree.kind[node] === 0) pen.rect(x - 1.5 * r, y - 1.5 * r, 3 * r, 3 * r);
    else {
      const d = 1.7 * r;
      pen.moveTo(x, y - d);
      pen.lineTo(x + d, y);
      pen.lineTo(x, y + d);
      pen.lineTo(x - d, y);
      pen.closePath();
    }
    pen.fillStyle = hex(this.state.colourOf(node));
    pen.fill();
    if (this.state.tree.kind[node] === 2) return;
    pen.strokeStyle = ink;
    pen.lineWidth = devicePixelRatio;
    pen.stroke();
  }

  private ring(pen: CanvasRenderingContext2D, node: number): void {
    pen.beginPath();
    pen.arc(...this.place(node, true), 2.6 * kDot * devicePixelRatio, 0, 2 * Math.PI);
    pen.strokeStyle = cssColour('--accent');
    pen.lineWidth = 2.5 * devicePixelRatio;
    pen.stroke();
  }

  /** A cross where both axes know the goal, a line where one does. */
  private goal(pen: CanvasRenderingContext2D): void {
    const {left, top, width, height} = this.plot!.bbox;
    const [x, y] = this.axes;
    pen.strokeStyle = cssColour('--goal');
    pen.lineWidth = 2 * devicePixelRatio;
    pen.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    pen.beginPath();
    if (x.goal !== null) {
      const at = this.plot!.valToPos(x.goal, 'x', true);
      pen.moveTo(at, top);
      pen.lineTo(at, top + height);
    }
    if (y.goal !== null) {
      const at = this.plot!.valToPos(y.goal, 'y', true);
      pen.moveTo(left, at);
      pen.lineTo(left + width, at);
    }
    pen.stroke();
    pen.setLineDash([]);
  }
}
