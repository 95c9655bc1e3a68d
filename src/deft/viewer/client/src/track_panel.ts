import {choice, cssColour, el, emptyState, fillFacts, onWidth} from './dom';
import {figures, orDash} from './format';
import type {Player} from './player';
import {Line, Plot, PlotStack} from './plots';
import type {Run} from './run';
import {controllerKind, errorBeside, kErrors, kLeastError, limitsOf, periodOf} from './track';

/** How well a run follows its plan: numbers of the moment, errors, and the controller over the run; beside those of a
 *  second run. */
export class TrackPanel {
  readonly root = el('div', {className: 'tracking'});
  private readonly numbers = el('dl', {className: 'globe-numbers', 'aria-label': 'Numbers of the tracking'});
  private readonly times: number[];
  private readonly plots = new PlotStack();
  private logarithmic = false;

  /** Null where nothing is followed. */
  static make(run: Run, player: Player, scaled: (logarithmic: boolean) => void): TrackPanel | null {
    return run.track || run.beside?.errors ? new TrackPanel(run, player, scaled) : null;
  }

  /** `scaled` is called when the reader chooses the scale of the errors. */
  private constructor(
    private readonly run: Run,
    private readonly player: Player,
    scaled: (logarithmic: boolean) => void,
  ) {
    this.times = Array.from(run.t);
    const scale = choice(
      'Errors',
      [
        ['linear', 'linear'],
        ['log', 'logarithmic'],
      ],
      'linear',
      (value) => {
        this.logarithmic = value === 'log';
        this.refill();
        scaled(this.logarithmic);
      },
    );
    this.root.append(
      el('section', {}, el('h3', {}, run.track ? 'Tracking at this moment' : 'Error at this moment'), this.numbers),
      el('section', {}, el('h3', {}, 'Over the run'), scale, this.plots.root),
    );
    if (run.steps.count === 0)
      this.root.replaceChildren(
        emptyState('No steps, so no errors.', 'The run was cut short before its first period ended.'),
      );
    else this.refill();
    player.onChange(() => this.redraw());
    onWidth(this.root, (width) => {
      this.plots.resize(width);
      this.redraw();
    });
  }

  redraw(): void {
    if (this.root.offsetParent === null) return;
    this.plots.moveTo(this.player.time);
    fillFacts(this.numbers, this.facts());
  }

  /** Lines take their colours when they are made. */
  applyTheme(): void {
    if (!this.plots.empty) this.refill();
  }

  private refill(): void {
    this.plots.show(this.makePlots());
    this.plots.moveTo(this.player.time);
  }

  private makePlots(): Plot[] {
    const {
        run: {track, steps},
        times,
        player,
      } = this,
      accent = cssColour('--accent');
    // Step j ends at frame j + 1; the start has no record.
    const column = (values: ArrayLike<number>, scale = 1) =>
      times.map((_, k) => (k > 0 && Number.isFinite(values[k - 1]) ? scale * values[k - 1] : null));
    const plots = steps.count < 2 ? [] : kErrors.map((_, error) => this.errorPlot(error));
    if (!track || steps.count < 2) return plots;
    return [
      ...plots,
      new Plot(
        'Controller’s time per period',
        'µs',
        times,
        [{label: 'time', colour: accent, values: column(Array.from(track.period, (_, j) => periodOf(this.run, j)))}],
        player,
        1,
      ),
      new Plot(
        'Reference',
        'knot of the plan',
        times,
        [{label: 'knot', colour: accent, values: column(track.knot)}],
        player,
        0.1,
      ),
    ];
  }

  private errorPlot(error: number): Plot {
    const {run, times, player} = this,
      {name, title, unit, scale} = kErrors[error],
      {replan, tolerance} = limitsOf(run, error);
    const shown = (x: number | null) =>
      x === null || !Number.isFinite(x) ? null : this.logarithmic ? Math.log10(Math.max(x, kLeastError)) : scale * x;
    const own = run.track,
      beside = run.beside?.errors ? run.beside : null,
      lines: Line[] = [];
    if (own)
      lines.push({
        label: beside?.here ?? 'error',
        colour: cssColour('--accent'),
        values: times.map((_, k) => (k > 0 ? shown(own[name][k - 1]) : null)),
      });
    if (beside)
      lines.push({
        label: beside.title,
        colour: cssColour('--beside'),
        dash: [5, 3],
        values: times.map((t) => shown(errorBeside(beside, name, t))),
      });
    const top = Math.max(...lines.flatMap((line) => line.values.map((v) => v ?? -Infinity)));
    const constant = (label: string, limit: number | null, colour: string) => {
      // A limit far above the errors would press them to the floor.
      if (limit === null || (!this.logarithmic && scale * limit > 3 * top)) return;
      lines.push({label, colour: cssColour(colour), dash: [2, 3], values: times.map(() => shown(limit))});
    };
    constant('new plan above', replan, '--bad');
    if (tolerance !== replan) constant('tolerance at the end', tolerance, '--ink-soft');
    return new Plot(
      title,
      this.logarithmic ? `log₁₀ ${['m', 'rad'][error]}` : unit,
      times,
      lines,
      player,
      this.logarithmic ? 1 : 1e-6,
    );
  }

  private facts(): [string, string][] {
    const {
        run,
        player: {frame, time},
      } = this,
      {track, beside} = run,
      j = frame - 1;
    const errors = (values: (error: number) => number | null) =>
      kErrors
        .map(({unit, scale}, error) => {
          const value = values(error);
          return value === null ? '–' : orDash(value, (x) => `${figures(scale * x)} ${unit}`);
        })
        .join(', ');
    const facts: [string, string][] = [];
    if (track && j < 0) facts.push(['controller', 'the start: nothing is commanded yet']);
    if (track && j >= 0) {
      const kind = controllerKind(run, j);
      facts.push(
        [
          'controller',
          kind.meaning.toLowerCase() === kind.word.toLowerCase()
            ? kind.word
            : `${kind.word} – ${kind.meaning.replace(/^[^:]*: /, '')}`,
        ],
        ['error', errors((error) => track[kErrors[error].name][j])],
        ['knot', `${figures(track.knot[j], 4)} of plan ${track.plan[j]}`],
        ['its time', orDash(track.period[j], (x) => `${figures(x)} µs`)],
      );
    }
    if (beside) {
      facts.push([
        beside.title,
        beside.errors ? errors((error) => errorBeside(beside, kErrors[error].name, time)) : 'follows no plan',
      ]);
      const end = beside.t[beside.t.length - 1];
      if (time > end + 1e-6) facts.push(['', `it ended at ${figures(end)} s`]);
    }
    return facts;
  }
}
