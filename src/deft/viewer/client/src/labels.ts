import {Vector3} from 'three';
import type {Stage} from './stage';

const kMost = 40;
const kCell = {width: 62, height: 17}; // [px] space that a label needs

/** Numbers beside points of the scene: HTML over the canvas. A label that would cover an earlier one is left out. */
export class Labels {
  private readonly pool: HTMLSpanElement[] = [];
  private used = 0;
  private boxes: {x: number; y: number}[] = [];

  constructor(
    private readonly host: HTMLElement,
    private readonly stage: Stage,
  ) {}

  begin(): void {
    this.used = 0;
    this.boxes = [];
  }

  add(at: Vector3, text: string, className: string): void {
    if (this.used >= kMost) return;
    const p = at.clone().project(this.stage.camera);
    if (p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1) return;
    const x = Math.round(((p.x + 1) / 2) * this.host.clientWidth) + 10;
    const y = Math.round(((1 - p.y) / 2) * this.host.clientHeight) - 8;
    if (this.boxes.some((b) => Math.abs(b.x - x) < kCell.width && Math.abs(b.y - y) < kCell.height)) return;
    this.boxes.push({x, y});
    const label = (this.pool[this.used] ??= this.host.appendChild(document.createElement('span')));
    ++this.used;
    label.className = `label ${className}`;
    label.textContent = text;
    label.style.transform = `translate(${x}px, ${y}px)`;
    label.hidden = false;
  }

  end(): void {
    for (let i = this.used; i < this.pool.length; ++i) this.pool[i].hidden = true;
  }
}
