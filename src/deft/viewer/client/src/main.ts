import './style.css';
import {App} from './app';
import {el, emptyState} from './dom';
import {parseRun, runText} from './run_document';

interface Hook {
  ready: boolean;
  frame(i: number): void;
  info(): Record<string, unknown>;
}
declare global {
  interface Window {
    __deft: Hook;
  }
}

let app: App | null = null;
let life = new AbortController();

window.__deft = {ready: false, frame: (i) => app?.frame(i), info: () => app?.info() ?? {}};

/** Shows the run in `text`; what is not one leaves the page as it is and says so. */
function open(text: string, source: string): void {
  try {
    if (!text.trim()) throw new Error('it holds no run; deft sim and deft view write pages that do.');
    const run = parseRun(text);
    life.abort();
    life = new AbortController();
    app = new App(run, openButton(), life.signal);
  } catch (error) {
    complain(`${source}: ${(error as Error).message}`);
  }
}

function complain(message: string): void {
  const close = el('button', {'aria-label': 'Dismiss', onclick: () => note.remove()}, '×');
  const note = el('div', {className: 'complaint', role: 'alert'}, message, close);
  document.body.append(note);
}

const openFile = async (file: File): Promise<void> => open(runText(await file.text()), file.name);

function openButton(): HTMLElement {
  const picker = el('input', {
    type: 'file',
    accept: '.html,.json',
    hidden: true,
    'aria-label': 'Run file',
    onchange: () => {
      if (picker.files?.[0]) void openFile(picker.files[0]);
    },
  });
  return el(
    'span',
    {},
    el('button', {title: 'Open another run.html or run.json', onclick: () => picker.click()}, 'Open…'),
    picker,
  );
}

document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) void openFile(file);
});

const embedded = document.querySelector('#deft-run')?.textContent?.trim() ?? '';
if (embedded) open(embedded, 'This page');
if (!app) {
  document
    .querySelector('#app')!
    .replaceChildren(
      el(
        'main',
        {className: 'welcome'},
        el('h1', {}, 'deft viewer'),
        emptyState(
          'No run in this page.',
          '`deft sim SCENE` writes run.html with the run inside; or drop a run.html or run.json here.',
        ),
        openButton(),
      ),
    );
}
window.__deft.ready = true;
