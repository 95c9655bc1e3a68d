import {el} from './dom';
import {seconds} from './format';
import type {Player} from './player';
import type {Run, Segment, Tree} from './run';

/** A segment in words: “roll-out 2” or “transit 1 (regrasp)”, counted by kind. */
export function segmentName(tree: Tree, index: number): string {
  const {transit} = tree.segments[index];
  const number = tree.segments.slice(0, index + 1).filter((s) => s.transit === transit).length;
  return transit ? `transit ${number} (regrasp)` : `roll-out ${number}`;
}

/** Index of the segment that a step belongs to, or −1. */
export const segmentAt = (tree: Tree, step: number): number =>
  tree.segments.findIndex((s) => step >= s.first && step < s.last);

/** The plan's segments on the axis of the scrubber: roll-outs plain, transits hatched with a mark where they let go. */
export class SegmentLane {
  readonly root = el('div', {className: 'segments', role: 'group', 'aria-label': 'Segments of the plan'});
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly run: Run,
    private readonly tree: Tree,
    private readonly player: Player,
  ) {
    const steps = Math.max(1, run.totalFrames - 1);
    this.buttons = tree.segments.map((segment, i) => this.button(segment, i, steps));
    if (tree.segments.length === 0) {
      this.root.append(
        el(
          'span',
          {className: 'strip-empty'},
          tree.success === null
            ? 'No plan yet: the search was cut short.'
            : 'No plan: no roll-out came nearer to the goal than the start.',
        ),
      );
      return;
    }
    this.root.append(...this.buttons);
    player.onChange(() => this.update());
    this.update();
  }

  private button(segment: Segment, i: number, steps: number): HTMLButtonElement {
    const {run, player} = this;
    const name = segmentName(this.tree, i),
      share = (segment.last - segment.first) / steps;
    const frame = (step: number) => run.frame.findIndex((kept) => kept >= step);
    const text = segment.transit ? (share > 0.1 ? '◆ transit' : '◆') : share > 0.08 ? 'roll-out' : '';
    const time = (step: number) => seconds(run.t[Math.max(0, frame(step))]);
    const label = `${name}, ${time(segment.first)} to ${time(segment.last)}${segment.node >= 0 ? `, to node ${segment.node}` : ''}`;
    return el(
      'button',
      {
        className: segment.transit ? 'segment transit' : 'segment',
        'aria-label': label,
        title: label,
        style: `left:${(100 * segment.first) / steps}%;width:${100 * share}%`,
        onclick: () => {
          if (player.playing) player.pause();
          player.seek(frame(segment.first));
        },
      },
      text,
    );
  }

  private update(): void {
    const at = segmentAt(this.tree, Math.max(0, this.run.frame[this.player.frame] - 1));
    this.buttons.forEach((button, i) => {
      if (i === at) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
  }
}
