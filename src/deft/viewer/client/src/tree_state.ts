import {Color} from 'three';
import {treeColour} from './palette';
import type {Tree} from './run';
import {nearestNode, planPath, range} from './tree';

const kGrowth_s = 6; // the whole tree grows in this time when it is played

/** What is shown of the tree: how many nodes, in which colours, and the node that was chosen. */
export class TreeState {
  shown: number;
  selected: number | null = null;
  colourBy: 'cost' | 'time' = 'cost';
  playing = false;
  readonly plan: number[];
  readonly nearest: number;
  private readonly ranges: {cost: [number, number]; time: [number, number]};
  private listeners: (() => void)[] = [];
  private request = 0;

  constructor(
    readonly tree: Tree,
    signal: AbortSignal,
  ) {
    this.shown = tree.count;
    this.plan = planPath(tree);
    this.nearest = nearestNode(tree);
    this.ranges = {cost: range(tree.cost), time: range(tree.time)};
    signal.addEventListener('abort', () => cancelAnimationFrame(this.request));
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Chooses a node, or with null none; what grows later than the nodes shown comes into sight. */
  select(node: number | null): void {
    if (node === this.selected) return;
    this.selected = node;
    if (node !== null && node >= this.shown) this.shown = node + 1;
    this.changed();
  }

  setShown(count: number): void {
    this.shown = Math.min(this.tree.count, Math.max(1, Math.round(count)));
    if (this.selected !== null && this.selected >= this.shown) this.selected = null;
    this.changed();
  }

  setColour(by: 'cost' | 'time'): void {
    this.colourBy = by;
    this.changed();
  }
  get colourRange(): [number, number] {
    return this.ranges[this.colourBy];
  }

  colourOf(node: number, out = new Color()): Color {
    const [low, high] = this.colourRange;
    return treeColour(high > low ? (this.tree[this.colourBy][node] - low) / (high - low) : 0, out);
  }

  /** Lets the tree grow from its root, or from where it stands. */
  toggleGrowth(): void {
    this.playing = !this.playing;
    cancelAnimationFrame(this.request);
    if (this.playing) {
      const from = this.shown >= this.tree.count ? 1 : this.shown,
        begin = performance.now();
      const tick = () => {
        const grown = from + ((performance.now() - begin) / 1e3 / kGrowth_s) * this.tree.count;
        this.playing = grown < this.tree.count;
        if (this.playing) this.request = requestAnimationFrame(tick);
        this.setShown(grown);
      };
      tick();
    } else {
      this.changed();
    }
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
