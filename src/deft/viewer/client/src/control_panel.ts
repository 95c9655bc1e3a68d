import {el, emptyState, fillFacts, onWidth} from './dom';
import {figures, seconds} from './format';
import {hex, kGap, kNormal, kPlan, kStates, kTangential} from './palette';
import {planRows} from './plan';
import type {Player} from './player';
import {Line, Plot, PlotStack} from './plots';
import type {Plans, Run} from './run';

const kNoPlan = {word: 'no plan', glyph: '·', colour: '#7b8490'};

/** The plan made at the frame: its certificate, what each contact does at each stage; and cost, gap and time over the
 *  run. */
export class ControlPanel {
  readonly root = el('div', {className: 'control'});
  private readonly numbers = el('dl', {className: 'globe-numbers', 'aria-label': 'Numbers of the plan'});
  private readonly modes = el('div', {className: 'modes'});
  private readonly plots = new PlotStack();

  /** Null for runs without a controller. */
  static make(run: Run, player: Player): ControlPanel | null {
    return run.plans ? new ControlPanel(run, player, run.plans) : null;
  }

  private constructor(
    private readonly run: Run,
    private readonly player: Player,
    private readonly plans: Plans,
  ) {
    if (plans.count > 1) this.plots.show(this.makePlots());
    this.root.append(this.planSection(), el('section', {}, el('h3', {}, 'Over the run'), this.plots.root));
    if (plans.count === 0)
      this.root.replaceChildren(
        emptyState('No steps, so no plans.', 'Simulate some: `deft sim SCENE --controller mixed-integer --steps 50`.'),
      );
    player.onChange(() => this.redraw());
    onWidth(this.root, (width) => {
      this.plots.resize(width);
      this.redraw();
    });
  }

  /** Cost, gap and time of every period. */
  private makePlots(): Plot[] {
    const {run, player, plans} = this,
      times = Array.from(run.t);
    const series = (values: ArrayLike<number>) =>
      times.map((_, k) => (k < plans.count && Number.isFinite(values[k]) ? values[k] : null));
    const line = (label: string, colour: string, values: (number | null)[], dash?: number[]): Line => ({
      label,
      colour,
      values,
      dash,
    });
    const cost = [
      line('cost', hex(kPlan), series(plans.cost)),
      line('bound', hex(kTangential), series(plans.bound), [5, 3]),
    ];
    const gaps = series(plans.gap).map((x) => (x === null ? null : Math.log10(Math.max(x, 1e-12))));
    const milliseconds = series(plans.time).map((x) => (x === null ? null : 1e3 * x));
    return [
      new Plot('Cost of the plan', '1', times, cost, player, 1e-6),
      new Plot('Relative gap', 'log₁₀', times, [line('gap', hex(kGap), gaps)], player, 1),
      new Plot('Time of the period', 'ms', times, [line('time', hex(kNormal), milliseconds)], player, 1e-3),
    ];
  }

  /** The plan made at the frame: numbers, and states of contacts with their marks. */
  private planSection(): HTMLElement {
    const {plans} = this,
      safe = Array.from(plans.fallback).filter((x) => x > 0).length;
    const note = el(
      'p',
      {className: 'chip warn', role: 'note'},
      `${safe} of ${plans.count} periods had no plan: the safe command was given`,
    );
    return el(
      'section',
      {},
      el('h3', {}, `Plan over ${plans.horizon} ${plans.horizon === 1 ? 'step' : 'steps'} from here`),
      ...(safe > 0 ? [note] : []),
      this.numbers,
      this.modes,
      el(
        'p',
        {className: 'state-keys'},
        ...[...kStates, kNoPlan]
          .slice(0, safe > 0 ? 4 : 3)
          .map((s) => el('span', {}, el('b', {style: `color:${s.colour}`}, s.glyph), ` ${s.word}`)),
        el('span', {}, el('i', {className: 'line', style: `border-top:3px solid ${hex(kPlan)}`}), ' planned way'),
      ),
    );
  }

  redraw(): void {
    if (this.root.offsetParent === null) return;
    const {
      player: {frame},
    } = this;
    this.plots.moveTo(this.player.time);
    fillFacts(this.numbers, this.facts(frame));
    this.modes.replaceChildren(this.table(frame));
  }

  applyTheme(): void {
    this.plots.redraw();
  }

  private facts(frame: number): [string, string][] {
    const {plans, run} = this;
    if (frame >= plans.count) return [['plan', 'none: the run ends here']];
    const word = run.names.status_words[plans.status[frame]],
      time: [string, string] = ['time', seconds(plans.time[frame])];
    if (plans.fallback[frame]) return [['plan', `none (${word}): the safe command is given`], time];
    const proven = word === 'Solved' ? 'proven optimal' : `the best found (${word})`;
    return [
      ['plan', proven],
      ['cost', `${figures(plans.cost[frame], 6)}, no plan below ${figures(plans.bound[frame], 6)}`],
      ['gap', figures(plans.gap[frame])],
      time,
    ];
  }

  /** A row per contact in reach, a cell per stage. */
  private table(frame: number): HTMLElement {
    const rows = planRows(this.run, frame);
    if (rows.length === 0)
      return el('p', {className: 'hint'}, frame < this.plans.count ? 'No contact is in reach of the horizon.' : '');
    const head = el(
      'tr',
      {},
      el('th', {scope: 'col'}, 'contact, stage'),
      ...rows[0].states.map((_, k) =>
        el('th', {scope: 'col'}, rows[0].states.length <= 12 || (k + 1) % 5 === 0 ? String(k + 1) : ''),
      ),
    );
    return el(
      'table',
      {'aria-label': 'Contacts of the plan, stage by stage'},
      el('thead', {}, head),
      el(
        'tbody',
        {},
        ...rows.map(({name, states}) =>
          el(
            'tr',
            {},
            el('th', {scope: 'row'}, name),
            ...states.map((state, k) => {
              const {word, glyph, colour} = kStates[state] ?? kNoPlan;
              return el(
                'td',
                {
                  title: `${name}, stage ${k + 1}: ${word}`,
                  'aria-label': word,
                  style: `color:${colour};background:color-mix(in srgb, ${colour} ${state ? 22 : 6}%, transparent)`,
                },
                glyph,
              );
            }),
          ),
        ),
      ),
    );
  }
}
