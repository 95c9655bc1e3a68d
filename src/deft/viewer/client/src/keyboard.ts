import {el} from './dom';

export interface Key {
  keys: string[];
  shown: string;
  text: string;
  action: () => void;
}

/** Acts on keys pressed anywhere, except where the focused control needs them itself. */
export function listenToKeys(bindings: Key[], signal: AbortSignal): void {
  const table = new Map(bindings.flatMap((b) => b.keys.map((key) => [key, b.action] as const)));
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      const target = event.target as HTMLElement;
      const name = (event.shiftKey && event.key.startsWith('Arrow') ? 'Shift+' : '') + event.key;
      if (ownsKey(target, event.key)) return;
      const action = table.get(name);
      if (!action) return;
      event.preventDefault();
      action();
    },
    {signal},
  );
}

const kSliderKeys = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'];

function ownsKey(target: HTMLElement, key: string): boolean {
  if (target.getAttribute('role') === 'tab') return [' ', 'Enter', 'ArrowLeft', 'ArrowRight'].includes(key);
  if (target instanceof HTMLButtonElement) return [' ', 'Enter'].includes(key);
  if (target instanceof HTMLSelectElement) return true;
  if (!(target instanceof HTMLInputElement)) return false;
  if (target.type === 'checkbox') return key === ' ';
  // The scrubber's own keys would do the same as ours; other sliders keep theirs.
  if (target.type === 'range') return kSliderKeys.includes(key) && !target.classList.contains('scrubber');
  return true;
}

/** The list of keys as a dialog. */
export function helpDialog(bindings: Key[]): HTMLDialogElement {
  const rows = bindings.map((b) =>
    el('tr', {}, el('th', {scope: 'row'}, el('kbd', {}, b.shown)), el('td', {}, b.text)),
  );
  const dialog = el(
    'dialog',
    {className: 'help', 'aria-label': 'Keyboard'},
    el('h2', {}, 'Keyboard'),
    el('table', {}, ...rows),
    el(
      'p',
      {className: 'hint'},
      'Mouse: drag turns, right-drag moves, wheel zooms; hover a force or a body for its values, ' +
        'double-click a body to go there. Drop another run.html or run.json on the page to open it.',
    ),
    el('form', {method: 'dialog'}, el('button', {autofocus: true}, 'Close')),
  );
  return dialog;
}
