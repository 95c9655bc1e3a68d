import {elsewhereText} from './alternative';
import {Contact, readContacts} from './contact';
import {el, emptyState} from './dom';
import {figures, millimetres, orDash} from './format';
import {hex, kStates, utilisationColour} from './palette';
import {kKinds, readPatch} from './patch';
import type {Player} from './player';
import {Run, statusWord} from './run';
import {jamText, uniqueness} from './status';
import {controllerKind} from './track';

const kMost = 60; // rows; more are counted, not listed

/** The step's record and the contacts of the moment in words and numbers, the most loaded first: what the drawing
 *  shows, for every reader. */
export class ContactTable {
  readonly root = el('div', {className: 'contacts'});
  private readonly step = el('dl', {className: 'step', 'aria-label': 'Step'});
  private readonly summary = el('p', {className: 'hint'});
  private readonly rows = el('tbody');
  private readonly table: HTMLElement;
  private readonly none = el('div');

  constructor(
    private readonly run: Run,
    private readonly player: Player,
  ) {
    const head = ['state', 'on · from', 'fₙ [N]', 'fₜ [N]', 'of μfₙ', 'gap [mm]'].map((text) =>
      el('th', {scope: 'col'}, text),
    );
    this.table = el(
      'table',
      {},
      el('caption', {className: 'hidden'}, 'Contacts of the moment shown'),
      el('thead', {}, el('tr', {}, ...head)),
      this.rows,
    );
    this.root.append(this.step, this.summary, this.table, this.none);
    player.onChange(() => this.update());
  }

  /** Rewritten only while it can be seen. */
  update(): void {
    if (this.root.offsetParent === null) return;
    this.step.replaceChildren(
      ...this.stepFacts().flatMap(([name, value]) => [
        el('dt', {}, name),
        el('dd', {className: ['alternative', 'jam'].includes(name) ? 'wide' : ''}, value),
      ]),
    );
    const contacts = readContacts(this.run, this.player.frame).sort((a, b) => b.fn - a.fn);
    const counts = kStates.map((s, i) => `${contacts.filter((c) => c.state === i).length} ${s.word}`).join(', ');
    this.summary.textContent = contacts.length ? `${contacts.length} contacts: ${counts}` : '';
    this.table.hidden = contacts.length === 0;
    this.none.replaceChildren(...(contacts.length ? [] : [this.emptyNote()]));
    const names = this.run.names.bodies;
    this.rows.replaceChildren(
      ...contacts
        .slice(0, kMost)
        .map((c) =>
          el(
            'tr',
            {},
            el(
              'td',
              {},
              el(
                'span',
                {style: `color:${kStates[c.state]?.colour}`, 'aria-hidden': 'true'},
                kStates[c.state]?.glyph ?? '?',
              ),
              ` ${kStates[c.state]?.word ?? ''}${kindOf(this.run, c)}`,
            ),
            el('td', {className: 'names'}, `${names[c.on]} · ${names[c.from]}`),
            el('td', {}, figures(Math.abs(c.fn) < 1e-9 ? 0 : c.fn)),
            el('td', {}, figures(c.ft < 1e-9 ? 0 : c.ft)),
            el('td', {}, c.fn > 1e-9 && c.mu > 0 ? bar(readPatch(this.run, c.index)?.used ?? c.utilisation) : '–'),
            el('td', {className: c.gap < -1e-6 ? 'penetration' : ''}, millimetres(c.gap).replace(' mm', '')),
          ),
        ),
    );
    if (contacts.length > kMost)
      this.rows.append(el('tr', {}, el('td', {colSpan: 6}, `and ${contacts.length - kMost} more`)));
  }

  private stepFacts(): [string, string][] {
    const {
      run,
      player: {frame},
    } = this;
    if (frame < 1) return [];
    const j = frame - 1,
      {residual, iterations, solve_us, energy, gap_min, unique} = run.steps;
    const loose = [unique[j] & 1 ? '' : 'motion', unique[j] & 2 ? '' : 'forces'].filter(Boolean).join(' and ');
    const {track} = run,
      solutions = uniqueness(run, j),
      jam = jamText(run, j),
      other = elsewhereText(run, frame);
    return [
      ['step', String(run.frame[frame])],
      ['status', statusWord(run, j)],
      ['residual', orDash(residual[j], figures)],
      ['iterations', String(iterations[j])],
      ['solve', orDash(solve_us[j], (x) => `${figures(x)} µs`)],
      ['energy', orDash(energy[j], (x) => `${figures(x)} J`)],
      ['smallest gap', orDash(gap_min[j], millimetres)],
      ['unique', loose ? `not the ${loose}` : solutions.word === 'unknown' ? 'forces; motion unknown' : 'yes'],
      ...(track
        ? ([
            ['controller', controllerKind(run, j).word],
            ['period', orDash(track.period[j], (x) => `${figures(x)} µs`)],
          ] as [string, string][])
        : []),
      ...(other ? [['alternative', other] as [string, string]] : []),
      ...(jam ? [['jam', jam] as [string, string]] : []),
    ];
  }

  private emptyNote(): HTMLElement {
    if (this.run.contacts.count === 0) {
      return emptyState(
        'No contacts in this run.',
        'Pairs are recorded once they are closer than step.contact_margin.',
      );
    }
    return this.player.frame === 0
      ? emptyState('The start has no contacts yet.', 'Contacts belong to steps; press → for the first one.')
      : emptyState('No contacts in this step.', 'No pair is closer than step.contact_margin at this moment.');
  }
}

/** “, line” where the model reports what the bodies share. */
function kindOf(run: Run, c: Contact): string {
  const patch = c.state > 0 ? readPatch(run, c.index) : null;
  return patch ? `, ${kKinds[patch.kind].word}` : '';
}

function bar(utilisation: number): HTMLElement {
  const percent = `${figures(Math.round(100 * utilisation))} %`;
  const fill = el('i', {
    style: `width:${Math.min(100, 100 * utilisation)}%;background:${hex(utilisationColour(utilisation))}`,
  });
  return el('span', {className: 'use'}, el('span', {className: 'use-bar', 'aria-hidden': 'true'}, fill), percent);
}
