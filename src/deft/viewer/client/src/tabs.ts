import {el} from './dom';

/** Panels of which one is seen, after the ARIA tab pattern (arrow keys move between the tabs). */
export function makeTabs(label: string, panels: [string, HTMLElement][], shown: (panel: string) => void): HTMLElement {
  const tabs = panels.map(([name], i) =>
    el('button', {role: 'tab', id: `tab-${i}`, 'aria-controls': `panel-${i}`, onclick: () => select(i)}, name),
  );
  const bodies = panels.map(([, content], i) =>
    el('div', {role: 'tabpanel', id: `panel-${i}`, 'aria-labelledby': `tab-${i}`, className: 'panel'}, content),
  );
  const select = (chosen: number) => {
    tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      bodies[i].hidden = i !== chosen;
    });
    shown(panels[chosen][0]);
  };
  const list = el(
    'div',
    {
      role: 'tablist',
      'aria-label': label,
      onkeydown: (event: KeyboardEvent) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!step) return;
        const next = (tabs.indexOf(document.activeElement as HTMLButtonElement) + step + tabs.length) % tabs.length;
        tabs[next].focus();
        select(next);
      },
    },
    ...tabs,
  );
  const root = el('aside', {className: 'side', 'aria-label': label}, list, ...bodies);
  queueMicrotask(() => select(0));
  return root;
}
