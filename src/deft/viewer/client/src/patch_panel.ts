import {choice, el, fillFacts, onWidth} from './dom';
import {FaceMap} from './face_map';
import {figures, newtons} from './format';
import {hex, kAxes, kForce, kNormal, kTangential, utilisationGradient} from './palette';
import {bears, kKinds, liveliestTrack, placeOnBody, readPatch, Track, tracks} from './patch';
import type {Player} from './player';
import {Line, Plot, PlotStack} from './plots';
import {Run} from './run';

const kFine = 1e-6; // of the largest coordinate: single precision
const kStill = 1e-12; // [m/s, rad/s] below, single precision says nothing

/** One contact of the model of the equivalent contact point: its numbers, the point on the body, slips and force over
 *  time. */
export class PatchPanel {
  readonly root = el('div', {className: 'patch'});
  private readonly map: FaceMap;
  private readonly numbers = el('dl', {className: 'globe-numbers', 'aria-label': 'Numbers of the contact'});
  private readonly seen: HTMLSelectElement;
  private readonly plots = new PlotStack();
  private track: Track;

  /** Null for runs of other models, and where nothing ever touched. */
  static make(run: Run, player: Player): PatchPanel | null {
    return tracks(run).length ? new PatchPanel(run, player) : null;
  }

  private constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    const all = tracks(run);
    this.track = liveliestTrack(run);
    this.map = new FaceMap(run);
    const chooser =
      all.length < 2
        ? []
        : [
            choice(
              'Contact',
              all.map((track, i) => [String(i), track.name]),
              String(all.indexOf(this.track)),
              (i) => this.choose(all[Number(i)]),
            ),
          ];
    const seen = choice(
      'Seen',
      [
        ['', 'towards the contact'],
        ...[...'xyz'].map((letter, i): [string, string] => [String(i), `along ${letter} of the body`]),
      ],
      '',
      () => this.redraw(),
    );
    this.seen = seen.querySelector('select')!;
    this.root.append(
      el('section', {}, el('h3', {}, all.length < 2 ? `Contact ${all[0].name}` : 'Contact'), ...chooser, this.numbers),
      el(
        'section',
        {},
        el('h3', {}, 'Contact point on the body'),
        seen,
        this.map.canvas,
        el(
          'p',
          {className: 'state-keys'},
          ...kKinds
            .slice(1)
            .map((kind) => el('span', {}, el('b', {style: `color:var(${kind.colour})`}, kind.glyph), ` ${kind.word}`)),
        ),
      ),
      el('section', {}, el('h3', {}, 'Over the run'), this.plots.root),
      el('section', {}, el('h3', {}, 'Legend'), ...this.legend()),
    );
    this.choose(this.track);
    player.onChange(() => this.redraw());
    onWidth(this.root, (width) => {
      this.plots.resize(width);
      this.redraw();
    });
  }

  /** Drawn only while it can be seen. */
  redraw(): void {
    if (this.root.offsetParent === null) return;
    const {frame} = this.player;
    this.plots.moveTo(this.player.time);
    const facts = this.facts(frame);
    fillFacts(this.numbers, facts);
    this.map.axis = this.seen.value === '' ? this.map.facing(frame) : Number(this.seen.value);
    this.map.canvas.setAttribute(
      'aria-label',
      `Contact point on ${this.run.names.bodies[this.track.body]}, seen along its ${'xyz'[this.map.axis]} axis. ` +
        facts.map(([name, value]) => `${name}: ${value}`).join('; '),
    );
    this.map.show(frame);
  }

  applyTheme(): void {
    this.plots.redraw();
    this.map.draw();
  }

  private choose(track: Track): void {
    this.track = track;
    this.map.setTrack(track);
    const {run, player} = this,
      times = Array.from(run.t),
      blank = () => new Array<number | null>(run.frames).fill(null);
    const slip = [blank(), blank(), blank()],
      point = [blank(), blank(), blank()],
      normal = blank(),
      torsion = blank();
    for (let k = 1; k < run.frames; ++k) {
      if (!bears(run, track, k)) continue;
      const patch = readPatch(run, track.at[k])!,
        place = placeOnBody(run, track, k)!.toArray();
      patch.slip.forEach((v, i) => {
        slip[i][k] = v;
      });
      place.forEach((x, i) => {
        point[i][k] = 1e3 * x;
      });
      normal[k] = patch.contact.fn;
      torsion[k] = patch.force[2];
    }
    const line = (label: string, colour: string, values: (number | null)[], dash?: number[]): Line => ({
      label,
      colour,
      values,
      dash,
    });
    this.plots.show([
      new Plot(
        'Slip',
        'm/s',
        times,
        [line('v_t', hex(kNormal), slip[0]), line('v_o', hex(kTangential), slip[1], [5, 3])],
        player,
        1e-6,
      ),
      new Plot('Spin v_r', 'rad/s', times, [line('v_r', hex(kForce), slip[2])], player, 1e-6),
      new Plot('Normal force', 'N', times, [line('normal', hex(kNormal), normal)], player, 1e-6),
      new Plot('Torsion', 'N·m', times, [line('torsion', hex(kForce), torsion)], player, 1e-9),
      new Plot(
        `Contact point in the frame of ${run.names.bodies[track.body]}`,
        'mm',
        times,
        kAxes.map(([label, colour], i) => line(label, colour, point[i])),
        player,
        1e-3,
      ),
    ]);
    this.redraw();
  }

  private facts(frame: number): [string, string][] {
    const {run, track} = this;
    if (frame < 1) return [['contact', 'the start: press → for the first step']];
    if (!bears(run, track, frame)) return [['contact', 'apart']];
    const patch = readPatch(run, track.at[frame])!,
      {contact, force, slip, used} = patch,
      place = placeOnBody(run, track, frame)!.toArray(),
      far = Math.max(...place.map(Math.abs));
    const round = (x: number) => figures(Math.abs(x) < kStill ? 0 : x);
    return [
      [
        'contact',
        `${kKinds[patch.kind].glyph} ${kKinds[patch.kind].word}, ${contact.state === 2 ? 'slides' : 'sticks'}`,
      ],
      ['slip', `v_t ${round(slip[0])}, v_o ${round(slip[1])} m/s, v_r ${round(slip[2])} rad/s`],
      ['force', `normal ${newtons(contact.fn)}, along t ${newtons(force[0])}, along o ${newtons(force[1])}`],
      ['torsion', `${round(force[2])} N·m`],
      ['friction', contact.mu > 0 ? `${figures(100 * used)} % of what it can bear` : 'none'],
      [
        'point',
        `(${place.map((x) => figures(Math.abs(x) < kFine * far ? 0 : 1e3 * x)).join(', ')}) mm in the body's frame`,
      ],
    ];
  }

  private legend(): HTMLElement[] {
    const key = (mark: HTMLElement, text: string) => el('p', {className: 'key'}, mark, text);
    return [
      ...kKinds
        .slice(1)
        .map((kind) =>
          key(
            el('b', {style: `color:var(${kind.colour})`}, kind.glyph),
            `equivalent contact point: ${kind.meaning}; hollow where they slide`,
          ),
        ),
      key(
        el('i', {className: 'gradient', style: `background:${utilisationGradient()}`}),
        'friction ellipsoid: what friction can bear along t, o = n × t and about n (torsion over e_r), by the part that is borne, 0 to 1',
      ),
      key(
        el('i', {className: 'line', style: `border-top:4px solid ${hex(kTangential)}`}),
        'friction in the ellipsoid: on its surface where the bodies slide',
      ),
      key(
        el('b', {style: `color:${hex(kForce)}`}, '↺'),
        'torsion about the normal: ¾ of a turn where friction can bear no more',
      ),
    ];
  }
}
