import {el} from './dom';
import {figures} from './format';
import type {Key} from './keyboard';
import type {Player} from './player';
import type {Run, Tree} from './run';
import type {Stage} from './stage';
import {kKinds} from './tree';
import {TreeLayer} from './tree_layer';
import {TreePanel} from './tree_panel';
import {TreeState} from './tree_state';

/** Everything about the tree on the page. While a node is chosen the scene shows its pose; the timeline takes over
 *  again when it moves. */
export class TreeView {
  readonly panel: TreePanel;
  readonly layer: TreeLayer | null;
  private readonly state: TreeState;

  constructor(
    run: Run,
    private readonly tree: Tree,
    view: HTMLElement,
    stage: Stage | null,
    player: Player,
    show: () => void,
    signal: AbortSignal,
  ) {
    this.state = new TreeState(tree, signal);
    this.layer = stage ? new TreeLayer(run, this.state, stage) : null;
    this.panel = new TreePanel(run, this.state, this.layer);
    const name = el('span');
    const note = el(
      'div',
      {className: 'node-note', role: 'status', hidden: true},
      name,
      el('button', {onclick: () => this.state.select(null)}, 'Back to the run (Esc)'),
    );
    view.append(note);
    let shown: number | null = null;
    this.state.onChange(() => {
      const {selected} = this.state;
      if (selected === shown) return;
      if (selected !== null && player.playing) player.pause();
      shown = selected;
      note.hidden = selected === null;
      if (selected !== null) {
        name.textContent =
          `Node ${selected}: ${kKinds[tree.kind[selected]].word} · ${figures(tree.distance[selected])} m to go · ` +
          `cost ${figures(tree.cost[selected])} s · ${tree.regrasps[selected]} ${tree.regrasps[selected] === 1 ? 'regrasp' : 'regrasps'}`;
      }
      show();
    });
    player.onChange(() => this.state.select(null));
  }

  get selected(): number | null {
    return this.state.selected;
  }
  get shown(): number {
    return this.state.shown;
  }

  applyTheme(): void {
    this.layer?.applyTheme();
    this.panel.redraw();
  }

  keys(): Key[] {
    const by = (step: number) => () => {
      const {selected} = this.state;
      this.state.select(selected === null ? 0 : Math.min(this.tree.count - 1, Math.max(0, selected + step)));
    };
    return [
      {keys: [','], shown: ',', text: 'previous node of the tree', action: by(-1)},
      {keys: ['.'], shown: '.', text: 'next node of the tree', action: by(1)},
      {keys: ['Escape'], shown: 'Esc', text: 'from a node back to the run', action: () => this.state.select(null)},
    ];
  }
}
