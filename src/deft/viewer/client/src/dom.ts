// The page is built from code; these are the only functions for it.

type Props = Record<string, unknown>;

/** An element with properties (`on…` are listeners, `aria-…`, `role` and `data-…` attributes) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value as EventListener);
    else if (key in node && !key.includes('-')) (node as unknown as Props)[key] = value;
    else node.setAttribute(key, String(value));
  }
  node.append(...children);
  return node;
}

/** A value of the style sheet's palette, e.g. `--ink`. */
export const cssColour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A check box with its text. */
export function checkbox(text: string, checked: boolean, set: (on: boolean) => void, title = ''): HTMLLabelElement {
  const box = el('input', {type: 'checkbox', checked, onchange: () => set(box.checked)});
  return el('label', {className: 'check', title}, box, text);
}

/** A named choice. */
export function choice(
  text: string,
  options: [string, string][],
  value: string,
  set: (value: string) => void,
): HTMLLabelElement {
  const list = el('select', {onchange: () => set(list.value)}, ...options.map(([v, t]) => el('option', {value: v}, t)));
  list.value = value;
  return el('label', {className: 'choice'}, el('span', {}, text), list);
}

/** A named slider. */
export function slider(
  text: string,
  min: number,
  max: number,
  step: number,
  value: number,
  set: (value: number) => void,
  show: (value: number) => string,
): HTMLLabelElement {
  const output = el('output', {}, show(value));
  const range = el('input', {
    type: 'range',
    min,
    max,
    step,
    value,
    oninput: () => {
      set(Number(range.value));
      output.textContent = show(Number(range.value));
    },
  });
  range.value = String(value);
  return el('label', {className: 'slide'}, el('span', {}, text), range, output);
}

/** What is missing and how to get it; commands between backticks. */
export const emptyState = (what: string, how: string): HTMLElement =>
  el(
    'div',
    {className: 'empty', role: 'note'},
    el('strong', {}, what),
    el('p', {}, ...how.split('`').map((part, i) => (i % 2 ? el('code', {}, part) : part))),
  );

/** Fills a list of definitions (dl) with names and values, in place of what it held. */
export const fillFacts = (list: HTMLElement, facts: [string, string][]): void =>
  list.replaceChildren(...facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));

/** Calls `act` with the width [px] of an element whenever its size changes while it can be seen. */
export function onWidth(element: HTMLElement, act: (width: number) => void): void {
  new ResizeObserver(() => {
    if (element.clientWidth > 0) act(element.clientWidth);
  }).observe(element);
}
