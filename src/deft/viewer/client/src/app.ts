import {Vector3} from 'three';
import {AlternativeLayer} from './alternative_layer';
import {Bodies} from './bodies';
import {boundsOfMotion, typicalRadius} from './bounds';
import {contactRange} from './contact';
import {ContactLayer} from './contact_layer';
import {ContactTable} from './contact_table';
import {ControlPanel} from './control_panel';
import {el, emptyState} from './dom';
import {ExplainLayer} from './explain_layer';
import {ExplainPanel} from './explain_panel';
import {clearDirection} from './home';
import {addHover} from './hover';
import {helpDialog, Key, listenToKeys} from './keyboard';
import {countKinds} from './kind';
import {Labels} from './labels';
import {tracks} from './patch';
import {PatchLayer} from './patch_layer';
import {PatchPanel} from './patch_panel';
import {PlanLayer} from './plan_layer';
import {Player} from './player';
import {PlotPanel} from './plot_panel';
import {ReachLayer} from './reach_layer';
import {isFailed, Run, statusWord} from './run';
import {Stage} from './stage';
import {outcome, uniqueness} from './status';
import {SupportPanel} from './support_panel';
import {makeTabs} from './tabs';
import {followTheme} from './theme';
import {Timeline} from './timeline';
import {controllerKind, planKind} from './track';
import {TrackPanel} from './track_panel';
import {TrackView} from './track_view';
import {TreeView} from './tree_view';
import {ViewPanel} from './view_panel';

const kDirections = {xy: new Vector3(0, -1e-3, 1), xz: new Vector3(0, -1, 0.12), yz: new Vector3(1, 0, 0.12)};
const kSpaceDirection = new Vector3(0.8, -1.5, 0.85);

/** One run on the page: everything is built here and taken down by the signal. */
export class App {
  readonly root: HTMLElement;
  readonly player: Player;
  private stage: Stage | null = null;
  private layer: ContactLayer | null = null;
  private bodies: Bodies | null = null;
  private tree: TreeView | null = null;
  private reach: ReachLayer | null = null;
  private alternative: AlternativeLayer | null = null;
  private plan: PlanLayer | null = null;
  private patch: PatchLayer | null = null;
  private track: TrackView | null = null;
  private explain: ExplainLayer | null = null; // failed tries of a search

  constructor(
    private readonly run: Run,
    openButton: HTMLElement,
    private readonly signal: AbortSignal,
  ) {
    const player = (this.player = new Player(run));
    const view = el('section', {className: 'view', 'aria-label': '3-D view'});
    this.root = el('div', {className: 'app'});
    document.title = `${run.title} – deft`;
    document.querySelector('#app')!.replaceChildren(this.root);

    const timeline = new Timeline(run, player);
    const plots = new PlotPanel(run, player);
    const table = new ContactTable(run, player);
    this.root.append(view); // in the page before the stage measures it
    const options = this.makeView(view);
    if (run.tree) this.tree = new TreeView(run, run.tree, view, this.stage, player, () => this.showFrame(), signal);
    const support = SupportPanel.make(run, player);
    const patch = PatchPanel.make(run, player);
    const control = ControlPanel.make(run, player);
    const tracking = TrackPanel.make(run, player, (logarithmic) => timeline.scaleErrors(logarithmic));
    const explain = ExplainPanel.make(run.explanation, this.explain);
    const tabs: [string, {root: HTMLElement} | null | undefined][] = [
      ['Why', explain],
      ['Track', tracking],
      ['Control', control],
      ['Patch', patch],
      ['Support', support],
      ['Tree', this.tree?.panel],
      ['Plots', plots],
      ['Contacts', table],
      ['View', options],
    ];
    const panels = tabs.flatMap(([name, panel]): [string, HTMLElement][] => (panel ? [[name, panel.root]] : []));

    const applyTheme = () => {
      for (const part of [this.bodies, this.stage, timeline]) part?.applyTheme();
      plots.redraw();
      for (const part of [this.tree, this.alternative, this.explain]) part?.applyTheme();
      support?.redraw();
      for (const part of [control, patch, tracking, this.track, options]) part?.applyTheme();
    };
    const toggleTheme = followTheme(applyTheme, signal);
    const showHelp = () => help.showModal();
    const keys = [...this.keys(timeline, options), {keys: ['?'], shown: '?', text: 'this list', action: showHelp}];
    const help = helpDialog(keys);
    this.root.replaceChildren(
      this.header(openButton, toggleTheme, showHelp),
      el(
        'main',
        {},
        view,
        makeTabs('Details', panels, (panel) => {
          table.update();
          for (const part of [support, control, patch, tracking]) part?.redraw();
          this.tree?.layer?.show(panel === 'Tree');
          this.explain?.show(panel === 'Why');
        }),
      ),
      timeline.root,
      help,
    );
    this.start(keys, applyTheme);
  }

  /** Listens to the reader and the clock, and shows the first frame. */
  private start(keys: Key[], applyTheme: () => void): void {
    const {player, signal} = this;
    listenToKeys(keys, signal);
    signal.addEventListener('abort', () => {
      if (player.playing) player.pause();
    });
    player.onChange(() => this.showFrame());
    applyTheme();
    player.seek(0);
    this.stage?.lookHome();
  }

  /** Shows a frame and draws it before returning. */
  frame(i: number): void {
    if (this.player.playing) this.player.pause();
    this.player.seek(i);
    this.stage?.draw();
  }

  info(): Record<string, unknown> {
    const {run, player} = this;
    const [begin, end] = contactRange(run, player.frame);
    return {
      title: run.title,
      frames: run.frames,
      total_frames: run.totalFrames,
      frame: player.frame,
      time: player.time,
      bodies: run.names.bodies.length,
      steps: run.steps.count,
      contacts: end - begin,
      playing: player.playing,
      webgl: this.stage !== null,
      settled: this.stage?.settled ?? true,
      nodes: run.tree?.count ?? 0,
      node: this.tree?.selected ?? null,
      trailed: this.patch?.trailed ?? 0,
      look_at: this.stage?.controls.target.toArray() ?? null,
      reach: this.reach?.row ?? null,
      nodes_shown: this.tree?.shown ?? 0,
      ghosts: this.track?.shown ?? [],
      failed_try: this.explain?.shown ?? null,
    };
  }

  private showFrame(): void {
    const node = this.tree?.selected ?? null;
    if (node === null) {
      this.bodies?.update(this.player.frame, this.player.position);
      this.layer?.setFrame(this.player.frame);
      this.reach?.setFrame(this.player.frame);
      this.alternative?.setFrame(this.player.frame);
      this.plan?.setFrame(this.player.frame);
      this.patch?.setFrame(this.player.frame);
      this.track?.show(this.player);
    } else {
      this.bodies?.place(this.run.tree!.X_WB, 7 * node * this.run.names.bodies.length);
      this.layer?.clear();
      this.reach?.setNode(node);
      this.alternative?.setFrame(null);
      this.plan?.setFrame(null);
      this.patch?.setFrame(null);
      this.track?.show(null);
    }
    const followed = this.bodies?.followed ?? null;
    if (followed !== null) this.stage?.follow(this.bodies!.groups[followed].position);
    this.stage?.invalidate();
  }

  /** Null, and a note instead of the picture, where the browser cannot draw in 3-D. */
  private makeView(view: HTMLElement): ViewPanel | null {
    const {run} = this;
    let stage: Stage;
    try {
      stage = new Stage(view, this.signal);
    } catch (error) {
      view.append(
        emptyState(
          'This browser cannot draw in 3-D (no WebGL).',
          'Switch on hardware acceleration or software WebGL, or use another browser. Plots, contacts and timeline work. ' +
            `(${(error as Error).message})`,
        ),
      );
      return null;
    }
    const box = boundsOfMotion(run);
    stage.setHome(box, run.scene.plane ? kDirections[run.scene.plane] : clearDirection(run, kSpaceDirection));
    const labels = new Labels(view, stage);
    const layer = new ContactLayer(run, stage, labels, typicalRadius(run));
    const bodies = new Bodies(run, stage.scene, box, stage.radius);
    const reach = run.tree?.reach ? new ReachLayer(run, run.tree.reach, stage, labels) : null;
    const alternative = run.alternatives ? new AlternativeLayer(run, stage, labels) : null;
    const plan = run.plans ? new PlanLayer(run, stage, labels) : null;
    const patch = tracks(run).length ? new PatchLayer(run, stage, layer, bodies) : null;
    stage.onDraw(
      () => {
        labels.begin();
        reach?.layOut();
        alternative?.layOut();
        this.explain?.layOut();
        plan?.layOut();
        track?.layOut();
        layer.layOut();
        patch?.layOut();
        this.tree?.layer?.layOut();
      },
      () => labels.end(),
    );
    if (run.explanation) this.explain = new ExplainLayer(run, run.explanation, stage, labels);
    const track = TrackView.make(run, view, stage, bodies, labels);
    addHover(run, view, stage, layer, bodies);
    [this.stage, this.layer, this.bodies, this.reach, this.alternative, this.plan, this.patch, this.track] = [
      stage,
      layer,
      bodies,
      reach,
      alternative,
      plan,
      patch,
      track,
    ];
    view.append(...this.missing());
    return new ViewPanel(run, stage, layer, bodies, reach, alternative, plan, patch, track);
  }

  /** A note over the picture, where the run has nothing to be drawn. */
  private missing(): HTMLElement[] {
    const {run} = this;
    if (run.scene.bodies.length === 0)
      return [
        emptyState('The run names no shapes.', 'Its scene holds no bodies; write the page again with `deft view RUN`.'),
      ];
    if (run.steps.count > 0) return [];
    if (run.tree)
      return [
        emptyState(
          'No plan: the start and the tree are shown.',
          run.explanation?.reasons.length
            ? 'The tab Why says what kept the planner from one.'
            : 'The search was cut short, or no roll-out came nearer to the goal. Let it go on: `deft plan SCENE --nodes 5000 --time-limit 300`.',
        ),
      ];
    return [
      emptyState(
        'This run has no steps: only the start is shown.',
        'Simulate some: `deft sim SCENE --steps 50`, or `--duration 2`, or give the scene commands.',
      ),
    ];
  }

  private header(openButton: HTMLElement, toggleTheme: () => void, help: () => void): HTMLElement {
    const {run} = this;
    const {model, kappa, h} = run.scene.settings;
    const facts = [model, h ? `h = ${h} s` : '', typeof kappa === 'number' ? `κ = ${kappa} 1/J` : '']
      .filter(Boolean)
      .join(' · ');
    const notes: HTMLElement[] = [...this.goalChip(), this.statusChip(), ...this.kindChips()];
    if (run.frames < run.totalFrames) {
      notes.push(
        el(
          'span',
          {className: 'chip warn', role: 'note'},
          `${run.frames} of ${run.totalFrames} frames: the rest left out to keep this page small; run.h5 has all`,
        ),
      );
    }
    return el(
      'header',
      {className: 'bar'},
      el('h1', {}, run.title),
      el('span', {className: 'facts'}, facts),
      ...notes,
      el('span', {className: 'spring'}),
      openButton,
      el('button', {'aria-label': 'Light or dark', title: 'Light or dark', onclick: toggleTheme}, '◐'),
      el('button', {'aria-label': 'Keyboard help', title: 'Keyboard (?)', onclick: help}, '?'),
    );
  }

  /** Whether the plan reaches its goal. */
  private goalChip(): HTMLElement[] {
    const {tree} = this.run;
    if (!tree) return [];
    const regrasps = tree.segments.filter((s) => s.transit).length;
    const text = tree.success
      ? `✓ goal “${tree.goal}” reached, ${regrasps} ${regrasps === 1 ? 'regrasp' : 'regrasps'}`
      : `✕ goal “${tree.goal}” ${tree.success === null ? 'not reached yet' : 'not reached'}`;
    return [el('span', {className: tree.success ? 'chip good' : 'chip bad'}, text)];
  }

  private statusChip(): HTMLElement {
    const {run} = this;
    const failed = Array.from({length: run.steps.count}, (_, j) => j).filter((j) => isFailed(run, j));
    if (run.steps.count === 0) return el('span', {className: 'chip'}, 'no steps');
    if (failed.length === 0) return el('span', {className: 'chip good'}, `✓ ${run.steps.count} steps, all solved`);
    const words = [...new Set(failed.map((j) => statusWord(run, j)))].join(', ');
    return el('span', {className: 'chip bad'}, `✕ ${failed.length} of ${run.steps.count} steps: ${words}`);
  }

  /** Steps that were solved and have something more to say. */
  private kindChips(): HTMLElement[] {
    const texts: Record<string, string> = {
      jam: '‖ %s jammed',
      several: '◆ %s not unique',
      unknown: '? %s maybe not unique',
      'new plan': '↻ %s replanned',
      Hold: '‖ %s held',
      Blind: '? %s blind',
      OffPlan: '✕ %s off the plan',
    };
    const tracked = this.run.track ? [...countKinds(this.run, planKind), ...countKinds(this.run, controllerKind)] : [];
    return [...countKinds(this.run, outcome), ...countKinds(this.run, uniqueness), ...tracked]
      .filter(([kind]) => texts[kind.word])
      .map(([kind, count]) =>
        el(
          'span',
          {className: kind.word === 'unknown' ? 'chip' : 'chip warn', title: kind.meaning},
          texts[kind.word].replace('%s', String(count)),
        ),
      );
  }

  private keys(timeline: Timeline, options: ViewPanel | null): Key[] {
    const {stage} = this;
    const keys = [...this.playerKeys(timeline), ...(this.tree?.keys() ?? [])];
    return stage && options ? [...keys, ...this.layerKeys(options), ...this.cameraKeys(stage)] : keys;
  }

  private playerKeys(timeline: Timeline): Key[] {
    const {player} = this;
    return [
      {keys: [' '], shown: 'space', text: 'play or pause', action: () => player.toggle()},
      {keys: ['ArrowLeft'], shown: '←', text: 'previous frame', action: () => this.stepBy(-1)},
      {keys: ['ArrowRight'], shown: '→', text: 'next frame', action: () => this.stepBy(1)},
      {keys: ['Shift+ArrowLeft'], shown: 'shift ←', text: 'ten frames back', action: () => this.stepBy(-10)},
      {keys: ['Shift+ArrowRight'], shown: 'shift →', text: 'ten frames on', action: () => this.stepBy(10)},
      {keys: ['Home'], shown: 'Home', text: 'first frame', action: () => player.seek(0)},
      {keys: ['End'], shown: 'End', text: 'last frame', action: () => player.seek(player.last)},
      {keys: ['['], shown: '[', text: 'slower', action: () => timeline.changeSpeed(-1)},
      {keys: [']'], shown: ']', text: 'faster', action: () => timeline.changeSpeed(1)},
      {keys: ['l'], shown: 'l', text: 'loop on or off', action: () => timeline.toggleLoop()},
      {
        keys: ['x'],
        shown: 'x',
        text: 'to the first failed step, else to one with several solutions, else to the largest residual',
        action: () => timeline.toWorst(),
      },
    ];
  }

  /** What is drawn, on or off. */
  private layerKeys(options: ViewPanel): Key[] {
    const keys: Key[] = [];
    const flags = {f: 'forces', n: 'split', c: 'cones', g: 'gaps', p: 'points'} as const;
    for (const [key, flag] of Object.entries(flags)) {
      if (flag === 'cones' && this.patch) continue;
      const text =
        flag === 'split' ? 'normal and tangential parts' : `${flag === 'points' ? 'contact points' : flag} on or off`;
      keys.push({keys: [key], shown: key, text, action: () => options.toggle(flag)});
    }
    keys.push({
      keys: ['v'],
      shown: 'v',
      text: 'shapes that are drawn, that collide, both',
      action: () => options.nextLook(),
    });
    if (this.alternative)
      keys.push({
        keys: ['m'],
        shown: 'm',
        text: 'alternative solutions of a step on or off',
        action: () => options.toggleAlternative(),
      });
    if (this.plan)
      keys.push({keys: ['o'], shown: 'o', text: 'planned way on or off', action: () => options.togglePlan()});
    keys.push(...(this.track?.keys() ?? []));
    if (this.patch) {
      keys.push(
        {
          keys: ['t'],
          shown: 't',
          text: 'trails of contact points on or off',
          action: () => options.togglePatch('trails'),
        },
        {
          keys: ['c'],
          shown: 'c',
          text: 'friction ellipsoids on or off',
          action: () => options.togglePatch('ellipsoids'),
        },
      );
    }
    if (this.reach)
      keys.push({
        keys: ['e'],
        shown: 'e',
        text: 'reach of the next command on or off',
        action: () => options.toggleReach(),
      });
    return keys;
  }

  private cameraKeys(stage: Stage): Key[] {
    return [
      {keys: ['a'], shown: 'a', text: 'turn the camera left', action: () => stage.orbit(-0.1, 0, 1)},
      {keys: ['d'], shown: 'd', text: 'turn the camera right', action: () => stage.orbit(0.1, 0, 1)},
      {keys: ['w'], shown: 'w', text: 'camera up', action: () => stage.orbit(0, 0.1, 1)},
      {keys: ['s'], shown: 's', text: 'camera down', action: () => stage.orbit(0, -0.1, 1)},
      {keys: ['+', '='], shown: '+', text: 'nearer', action: () => stage.orbit(0, 0, 0.9)},
      {keys: ['-'], shown: '−', text: 'farther', action: () => stage.orbit(0, 0, 1 / 0.9)},
      {keys: ['0'], shown: '0', text: 'camera home', action: () => stage.lookHome()},
      {keys: ['1'], shown: '1', text: 'front view', action: () => stage.look('front')},
      {keys: ['2'], shown: '2', text: 'side view', action: () => stage.look('side')},
      {keys: ['3'], shown: '3', text: 'top view', action: () => stage.look('top')},
    ];
  }

  private stepBy(frames: number): void {
    if (this.player.playing) this.player.pause();
    this.player.seek(this.player.frame + frames);
  }
}
