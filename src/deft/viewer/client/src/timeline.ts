import {elsewhereText} from './alternative';
import {el} from './dom';
import {seconds} from './format';
import type {Player} from './player';
import {isFailed, Run, statusWord} from './run';
import {segmentAt, SegmentLane, segmentName} from './segments';
import {listed, uniqueness} from './status';
import {StepStrip} from './strip';
import {jammedBodies} from './support';
import {controllerKind, planKind} from './track';
import {ErrorLanes} from './track_lanes';

// 16 × 16 outlines; letters of the kind ⏮ are missing from many fonts.
const kIcons = {
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M3.5 3h3v10h-3zM9.5 3h3v10h-3z',
  back: 'M10.5 3 5 8l5.5 5V3z',
  on: 'M5.5 3 11 8l-5.5 5V3z',
  first: 'M3 3h2v10H3zM13 3 6.5 8l6.5 5z',
  last: 'M11 3h2v10h-2zM3 3l6.5 5L3 13z',
};

function icon(name: keyof typeof kIcons): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', kIcons[name]);
  svg.append(path);
  return svg;
}

// [px] half the scrubber's knob; its track reaches out by as much on both sides, to line up with the strip
const kThumb = 8;
const kSpeeds = [0.1, 0.25, 0.5, 1, 2, 4, 8];

/** Scrubber, buttons, speed, and the strip of step records below. */
export class Timeline {
  readonly root: HTMLElement;
  private readonly range: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly now: HTMLElement;
  private readonly speed: HTMLSelectElement;
  private readonly loop: HTMLInputElement;
  private readonly strip: StepStrip;
  private readonly errors: ErrorLanes;

  constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    this.play = this.button('Play', 'play', () => player.toggle());
    this.play.classList.add('play');
    this.range = el('input', {
      type: 'range',
      min: 0,
      max: Math.max(0, run.frames - 1),
      step: 1,
      className: 'scrubber',
      'aria-label': 'Time',
      disabled: run.frames < 2,
      oninput: () => {
        if (player.playing) player.pause();
        player.seek(Number(this.range.value));
      },
    });
    this.range.value = '0';
    this.now = el('output', {className: 'now', 'aria-label': 'Moment shown'});
    this.speed = el(
      'select',
      {
        'aria-label': 'Speed',
        onchange: () => {
          player.speed = Number(this.speed.value);
        },
      },
      ...kSpeeds.map((s) => el('option', {value: String(s)}, `${s}×`)),
    );
    this.speed.value = '1';
    this.loop = el('input', {
      type: 'checkbox',
      checked: player.loop,
      onchange: () => {
        player.loop = this.loop.checked;
      },
    });
    this.strip = new StepStrip(run, player);
    this.errors = new ErrorLanes(run, player);
    this.root = el(
      'footer',
      {className: 'timeline', role: 'group', 'aria-label': 'Timeline'},
      this.transport(),
      this.lanes(),
    );
    this.root.style.setProperty('--strip', `${this.strip.height + this.errors.height}px`);
    player.onChange(() => this.update());
    this.update();
  }

  private button(label: string, picture: keyof typeof kIcons, action: () => void): HTMLButtonElement {
    const disabled = this.run.frames < 2;
    return el('button', {'aria-label': label, title: label, onclick: action, disabled}, icon(picture));
  }

  /** Buttons, the moment shown, speed and loop. */
  private transport(): HTMLElement {
    const {player} = this;
    return el(
      'div',
      {className: 'transport'},
      this.button('First frame', 'first', () => player.seek(0)),
      this.button('Previous frame', 'back', () => player.seek(player.frame - 1)),
      this.play,
      this.button('Next frame', 'on', () => player.seek(player.frame + 1)),
      this.button('Last frame', 'last', () => player.seek(player.last)),
      this.now,
      this.speed,
      el('label', {className: 'check'}, this.loop, 'Loop'),
    );
  }

  /** Scrubber, segments of a plan, errors of tracking, and the strip. */
  private lanes(): HTMLElement {
    const {run, player} = this;
    const segments = run.tree
      ? [el('span', {className: 'lane-name'}, 'plan'), new SegmentLane(run, run.tree, player).root]
      : [];
    return el(
      'div',
      {className: 'track'},
      el('span', {className: 'lane-name'}, 'time'),
      this.withHover(),
      ...segments,
      ...this.errors.parts,
      this.strip.root,
    );
  }

  changeSpeed(by: number): void {
    const i = kSpeeds.indexOf(this.player.speed) + by;
    this.player.speed = kSpeeds[Math.min(kSpeeds.length - 1, Math.max(0, i))];
    this.speed.value = String(this.player.speed);
  }

  toggleLoop(): void {
    this.loop.checked = this.player.loop = !this.player.loop;
  }
  toWorst(): void {
    this.strip.toWorst();
  }
  scaleErrors(logarithmic: boolean): void {
    this.errors.setLogarithmic(logarithmic);
  }
  applyTheme(): void {
    this.strip.draw();
    this.errors.draw();
  }

  private withHover(): HTMLElement {
    const bubble = el('span', {className: 'bubble', hidden: true});
    const holder = el('div', {className: 'scrub'}, this.range, bubble);
    this.range.addEventListener('pointermove', (event) => {
      const frame = Math.round(
        Math.min(1, Math.max(0, (event.offsetX - kThumb) / (this.range.clientWidth - 2 * kThumb))) * this.player.last,
      );
      if (this.run.frames === 0) return;
      bubble.textContent = seconds(this.run.t[frame]);
      bubble.style.left = `${event.offsetX - kThumb}px`;
      bubble.hidden = false;
    });
    this.range.addEventListener('pointerleave', () => {
      bubble.hidden = true;
    });
    return holder;
  }

  private update(): void {
    const {run, player} = this;
    const shown = player.playing ? 'pause' : 'play';
    if (this.play.dataset.icon !== shown) this.play.replaceChildren(icon(shown));
    this.play.dataset.icon = shown;
    this.play.setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
    this.play.title = player.playing ? 'Pause (space)' : 'Play (space)';
    this.range.value = String(player.frame);
    const at =
      run.frames === 0
        ? 'no frames'
        : `${seconds(player.time)} · ${player.frame === 0 ? 'start' : `step ${run.frame[player.frame]} of ${run.totalFrames - 1}`}`;
    const step = player.frame - 1;
    const failed = step >= 0 && isFailed(run, step);
    const segment = run.tree && step >= 0 ? segmentAt(run.tree, run.frame[player.frame] - 1) : -1;
    const where = segment >= 0 ? `${at} · ${segmentName(run.tree!, segment)}` : at;
    const notes = step < 0 ? [] : this.notes(step);
    this.now.textContent = [where, ...(failed ? [`✕ ${statusWord(run, step)}`] : []), ...notes].join(' · ');
    this.now.classList.toggle('failed', failed);
    this.now.classList.toggle('noted', !failed && notes.length > 0);
    this.range.setAttribute('aria-valuetext', this.now.textContent);
  }

  /** What a reader should know of a solved step: who is jammed, what moves otherwise in an alternative solution. */
  private notes(step: number): string[] {
    const {run} = this,
      jammed = jammedBodies(run, step + 1).map((body) => run.names.bodies[body]);
    const notes = jammed.length ? [`‖ jam: ${listed(jammed)}`] : [];
    if (run.track && controllerKind(run, step).rank > 0) notes.push(controllerKind(run, step).word);
    if (run.track && planKind(run, step).rank > 0) notes.push(`plan ${run.track.plan[step]} begins`);
    if (uniqueness(run, step).mark !== 'diamonds') return notes;
    const other = elsewhereText(run, step + 1, 1);
    return [...notes, `◆ several solutions${other ? ` (alternative: ${other})` : ''}`];
  }
}
