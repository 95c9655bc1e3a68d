import type {Bodies} from './bodies';
import {checkbox, el} from './dom';
import type {Key} from './keyboard';
import type {Labels} from './labels';
import type {Player} from './player';
import type {Run} from './run';
import type {Stage} from './stage';
import {rowAt} from './track';
import {timeShown} from './track_lanes';
import {GhostLayer} from './track_layer';

/** Ghosts of one kind with their switches: in the panel View, in the legend over the picture, and by a key. */
interface Shown {
  layer: GhostLayer;
  title: string;
  meaning: string;
  colour: string;
  key: string;
  row: (player: Player) => number;
  boxes: HTMLInputElement[];
  chip: HTMLButtonElement;
}

/** What is drawn of a plan that is followed, and of a second run: ghosts and a legend over the picture. */
export class TrackView {
  private readonly kinds: Shown[] = [];

  /** Null where there is neither. */
  static make(run: Run, host: HTMLElement, stage: Stage, bodies: Bodies, labels: Labels): TrackView | null {
    return (run.track || run.beside) && run.frames > 0 ? new TrackView(run, host, stage, bodies, labels) : null;
  }

  private constructor(
    private readonly run: Run,
    host: HTMLElement,
    private readonly stage: Stage,
    bodies: Bodies,
    labels: Labels,
  ) {
    const {track, beside} = run;
    if (track) {
      this.add({
        layer: new GhostLayer(
          run,
          stage,
          bodies,
          labels,
          track.bodies,
          track.X_WB,
          '--reference',
          'reference',
          'reference',
        ),
        title: 'reference',
        meaning: 'where the plan wants the bodies to be',
        colour: '--reference',
        key: 'r',
        row: (player) => player.position,
      });
    }
    if (beside) {
      this.add({
        layer: new GhostLayer(
          run,
          stage,
          bodies,
          labels,
          beside.bodies,
          beside.X_WB,
          '--beside',
          beside.title,
          'beside',
        ),
        title: beside.title,
        meaning: `bodies of the second run, ${beside.title}, at the same time`,
        colour: '--beside',
        key: 'b',
        row: (player) => rowAt(beside.t, timeShown(run, player)),
      });
    }
    const own = beside ? [el('span', {className: 'own'}, el('i', {className: 'swatch solid'}), beside.here)] : [];
    host.append(
      el(
        'div',
        {className: 'runs', role: 'group', 'aria-label': 'Runs shown'},
        ...own,
        ...this.kinds.map(({chip}) => chip),
      ),
    );
  }

  /** Adds ghosts with their entry in the legend over the picture. */
  private add(shown: Omit<Shown, 'boxes' | 'chip'>): void {
    const swatch = el('i', {
      className: 'swatch',
      style: `border-color:var(${shown.colour});background:color-mix(in srgb, var(${shown.colour}) 30%, transparent)`,
    });
    const chip = el(
      'button',
      {title: `${shown.meaning} (${shown.key})`, 'aria-pressed': 'true', onclick: () => this.toggle(shown.key)},
      swatch,
      shown.title,
    );
    this.kinds.push({...shown, boxes: [], chip});
  }

  /** Titles of the ghosts that are drawn. */
  get shown(): string[] {
    return this.kinds.filter(({layer}) => layer.drawn > 0).map(({title}) => title);
  }

  show(player: Player | null): void {
    for (const kind of this.kinds) kind.layer.setRow(player ? kind.row(player) : null);
  }
  layOut(): void {
    for (const {layer} of this.kinds) layer.layOut();
  }
  applyTheme(): void {
    for (const {layer} of this.kinds) layer.applyTheme();
  }

  /** Objects and robots together: off if anything is on. */
  private toggle(key: string): void {
    const kind = this.kinds.find((k) => k.key === key)!;
    kind.layer.objects = kind.layer.robots = !kind.layer.visible;
    this.changed(kind);
  }

  private changed(kind: Shown): void {
    [kind.layer.objects, kind.layer.robots].forEach((on, i) => {
      if (kind.boxes[i]) kind.boxes[i].checked = on;
    });
    kind.chip.setAttribute('aria-pressed', String(kind.layer.visible));
    this.stage.invalidate();
  }

  /** The section of the panel View. */
  options(): HTMLElement[] {
    return [
      el(
        'section',
        {},
        el('h3', {}, this.run.track ? 'Tracking' : 'Second run'),
        ...this.kinds.flatMap((kind) => {
          const box = (part: 'objects' | 'robots', text: string) =>
            checkbox(text, true, (on) => {
              kind.layer[part] = on;
              this.changed(kind);
            });
          const name = kind.key === 'r' ? 'Reference' : kind.title,
            labels = [box('objects', `${name}: objects`), box('robots', `${name}: robots`)];
          kind.boxes = labels.map((label) => label.querySelector('input')!);
          return labels;
        }),
      ),
    ];
  }

  legend(): HTMLParagraphElement[] {
    return this.kinds.map(({meaning, colour}) =>
      el(
        'p',
        {className: 'key'},
        el('i', {
          className: 'ghost',
          style: `border-color:var(${colour});background:color-mix(in srgb, var(${colour}) 20%, transparent)`,
        }),
        meaning,
      ),
    );
  }

  keys(): Key[] {
    return this.kinds.map(({key, title}) => ({
      keys: [key],
      shown: key,
      text: `${title} on or off`,
      action: () => this.toggle(key),
    }));
  }
}
