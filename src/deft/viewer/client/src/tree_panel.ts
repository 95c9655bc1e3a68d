import {choice, checkbox, el, emptyState, fillFacts, onWidth} from './dom';
import {figures} from './format';
import {treeGradient} from './palette';
import {degrees, reachAt} from './reach';
import type {Reach, Run} from './run';
import {Axis, axesOf, firstAxes, kKinds, pathTo} from './tree';
import type {TreeLayer} from './tree_layer';
import {TreeMap} from './tree_map';
import type {TreeState} from './tree_state';

/** “±12 mm, ±30°”: the longest semi-axes, of each body if there are several. */
function reachText(run: Run, reach: Reach, row: number): string {
  return reachAt(reach, row)
    .map(({body, shifts, turns}) => {
      const name = reach.bodies.length > 1 ? `${run.names.bodies[body]} ` : '';
      return `${name}±${figures(1e3 * shifts[0].length(), 2)} mm, ±${figures(degrees(turns[0].length()), 2)}°`;
    })
    .join('; ');
}

/** The tree: its map, its growth, and the node that was chosen. */
export class TreePanel {
  readonly root = el('div', {className: 'tree'});
  private readonly map: TreeMap;
  private readonly axes: Axis[];
  private readonly growth: HTMLInputElement;
  private readonly grown = el('output', {});
  private readonly play: HTMLButtonElement;
  private readonly scale = el('p', {className: 'key'});
  private readonly number: HTMLInputElement;
  private readonly node = el('div', {className: 'node', 'aria-live': 'polite'});

  constructor(
    private readonly run: Run,
    private readonly state: TreeState,
    private readonly layer: TreeLayer | null,
  ) {
    const {tree} = state;
    this.axes = axesOf(run, tree);
    const [x, y] = firstAxes(this.axes);
    this.map = new TreeMap(state, this.axes[x], this.axes[y]);
    this.play = el('button', {onclick: () => state.toggleGrowth()}, 'Grow');
    this.growth = el('input', {
      type: 'range',
      min: 1,
      max: tree.count,
      step: 1,
      'aria-label': 'Nodes shown',
      disabled: tree.count < 2,
      oninput: () => {
        if (state.playing) state.toggleGrowth();
        state.setShown(Number(this.growth.value));
      },
    });
    this.number = el('input', {
      type: 'number',
      min: 0,
      max: tree.count - 1,
      step: 1,
      placeholder: 'none',
      oninput: () => {
        if (this.number.validity.valid && this.number.value) state.select(Number(this.number.value));
      },
    });
    this.root.append(el('p', {className: 'hint'}, this.summary()));
    if (tree.count < 2)
      this.root.append(
        emptyState(
          'The tree is only its root.',
          'No roll-out moved the object. Give the search more: `deft plan SCENE --nodes 2000`, or `--seed 1`.',
        ),
      );
    this.root.append(
      el(
        'section',
        {},
        el('div', {className: 'axes'}, this.axisChoice(0, x), this.axisChoice(1, y)),
        this.map.root,
        this.legend(),
        this.scale,
      ),
      el('section', {'aria-label': 'Growth'}, el('div', {className: 'slide'}, this.play, this.growth, this.grown)),
      el('section', {'aria-label': 'Node'}, this.chooser(), this.node, ...this.options()),
    );
    state.onChange(() => this.update());
    this.update();
    onWidth(this.root, (width) => this.map.resize(width));
  }

  redraw(): void {
    this.map.redraw();
  }

  private readonly chosen = [0, 0];

  private axisChoice(which: 0 | 1, first: number): HTMLElement {
    this.chosen[which] = first;
    const label = choice(
      ['→', '↑'][which],
      this.axes.map((axis, i): [string, string] => [String(i), axis.name]),
      String(first),
      (value) => {
        this.chosen[which] = Number(value);
        this.map.setAxes(this.axes[this.chosen[0]], this.axes[this.chosen[1]]);
      },
    );
    label.querySelector('select')!.setAttribute('aria-label', ['Across', 'Up'][which]);
    return label;
  }

  private summary(): string {
    const {tree, nearest} = this.state;
    const left = tree.count < tree.total ? ` (of ${tree.total}: the rest left out to keep this page small)` : '';
    const end = tree.success
      ? `a plan to “${tree.goal}”`
      : `no plan to “${tree.goal}”${tree.success === null ? ': the search was cut short' : ''}; node ${nearest} comes nearest`;
    return `${tree.count} nodes${left}, ${end}.`;
  }

  private legend(): HTMLElement {
    const line = (style: string) => el('i', {className: 'line', style: `border-top:${style}`});
    const key = (mark: HTMLElement | string, text: string) =>
      el('span', {}, typeof mark === 'string' ? el('b', {}, mark) : mark, text);
    return el(
      'p',
      {className: 'tree-keys'},
      ...kKinds.map((kind) => key(kind.glyph, kind.word)),
      key(line('3px solid var(--ink)'), 'plan'),
      key(line('3px dashed var(--accent)'), 'to the node'),
      key(line('2px dotted var(--goal)'), 'goal'),
    );
  }

  private chooser(): HTMLElement {
    const {state} = this;
    const button = (text: string, node: () => number | null) =>
      el('button', {onclick: () => state.select(node())}, text);
    return el(
      'div',
      {className: 'choice'},
      el('label', {}, el('span', {}, 'Node'), this.number),
      button('Parent', () => (state.selected === null ? null : state.tree.parent[state.selected])),
      button('Nearest', () => state.nearest),
      button('None', () => null),
    );
  }

  /** How the tree is drawn. */
  private options(): Node[] {
    const {state, layer} = this;
    const parts: Node[] = [
      choice(
        'Colour',
        [
          ['cost', 'cost from the start'],
          ['time', 'when it grew'],
        ],
        state.colourBy,
        (by) => state.setColour(by as 'cost' | 'time'),
      ),
    ];
    if (layer) {
      parts.push(checkbox('In the scene while this page is open', true, (on) => layer.allow(on)));
      if (layer.objects.length > 1) {
        parts.push(
          choice(
            'Drawn at',
            layer.objects.map((b): [string, string] => [String(b), this.run.names.bodies[b]]),
            String(layer.objects[0]),
            (b) => layer.setObject(Number(b)),
          ),
        );
      }
    }
    return parts;
  }

  private update(): void {
    const {state} = this,
      {tree} = state;
    this.growth.value = String(state.shown);
    this.grown.textContent = `${state.shown} of ${tree.count}`;
    this.growth.setAttribute(
      'aria-valuetext',
      `${state.shown} of ${tree.count} nodes, after ${figures(tree.time[state.shown - 1])} s`,
    );
    this.play.textContent = state.playing ? 'Stop' : 'Grow';
    const [low, high] = state.colourRange;
    this.scale.replaceChildren(
      figures(low),
      el('i', {className: 'gradient wide', style: `background:${treeGradient()}`}),
      `${figures(high)} s ${state.colourBy === 'cost' ? 'of cost' : 'of search'}`,
    );
    if (state.selected === null || document.activeElement !== this.number)
      this.number.value = state.selected === null ? '' : String(state.selected);
    this.describe();
  }

  private describe(): void {
    const {selected, tree} = this.state;
    if (selected === null) {
      this.node.replaceChildren(
        el('p', {className: 'hint'}, 'Click a node, or give its number, to see its pose in the scene.'),
      );
      return;
    }
    const kind = kKinds[tree.kind[selected]];
    const rows: [string, string][] = [
      ['kind', `${kind.glyph} ${kind.word}`],
      ['distance', `${figures(tree.distance[selected])} m`],
      ['cost', `${figures(tree.cost[selected])} s`],
      ['regrasps', String(tree.regrasps[selected])],
      ['grown after', `${figures(tree.time[selected])} s`],
      ['on the plan', this.state.plan.includes(selected) ? 'yes' : 'no'],
    ];
    const row = tree.reach?.ofNode.get(selected);
    if (tree.reach)
      rows.push(['next reaches', row === undefined ? 'not recorded' : reachText(this.run, tree.reach, row)]);
    const path = pathTo(tree, selected);
    const links = path.map((n) =>
      el(
        'button',
        {
          className: 'link',
          'aria-label': `Node ${n}, ${kKinds[tree.kind[n]].word}`,
          onclick: () => this.state.select(n),
        },
        `${kKinds[tree.kind[n]].glyph} ${n}`,
      ),
    );
    const facts = el('dl', {className: 'step'});
    fillFacts(facts, rows);
    this.node.replaceChildren(
      facts,
      el('p', {className: 'path', role: 'group', 'aria-label': 'Path from the root'}, ...links),
    );
  }
}
