import {choice, el, emptyState, fillFacts} from './dom';
import {figures} from './format';
import {GlobeView, kViews} from './globe_view';
import {hex, kForce, kTwist} from './palette';
import type {Player} from './player';
import {isFailed, Run, statusWord} from './run';
import {jamText} from './status';
import {
  ellipsoidGlobe,
  Globe,
  kJammed,
  kMoves,
  loadFrame,
  planeAxes,
  supportAt,
  SupportStep,
  supportTurn,
  surfaceGlobe,
  Vec3,
} from './support';

const kNothing = 1e-7; // of the largest of its kind: single precision

/** The support of an object: what it can resist (the limit surface), what it does resist in the step, and how the
 *  object slides. */
export class SupportPanel {
  readonly root = el('div', {className: 'support'});
  private readonly globe = new GlobeView(() => {
    this.view.value = '';
  });
  private readonly view: HTMLSelectElement;
  private readonly numbers = el('dl', {className: 'globe-numbers', 'aria-label': 'Numbers of the support'});
  private readonly surfaces: Globe[];
  private shown = 0; // index among the supports

  /** Null for runs of other models. */
  static make(run: Run, player: Player): {root: HTMLElement; redraw(): void} | null {
    if (run.scene.settings.model !== 'limit-surface' || run.frames === 0) return null;
    if (run.supports && run.supports.bodies.every((body) => run.scene.bodies[body]?.limit_surface))
      return new SupportPanel(run, player);
    return {
      root: emptyState(
        'This run holds no loads of supports.',
        run.scene.bodies.some((body) => body.role === 'object')
          ? 'Its objects are frozen, or it was written by an older program; then simulate it again: `deft sim SCENE`.'
          : 'Its scene has no object that slides on a support.',
      ),
      redraw: () => {},
    };
  }

  private constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    const {bodies} = run.supports!,
      names = run.names.bodies;
    this.surfaces = bodies.map((body) => surfaceGlobe(run.scene.bodies[body].limit_surface!));
    this.shown = bodies.reduce((best, body, i) => (this.travel(body) > this.travel(bodies[best]) ? i : best), 0);
    const [f, g] = this.axes(),
      views: [string, string][] = [
        ['slanted', 'slanted'],
        ['top', `along τ: ${f} and ${g}`],
        ['front', `along ${g}: ${f} and τ`],
        ['side', `along ${f}: ${g} and τ`],
        ['', 'turned by hand'],
      ];
    const look = choice('Seen', views, 'slanted', (name) => {
      const chosen = kViews.find(([known]) => known === name);
      if (chosen) [, this.globe.azimuth, this.globe.elevation] = chosen;
      this.globe.draw();
    });
    this.view = look.querySelector('select')!;
    const chooser =
      bodies.length < 2
        ? []
        : [
            choice(
              'Object',
              bodies.map((body, i) => [String(i), names[body]]),
              String(this.shown),
              (i) => {
                this.shown = Number(i);
                this.redraw();
              },
            ),
          ];
    this.root.append(
      el(
        'section',
        {},
        el('h3', {}, bodies.length < 2 ? `Limit surface of ${names[bodies[0]]}` : 'Limit surface'),
        ...chooser,
        look,
        el('div', {className: 'globe'}, this.globe.canvas),
        this.numbers,
      ),
      el('section', {}, el('h3', {}, 'Legend'), ...this.legend()),
    );
    player.onChange(() => this.redraw());
  }

  /** Drawn only while it can be seen. */
  redraw(): void {
    if (this.root.offsetParent === null) return;
    const {
        run,
        player: {frame},
      } = this,
      body = run.supports!.bodies[this.shown],
      spec = run.scene.bodies[body].limit_surface!;
    const surface = this.surfaces[this.shown],
      step = supportAt(run, this.shown, frame),
      slides = step !== null && step.factor > 0;
    const force = Math.max(...surface.points.map(([x, y]) => Math.hypot(x, y))),
      moment = Math.max(...surface.points.map(([, , m]) => Math.abs(m)));
    this.globe.show({
      surface,
      turn: supportTurn(run, body, loadFrame(run, frame)),
      ellipsoid: slides && spec.loads ? ellipsoidGlobe(step.form) : null,
      load: slides ? step.load : null,
      twist: slides ? step.twist : null,
      force,
      moment,
      axes: this.axes(),
    });
    const facts = this.facts(step, force, moment);
    fillFacts(this.numbers, facts);
    this.globe.canvas.setAttribute(
      'aria-label',
      `Limit surface of ${run.names.bodies[body]}: forces up to ${figures(force)} N, moments up to ` +
        `${figures(moment)} N·m. ${facts.map(([name, value]) => `${name}: ${value}`).join('; ')}. Drag to turn.`,
    );
  }

  private facts(step: SupportStep | null, force: number, moment: number): [string, string][] {
    const {
      run,
      player: {frame},
    } = this;
    const range: [string, string] = ['surface', `up to ${figures(force)} N and ${figures(moment)} N·m`];
    if (!step) return [range, ['object', 'the start: press → for the first step']];
    if (isFailed(run, frame - 1)) return [range, ['object', `no motion: ${statusWord(run, frame - 1)}`]];
    const jam = step.state === kJammed ? `jam: ${jamText(run, frame - 1)}` : '';
    if (!(step.factor > 0))
      return [range, ['object', jam || 'rests; what its support resists may lie anywhere inside']];
    const round = (x: number, size: number) => figures(Math.abs(x) < kNothing * size ? 0 : x);
    const [f, g, m] = step.load,
      [v, w, turn] = step.twist,
      speed = Math.hypot(v, w) + (Math.abs(turn) * moment) / force;
    return [
      range,
      ['load', `(${round(f, force)}, ${round(g, force)}) N, ${round(m, moment)} N·m`],
      ['twist', `(${round(v, speed)}, ${round(w, speed)}) m/s, ${round(turn, (speed * force) / moment)} rad/s`],
      ['wrench', `${figures(step.factor)} × the load (the factor is free)`],
      ['object', jam || (step.state === kMoves ? 'slides' : 'rests')],
    ];
  }

  private letters(): string[] {
    return planeAxes(this.run).map((axis) => 'xyz'[axis]);
  }
  private axes(): [string, string, string] {
    const [p, q] = this.letters();
    return [`f${p}`, `f${q}`, 'τ'];
  }

  /** How far a body goes from where it starts [m]. */
  private travel(body: number): number {
    const {X_WB, frames, names} = this.run,
      at = (frame: number): Vec3 => [4, 5, 6].map((i) => X_WB[7 * (frame * names.bodies.length + body) + i]) as Vec3;
    const start = at(0);
    return Math.max(
      ...[0.25, 0.5, 0.75, 1].map((part) =>
        Math.hypot(...at(Math.round(part * (frames - 1))).map((x, i) => x - start[i])),
      ),
    );
  }

  private legend(): HTMLElement[] {
    const line = (style: string) => el('i', {className: 'line', style: `border-top:${style}`});
    const key = (mark: HTMLElement, text: string) => el('p', {className: 'key'}, mark, text);
    const flat = this.run.supports!.bodies.some((body) => this.run.scene.bodies[body].limit_surface!.loads);
    return [
      key(
        line('2px solid var(--surface)'),
        'loads that the support just resists, turned with the object; strong lines: no moment, and the body’s own first axis',
      ),
      key(
        line(`4px solid ${hex(kForce)}`),
        'load: the wrench of the contacts about the object’s origin, scaled to the surface, on which it must lie while the object slides',
      ),
      key(line(`4px solid ${hex(kTwist)}`), 'twist of the object: its direction, normal to the surface as it is drawn'),
      ...(flat
        ? [
            key(
              line('2px dashed var(--accent)'),
              'ellipsoid that takes the place of the surface in this step: it touches there and bends alike',
            ),
          ]
        : []),
    ];
  }
}
