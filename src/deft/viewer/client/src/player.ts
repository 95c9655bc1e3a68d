import type {Run} from './run';

/** The clock: which moment is shown, and who wants to know. */
export class Player {
  /** Index of the frame shown; `position` is the same with a fraction while playing. */
  frame = 0;
  position = 0;
  playing = false;
  speed = 1;
  loop = true;
  private listeners: (() => void)[] = [];
  private request = 0;
  private lastTick = 0;

  constructor(private readonly run: Run) {}

  get last(): number {
    return Math.max(0, this.run.frames - 1);
  }
  get time(): number {
    return this.run.frames ? this.run.t[this.frame] : 0;
  }
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  seek(frame: number): void {
    this.position = this.frame = Math.min(this.last, Math.max(0, Math.round(frame)));
    this.changed();
  }

  seekTime(t: number): void {
    this.seek(this.positionAt(t));
  }

  /** Frame, with fraction, at a time: bisection, since frames may be spaced unevenly. */
  positionAt(t: number): number {
    let low = 0,
      high = this.last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.run.t[middle] <= t) low = middle;
      else high = middle;
    }
    const span = this.run.t[high] - this.run.t[low];
    return span > 0 ? low + Math.min(1, Math.max(0, (t - this.run.t[low]) / span)) : low;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.run.frames < 2) return;
    if (this.frame === this.last) this.position = this.frame = 0;
    this.playing = true;
    this.lastTick = performance.now();
    this.request = requestAnimationFrame(() => this.tick());
    this.changed();
  }

  pause(): void {
    cancelAnimationFrame(this.request);
    this.playing = false;
    this.seek(this.frame);
  }

  private tick(): void {
    const now = performance.now();
    const {t} = this.run;
    const low = Math.floor(this.position),
      high = Math.min(this.last, low + 1);
    let time = t[low] + (this.position - low) * (t[high] - t[low]) + ((now - this.lastTick) / 1e3) * this.speed;
    this.lastTick = now;
    if (time >= t[this.last]) {
      if (!this.loop) {
        this.frame = this.last;
        this.pause();
        return;
      }
      time = t[0];
    }
    this.position = this.positionAt(time);
    this.frame = Math.round(this.position);
    this.changed();
    this.request = requestAnimationFrame(() => this.tick());
  }
}
