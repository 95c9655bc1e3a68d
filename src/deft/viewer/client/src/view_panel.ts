import type {AlternativeLayer} from './alternative_layer';
import type {Bodies, Look} from './bodies';
import type {ContactLayer, ContactOptions} from './contact_layer';
import {checkbox, choice, el, slider} from './dom';
import {figures} from './format';
import {countKinds, Kind} from './kind';
import {
  hex,
  kForce,
  kGap,
  kNormal,
  kPenetration,
  kPlan,
  kReach,
  kStates,
  kTangential,
  utilisationGradient,
} from './palette';
import {kKinds} from './patch';
import type {PatchLayer} from './patch_layer';
import type {PlanLayer} from './plan_layer';
import type {ReachLayer} from './reach_layer';
import {isSmoothed, Run} from './run';
import type {Stage} from './stage';
import {outcome, uniqueness} from './status';
import {drawStretch} from './status_lane';
import {controllerKind, planKind} from './track';
import type {TrackView} from './track_view';

const kMarkPixels = 18; // of the strip's marks in the legend, as in style.css

type Flag = Exclude<keyof ContactOptions, 'scale' | 'gapLimit'>;

/** What is drawn, and what it means. */
export class ViewPanel {
  readonly root = el('div', {className: 'view-options'});
  private readonly boxes = new Map<Flag, HTMLInputElement>();
  private reachBox: HTMLInputElement | null = null;
  private alternativeBox: HTMLInputElement | null = null;
  private planBox: HTMLInputElement | null = null;
  private lookList: HTMLSelectElement | null = null;
  private readonly patchBoxes = new Map<string, HTMLInputElement>();
  private readonly marks: [HTMLCanvasElement, Kind][] = [];

  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly layer: ContactLayer,
    bodies: Bodies,
    private readonly reach: ReachLayer | null,
    private readonly alternative: AlternativeLayer | null,
    private readonly plan: PlanLayer | null,
    private readonly patch: PatchLayer | null,
    private readonly track: TrackView | null,
  ) {
    this.root.append(
      this.contacts(),
      ...this.planner(),
      ...this.controller(),
      ...(this.track?.options() ?? []),
      this.looks(bodies),
      this.camera(bodies),
      el('section', {}, el('h3', {}, 'Legend'), ...this.legend()),
    );
  }

  toggle(flag: Flag): void {
    this.boxes.get(flag)?.click();
  }
  toggleReach(): void {
    this.reachBox?.click();
  }
  togglePlan(): void {
    this.planBox?.click();
  }
  toggleAlternative(): void {
    this.alternativeBox?.click();
  }
  togglePatch(flag: keyof PatchLayer['options']): void {
    this.patchBoxes.get(flag)?.click();
  }

  /** What is drawn of contacts. */
  private contacts(): HTMLElement {
    return el(
      'section',
      {},
      el('h3', {}, 'Contacts'),
      this.flag('forces', 'Forces'),
      this.flag('split', 'Split into normal and tangential'),
      ...(this.patch ? [] : [this.flag('cones', 'Friction cones')]),
      this.flag('gaps', 'Gaps'),
      this.flag('points', 'Contact points'),
      slider(
        'Force scale',
        -1.5,
        1.5,
        0.05,
        0,
        (x) => {
          this.layer.options.scale = 10 ** x;
          this.stage.invalidate();
        },
        (x) => `${figures(10 ** x, 2)}×`,
      ),
      ...this.patchFlags(),
      ...this.gapLimit(),
    );
  }

  /** From what is drawn to what collides, to both, and back. */
  nextLook(): void {
    const list = this.lookList!;
    list.selectedIndex = (list.selectedIndex + 1) % list.options.length;
    list.dispatchEvent(new Event('change'));
  }

  /** How bodies are drawn. */
  private looks(bodies: Bodies): HTMLElement {
    const redraw = () => this.stage.invalidate();
    const shapes = choice(
      'Shapes',
      [
        ['visual', 'visual'],
        ['collision', 'collision'],
        ['both', 'both'],
      ],
      'visual',
      (look) => {
        bodies.setLook(look as Look);
        redraw();
      },
    );
    this.lookList = shapes.querySelector('select')!;
    return el(
      'section',
      {},
      el('h3', {}, 'Bodies'),
      shapes,
      slider(
        'Opacity',
        0.1,
        1,
        0.05,
        1,
        (x) => {
          bodies.setOpacity(x);
          redraw();
        },
        (x) => `${Math.round(100 * x)} %`,
      ),
      checkbox('Body frames (x red, y green, z blue)', false, (on) => {
        bodies.setFrames(on);
        redraw();
      }),
      checkbox(`Grid, squares of ${figures(bodies.grid.spacing)} m`, true, (on) => {
        bodies.grid.mesh.visible = on;
        redraw();
      }),
      ...this.goals(bodies),
      ...this.alternatives(),
    );
  }

  private camera(bodies: Bodies): HTMLElement {
    const {stage} = this;
    return el(
      'section',
      {},
      el('h3', {}, 'Camera'),
      el(
        'div',
        {className: 'buttons'},
        ...(
          [
            ['Home', () => stage.lookHome()],
            ['Front', () => stage.look('front')],
            ['Side', () => stage.look('side')],
            ['Top', () => stage.look('top')],
          ] as const
        ).map(([text, onclick]) => el('button', {onclick}, text)),
      ),
      ...this.followers(bodies),
    );
  }

  private patchFlags(): HTMLElement[] {
    const {patch} = this;
    if (!patch) return [];
    return (
      [
        ['trails', 'Trails of contact points'],
        ['ellipsoids', 'Friction ellipsoids'],
      ] as const
    ).map(([flag, text]) => {
      const label = checkbox(text, patch.options[flag], (on) => {
        patch.options[flag] = on;
        this.stage.invalidate();
      });
      this.patchBoxes.set(flag, label.querySelector('input')!);
      return label;
    });
  }

  private alternatives(): HTMLElement[] {
    const {alternative} = this;
    if (!alternative) return [];
    const label = checkbox('Alternative solutions of a step', alternative.visible, (on) => {
      alternative.visible = on;
      this.stage.invalidate();
    });
    this.alternativeBox = label.querySelector('input')!;
    return [label];
  }

  private flag(flag: Flag, text: string): HTMLElement {
    const label = checkbox(text, this.layer.options[flag], (on) => {
      this.layer.options[flag] = on;
      this.stage.invalidate();
    });
    this.boxes.set(flag, label.querySelector('input')!);
    return label;
  }

  private planner(): HTMLElement[] {
    const {reach} = this;
    if (!reach) return [];
    const label = checkbox('Reach of the next command', reach.visible, (on) => {
      reach.visible = on;
      this.stage.invalidate();
    });
    this.reachBox = label.querySelector('input')!;
    return [el('section', {}, el('h3', {}, 'Planner'), label)];
  }

  private controller(): HTMLElement[] {
    const {plan} = this;
    if (!plan) return [];
    const label = checkbox('Planned way', plan.visible, (on) => {
      plan.visible = on;
      this.stage.invalidate();
    });
    this.planBox = label.querySelector('input')!;
    return [el('section', {}, el('h3', {}, 'Controller'), label)];
  }

  private gapLimit(): HTMLElement[] {
    const {largestGap, options} = this.layer;
    if (largestGap <= 0) return [];
    const set = (x: number) => {
      options.gapLimit = x;
      this.stage.invalidate();
    };
    return [
      slider('Gaps up to', 0, largestGap, largestGap / 100, options.gapLimit, set, (x) => `${figures(1e3 * x, 2)} mm`),
    ];
  }

  /** Which body the camera goes along with. */
  private followers(bodies: Bodies): HTMLElement[] {
    const movable = this.run.scene.bodies
      .map(({name, role}, i) => ({name, role, i}))
      .filter(({role}) => role === 'object' || role === 'robot');
    if (movable.length === 0) return [];
    movable.sort((a, b) => Number(b.role === 'object') - Number(a.role === 'object'));
    return [
      choice(
        'Follow',
        [['', 'nothing'], ...movable.map(({name, i}): [string, string] => [String(i), name])],
        '',
        (value) => {
          bodies.followed = value === '' ? null : Number(value);
          const at = bodies.followed === null ? null : bodies.groups[bodies.followed].position;
          this.stage.follow(null);
          this.stage.follow(at);
          if (at) this.stage.lookAt(at, 1.5 * this.layer.bodyRadius);
        },
      ),
    ];
  }

  private goals(bodies: Bodies): HTMLElement[] {
    const {goals} = this.run.scene;
    if (goals.length === 0) return [];
    const planned = goals.findIndex((goal) => goal.name === this.run.tree?.goal); // the goal of a plan is shown at once
    if (planned >= 0) bodies.setGoal(planned);
    const options: [string, string][] = [
      ['', 'none'],
      ...goals.map((goal, i): [string, string] => [String(i), goal.name]),
    ];
    return [
      choice('Goal', options, planned >= 0 ? String(planned) : '', (value) => {
        bodies.setGoal(value === '' ? null : Number(value));
        this.stage.invalidate();
      }),
    ];
  }

  private legend(): HTMLElement[] {
    const key = (mark: HTMLElement, text: string) => el('p', {className: 'key'}, mark, text);
    const line = (colour: string, dashed = false) =>
      el('i', {className: 'line', style: `border-top:4px ${dashed ? 'dashed' : 'solid'} ${colour}`});
    const {cone, kappa} = this.run.scene.settings;
    const keys = [
      key(line(hex(kForce)), 'force on the object (on a robot where it touches no object)'),
      key(line(hex(kNormal)), 'normal part'),
      key(line(hex(kTangential)), 'tangential part'),
      ...(this.patch
        ? kKinds
            .slice(1)
            .map((kind) =>
              key(
                el('b', {style: `color:var(${kind.colour})`}, kind.glyph),
                `${kind.meaning}; hollow where they slide`,
              ),
            )
        : []),
      ...kStates.slice(0, this.patch ? 1 : 3).map((s) => key(el('b', {style: `color:${s.colour}`}, s.glyph), s.word)),
      key(
        el('i', {className: 'gradient', style: `background:${utilisationGradient()}`}),
        this.patch
          ? 'friction ellipsoid, by the part of it that is borne, 0 to 1'
          : `friction ${cone === 'pyramid' ? 'pyramid' : 'cone'}, ‖fₜ‖/μfₙ from 0 to 1`,
      ),
      key(line(hex(kGap)), 'gap between witness points'),
      key(line(hex(kPenetration)), 'penetration'),
    ];
    if (isSmoothed(this.run)) {
      const text = `force at a distance (gap > 0.01 mm; κ = ${figures(kappa as number)} 1/J)`;
      keys.splice(1, 0, key(line(hex(kForce), true), text));
    }
    if (this.reach) {
      const {radius, kappa} = this.reach.reach,
        colour = hex(kReach);
      const model = `change ‖δu‖ ≤ ${figures(radius)} rad or m, first order${kappa === null ? '' : `, κ = ${figures(kappa)} 1/J`}`;
      keys.push(
        key(
          el('i', {className: 'shell', style: `border-color:${colour};background:${colour}33`}),
          `positions of an object’s centre of mass after the next command, to scale, with a line to where it goes if the command stays, ± its longest semi-axis in mm (${model})`,
        ),
        key(
          el('b', {style: `color:${colour}`}, '↶↷'),
          'turns after it about up to three axes, to scale, ± the largest in degrees',
        ),
      );
    }
    if (this.plan)
      keys.push(key(line(hex(kPlan)), 'way that the controller plans from here, a dot per stage; ghosts at its end'));
    if (this.track) keys.push(...this.track.legend());
    if (this.alternative)
      keys.push(key(el('i', {className: 'ghost'}), 'where bodies end in the alternative solution of the step'));
    return [...keys, ...this.stripLegend()];
  }

  /** Marks of the strip that occur in the run. */
  private stripLegend(): HTMLElement[] {
    const tracked = this.run.track ? [...countKinds(this.run, controllerKind), ...countKinds(this.run, planKind)] : [];
    const kinds = [...countKinds(this.run, outcome), ...countKinds(this.run, uniqueness), ...tracked].map(
      ([kind]) => kind,
    );
    if (kinds.length === 0) return [];
    return [
      el('h3', {className: 'legend-strip'}, 'Legend of the strip'),
      ...kinds.map((kind) => {
        const canvas = el('canvas', {className: 'mark', 'aria-hidden': 'true'});
        this.marks.push([canvas, kind]);
        return el('p', {className: 'key'}, el('b', {}, canvas), kind.meaning);
      }),
    ];
  }

  applyTheme(): void {
    for (const [canvas, kind] of this.marks) {
      canvas.width = canvas.height = 2 * kMarkPixels; // blank
      const pen = canvas.getContext('2d')!;
      pen.scale(2, 2);
      drawStretch(pen, kind, 0, 0, kMarkPixels, kMarkPixels, undefined);
    }
  }
}
