import {choice, el, emptyState, onWidth} from './dom';
import {hex, kAxes, kForce, kGap, kNormal, kTangential} from './palette';
import type {Player} from './player';
import {Line, Plot, PlotStack} from './plots';
import type {Run} from './run';
import {
  command,
  commandOf,
  commandsVelocities,
  contactPairs,
  coordinate,
  liveliest,
  Pair,
  pairSeries,
  poseSeries,
  rateUnitOf,
  unitOf,
  velocity,
} from './series';

/** Plots tied to the scrubber: a contact pair, a coordinate, a body's pose. */
export class PlotPanel {
  readonly root = el('div', {className: 'plots'});
  private readonly times: number[];
  private readonly stacks: PlotStack[] = [];

  constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    this.times = Array.from(run.t);
    if (run.frames < 2) {
      this.root.append(
        emptyState(
          'No steps, so nothing to plot.',
          'The run holds the start only. Give it a length: `deft sim SCENE --steps 50` (or `--duration 2`, or commands in the scene).',
        ),
      );
      return;
    }
    this.addPairs(contactPairs(run));
    this.addCoordinates();
    this.addPoses();
    player.onChange(() => this.update());
    onWidth(this.root, (width) => {
      for (const stack of this.stacks) stack.resize(width);
      this.update();
    });
  }

  redraw(): void {
    for (const stack of this.stacks) stack.redraw();
  }

  private update(): void {
    for (const stack of this.stacks) stack.moveTo(this.player.time);
  }

  /** A section whose plots `fill` makes, again whenever the function returned is called; `notes` stand above them. */
  private section(heading: string, chooser: Node, fill: (notes: HTMLElement) => Plot[]): () => void {
    const notes = el('div'),
      stack = new PlotStack();
    this.stacks.push(stack);
    this.root.append(el('section', {}, el('h3', {}, heading), chooser, notes, stack.root));
    return () => {
      notes.replaceChildren();
      stack.show(fill(notes));
      this.update();
    };
  }

  private plot(title: string, unit: string, smallest: number, lines: Line[]): Plot {
    return new Plot(title, unit, this.times, lines, this.player, smallest);
  }

  private addPairs(pairs: Pair[]): void {
    if (pairs.length === 0) {
      const margin = this.run.scene.settings.contact_margin;
      this.root.append(
        el(
          'section',
          {},
          el('h3', {}, 'Contact pair'),
          emptyState(
            'No contacts in this run.',
            `No pair came closer than the contact margin${typeof margin === 'number' ? ` of ${1e3 * margin} mm` : ''}. Widen it with ` +
              '`--set step.contact_margin=0.1`, or command a motion that touches something.',
          ),
        ),
      );
      return;
    }
    // Supports carry the most; what a robot touches is what a reader looks for first.
    let pair = pairs.find((p) => p.byRobot && p.load > 0) ?? pairs[0];
    const chooser = choice(
      'Pair',
      pairs.map((p) => [p.key, p.name]),
      pair.key,
      (key) => {
        pair = pairs.find((p) => p.key === key)!;
        refill();
      },
    );
    const refill = this.section('Contact pair', chooser, () => {
      const {gap, fn, ft, product} = pairSeries(this.run, pair);
      return [
        this.plot('Smallest gap', 'mm', 1e-3, [{label: 'gap', colour: hex(kGap), values: gap}]),
        this.plot('Force', 'N', 1e-6, [
          {label: 'normal', colour: hex(kNormal), values: fn},
          {label: 'tangential', colour: hex(kTangential), dash: [5, 3], values: ft},
        ]),
        this.plot('Complementarity |gap · fₙ|', 'mJ', 1e-6, [
          {label: 'gap · normal force', colour: hex(kForce), values: product},
        ]),
      ];
    });
    refill();
  }

  private addCoordinates(): void {
    const {names} = this.run;
    if (names.q.length === 0) return;
    const all = names.q.map((_, i) => i);
    const driven = all.filter((i) => commandOf(this.run, i) >= 0);
    let shown = liveliest(this.run, driven.length ? driven : all);
    const chooser = choice(
      'Coordinate',
      names.q.map((name, i) => [String(i), name]),
      String(shown),
      (i) => {
        shown = Number(i);
        refill();
      },
    );
    const refill = this.section('Coordinate', chooser, (notes) => {
      const name = names.q[shown],
        driver = commandOf(this.run, shown);
      const line = (label: string, values: (number | null)[]): Line =>
        label === 'commanded'
          ? {label, colour: hex(kTangential), dash: [5, 3], values}
          : {label, colour: hex(kNormal), values};
      const actual = line('actual', coordinate(this.run, shown));
      const commanded = driver >= 0 ? [line('commanded', command(this.run, driver))] : [];
      if (driven.length === 0)
        notes.append(el('p', {className: 'hint'}, 'This run has no commands: nothing is actuated.'));
      if (!commandsVelocities(this.run)) return [this.plot(name, unitOf(name), 1e-4, [actual, ...commanded])];
      // Commands that are velocities have an axis of their own, beside what became of them.
      return [
        this.plot(name, unitOf(name), 1e-4, [actual]),
        this.plot(`${name}: velocity`, rateUnitOf(name), 1e-4, [
          line('actual', velocity(this.run, shown)),
          ...commanded,
        ]),
      ];
    });
    refill();
  }

  private addPoses(): void {
    const bodies = this.run.scene.bodies.map((body, i) => ({...body, i}));
    const movable = [...bodies.filter((b) => b.role === 'object'), ...bodies.filter((b) => b.role === 'robot')];
    if (movable.length === 0) return;
    let shown = this.farthest(movable.filter((b) => b.role === movable[0].role).map((b) => b.i));
    const chooser = choice(
      'Body',
      movable.map((b) => [String(b.i), b.name]),
      String(shown),
      (i) => {
        shown = Number(i);
        refill();
      },
    );
    const refill = this.section('Pose of a body', chooser, () => {
      const lists = poseSeries(this.run, shown);
      const lines = (from: number): Line[] =>
        kAxes.map(([label, colour], i) => ({label, colour, values: lists[from + i]}));
      return [
        this.plot('Position in the world', 'm', 1e-4, lines(0)),
        this.plot('Rotation since the start', '°', 0.02, lines(3)),
      ];
    });
    refill();
  }

  /** The body that ends farthest from its start. */
  private farthest(among: number[]): number {
    const {X_WB, frames, names} = this.run;
    const last = 7 * (frames - 1) * names.bodies.length;
    const way = (b: number) => Math.hypot(...[4, 5, 6].map((i) => X_WB[last + 7 * b + i] - X_WB[7 * b + i]));
    return among.reduce((best, b) => (way(b) > way(best) ? b : best), among[0]);
  }
}
