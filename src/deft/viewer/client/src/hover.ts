import {Mesh, Raycaster, Vector2, Vector3} from 'three';
import type {Bodies} from './bodies';
import type {Contact} from './contact';
import type {ContactLayer} from './contact_layer';
import {el} from './dom';
import {figures, millimetres, newtons} from './format';
import {kStates} from './palette';
import {kKinds, readPatch} from './patch';
import type {Run} from './run';
import type {Stage} from './stage';

const kReach = 9; // [px] how near the pointer must come to a force

/** What one contact says of itself, line by line. */
export function describe(run: Run, c: Contact): [string, string][] {
  const lines: [string, string][] = [
    ['force', newtons(Math.hypot(...c.force))],
    ['normal', newtons(c.fn)],
    ['tangential', newtons(c.ft)],
    ['of μ fₙ', c.fn > 1e-9 && c.mu > 0 ? `${figures(100 * c.utilisation)} %` : 'no load'],
    ['μ', figures(c.mu)],
    ['gap', millimetres(c.gap)],
    ['state', `${kStates[c.state]?.glyph ?? '?'} ${kStates[c.state]?.word ?? 'unknown'}`],
  ];
  if (run.contacts.torque) lines.splice(3, 0, ['torque', `${figures(c.torque)} N·m`]);
  const patch = readPatch(run, c.index);
  if (patch && c.state > 0) {
    const [v_t, v_o, v_r] = patch.slip;
    lines.push(
      ['shared', `${kKinds[patch.kind].glyph} ${kKinds[patch.kind].word}`],
      ['slip t, o', `${figures(v_t)}, ${figures(v_o)} m/s`],
      ['spin', `${figures(v_r)} rad/s`],
    );
    lines[lines.findIndex(([name]) => name === 'of μ fₙ')] = ['friction used', `${figures(100 * patch.used)} %`];
  }
  return lines;
}

/** Finds what is under the pointer, which is in pixels of the picture. */
class Picker {
  private readonly caster = new Raycaster();

  constructor(
    private readonly host: HTMLElement,
    private readonly stage: Stage,
    private readonly layer: ContactLayer,
    private readonly bodies: Bodies,
  ) {}

  /** The contact whose force is nearest, if it is near. */
  contact(pointer: Vector2): Contact | null {
    let best: Contact | null = null,
      least = kReach;
    for (const contact of this.layer.contacts) {
      const d = this.distance(pointer, contact);
      if (d < least) {
        best = contact;
        least = d;
      }
    }
    return best;
  }

  /** The body that is seen there, and the point of it. */
  body(pointer: Vector2): {name: string; point: Vector3} | null {
    const {host, stage, bodies} = this;
    this.caster.setFromCamera(
      new Vector2((2 * pointer.x) / host.clientWidth - 1, 1 - (2 * pointer.y) / host.clientHeight),
      stage.camera,
    );
    const hit = this.caster.intersectObjects(bodies.groups.filter((g) => g.userData.body > 0)).find((h) => {
      let shown = h.object instanceof Mesh;
      h.object.traverseAncestors((parent) => {
        shown &&= parent.visible;
      });
      return shown && h.object.visible;
    });
    let node = hit?.object ?? null;
    while (node && node.userData.body === undefined) node = node.parent;
    return hit && node ? {name: node.name, point: hit.point} : null;
  }

  private project(p: Vector3): Vector2 {
    const q = p.clone().project(this.stage.camera);
    return new Vector2(((q.x + 1) / 2) * this.host.clientWidth, ((1 - q.y) / 2) * this.host.clientHeight);
  }

  /** From the pointer to the arrow of a contact's force [px]. */
  private distance(pointer: Vector2, contact: Contact): number {
    const from = this.project(new Vector3(...contact.point));
    const along = this.project(this.layer.tip(contact)).sub(from);
    const part =
      along.lengthSq() > 0 ? Math.min(1, Math.max(0, pointer.clone().sub(from).dot(along) / along.lengthSq())) : 0;
    return pointer.distanceTo(from.addScaledVector(along, part));
  }
}

/** A tooltip for the force, or else the body, under the pointer; a double click brings the camera to the body. */
export function addHover(run: Run, host: HTMLElement, stage: Stage, layer: ContactLayer, bodies: Bodies): void {
  const tip = el('div', {className: 'tooltip', role: 'tooltip', hidden: true});
  host.append(tip);
  const picker = new Picker(host, stage, layer, bodies);
  const show = (pointer: Vector2, ...content: (Node | string)[]): void => {
    tip.replaceChildren(...content);
    tip.hidden = false;
    const x = Math.min(pointer.x + 14, host.clientWidth - tip.offsetWidth - 6);
    const y = Math.min(pointer.y + 14, host.clientHeight - tip.offsetHeight - 6);
    tip.style.transform = `translate(${Math.max(6, x)}px, ${Math.max(6, y)}px)`;
  };

  stage.canvas.addEventListener('pointermove', (event) => {
    if (event.buttons) {
      tip.hidden = true;
      return;
    }
    const pointer = new Vector2(event.offsetX, event.offsetY);
    const contact = picker.contact(pointer);
    if (contact) {
      const names = run.names.bodies;
      const rows = describe(run, contact).map(([name, value]) =>
        el('tr', {}, el('th', {scope: 'row'}, name), el('td', {}, value)),
      );
      show(pointer, el('strong', {}, `on ${names[contact.on]} from ${names[contact.from]}`), el('table', {}, ...rows));
      return;
    }
    const body = picker.body(pointer);
    if (body) show(pointer, body.name);
    else tip.hidden = true;
  });
  stage.canvas.addEventListener('dblclick', (event) => {
    const body = picker.body(new Vector2(event.offsetX, event.offsetY));
    if (body) stage.lookAt(body.point, layer.bodyRadius);
  });
  stage.canvas.addEventListener('pointerleave', () => {
    tip.hidden = true;
  });
}
