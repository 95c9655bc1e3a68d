import {el, emptyState} from './dom';
import type {ExplainLayer} from './explain_layer';
import {Explanation, meaningOf, Reason, triesOf} from './explanation';
import {figures} from './format';

/** Why there is no plan that holds: the causes in order of weight, and buttons that show failed tries as ghosts. */
export class ExplainPanel {
  readonly root = el('div', {className: 'explain'});
  private readonly buttons = new Map<number, HTMLButtonElement>(); // by try

  /** Null where nobody asked. `layer` is null where the browser cannot draw in 3-D. */
  static make(explanation: Explanation | null, layer: ExplainLayer | null): ExplainPanel | null {
    return explanation ? new ExplainPanel(explanation, layer) : null;
  }

  private constructor(
    private readonly explanation: Explanation,
    private readonly layer: ExplainLayer | null,
  ) {
    const {reasons, status} = explanation;
    if (reasons.length === 0) {
      this.root.append(emptyState('The plan holds.', 'Nothing kept it from doing so: there is nothing to explain.'));
      return;
    }
    this.root.append(
      el('h3', {}, `Why ${status}`),
      el('ol', {className: 'reasons', 'aria-label': 'Reasons, heaviest first'}, ...reasons.map((r) => this.row(r))),
    );
  }

  private row(reason: Reason): HTMLElement {
    const share = `${figures(100 * reason.weight)} %`;
    return el(
      'li',
      {className: 'reason'},
      el(
        'div',
        {className: 'reason-head'},
        el('strong', {title: meaningOf(reason.reason)}, reason.reason),
        el('span', {className: 'reason-share'}, `${share}, ${reason.count} ${reason.count === 1 ? 'time' : 'times'}`),
      ),
      el('div', {className: 'reason-bar', role: 'presentation', style: `--share: ${Math.min(1, reason.weight)}`}),
      el('p', {}, reason.detail),
      el('p', {className: 'cure'}, 'What would change it: ', el('code', {}, reason.setting)),
      ...this.tries(reason),
    );
  }

  /** Buttons for the failed tries of a reason, if there are any and they can be drawn. */
  private tries(reason: Reason): HTMLElement[] {
    const {layer} = this,
      tries = layer ? triesOf(this.explanation, reason.reason) : [];
    if (tries.length === 0) return [];
    const buttons = tries.map((attempt, k) => {
      const button = el(
        'button',
        {className: 'link', 'aria-pressed': 'false', title: 'Show it as a ghost', onclick: () => this.toggle(attempt)},
        `try ${k + 1}`,
      );
      this.buttons.set(attempt, button);
      return button;
    });
    return [el('div', {className: 'path', role: 'group', 'aria-label': `Failed tries: ${reason.reason}`}, ...buttons)];
  }

  private toggle(attempt: number): void {
    const next = this.layer!.shown === attempt ? null : attempt;
    this.layer!.choose(next);
    for (const [other, button] of this.buttons) button.setAttribute('aria-pressed', String(other === next));
  }
}
