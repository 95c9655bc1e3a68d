import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {cssColour, el} from './dom';
import {figures} from './format';
import type {Player} from './player';

export interface Line {
  label: string;
  colour: string;
  dash?: number[];
  values: (number | null)[];
}

const kHeight = 118; // [px]

/** One plot over the time of the run, with the moment shown as a line; a click moves the scrubber there. `smallest` is
 *  the least height of its scale. */
export class Plot {
  readonly root = document.createElement('figure');
  private readonly plot: uPlot;
  private readonly marker = document.createElement('div');

  constructor(title: string, unit: string, times: number[], lines: Line[], player: Player, smallest: number) {
    const caption = document.createElement('figcaption');
    caption.textContent = `${title} [${unit}]`;
    const data = [times, ...lines.map((line) => line.values)] as uPlot.AlignedData;
    const ink = () => cssColour('--ink-soft');
    const axis = (size: number, values?: uPlot.Axis.Values): uPlot.Axis => ({
      stroke: ink,
      size,
      gap: 3,
      font: '11px system-ui, sans-serif',
      ticks: {show: false},
      grid: {stroke: () => cssColour('--plot-grid'), width: 1},
      ...(values ? {values} : {}),
    });
    this.plot = new uPlot(
      {
        width: 300,
        height: kHeight,
        padding: [6, 14, 0, 0],
        scales: {x: {time: false}, y: {range: (_, low, high) => padded(low, high, smallest)}},
        axes: [axis(20), axis(52, (_, ticks) => ticks.map((v) => figures(v)))],
        legend: {show: lines.length > 1, live: false, markers: {width: 2}},
        cursor: {points: {size: 6}, drag: {x: false, y: false}},
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            stroke: line.colour,
            width: 1.5,
            dash: line.dash,
            points: {show: times.length < 3},
            spanGaps: false,
          })),
        ],
      },
      data,
      this.root,
    );
    this.root.prepend(caption);
    this.root.setAttribute('role', 'img');
    this.root.setAttribute(
      'aria-label',
      `${title} over time; ${lines.map((line) => rangeText(line, unit)).join('; ')}`,
    );
    this.marker.className = 'marker';
    this.plot.over.append(this.marker);
    this.plot.over.addEventListener('click', (e) => player.seekTime(this.plot.posToVal(e.offsetX, 'x')));
  }

  resize(width: number): void {
    this.plot.setSize({width: Math.max(160, width), height: kHeight});
  }
  moveTo(t: number): void {
    this.marker.style.transform = `translateX(${this.plot.valToPos(t, 'x')}px)`;
  }
  redraw(): void {
    this.plot.redraw(false);
  }
  destroy(): void {
    this.plot.destroy();
  }
}

/** Plots below one another, as wide as the panel that shows them. */
export class PlotStack {
  readonly root = el('div');
  private plots: Plot[] = [];
  private width = 300;

  get empty(): boolean {
    return this.plots.length === 0;
  }
  /** These in place of the former ones. */
  show(plots: Plot[]): void {
    for (const plot of this.plots) plot.destroy();
    this.plots = plots;
    this.root.replaceChildren(...plots.map((plot) => plot.root));
    this.resize(this.width);
  }
  resize(width: number): void {
    this.width = width;
    for (const plot of this.plots) plot.resize(width);
  }
  moveTo(t: number): void {
    for (const plot of this.plots) plot.moveTo(t);
  }
  redraw(): void {
    for (const plot of this.plots) plot.redraw();
  }
}

/** Some air around the data, and at least `smallest` from bottom to top: rounding errors are not to fill the plot. */
function padded(low: number | null, high: number | null, smallest: number): [number, number] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
  const air = Math.max(0.08 * (high - low), (smallest - (high - low)) / 2, 1e-5 * Math.abs(high));
  return [low - air, high + air];
}

function rangeText(line: Line, unit: string): string {
  const seen = line.values.filter((v): v is number => v !== null && Number.isFinite(v));
  if (seen.length === 0) return `${line.label}: no values`;
  const [low, high] = seen.reduce(([l, h], v) => [Math.min(l, v), Math.max(h, v)], [Infinity, -Infinity]);
  return `${line.label} from ${figures(low)} to ${figures(high)} ${unit}`;
}
