// Status of a step, and whether its solution is unique: in words, and in marks that differ by shape.
import {readContacts} from './contact';
import type {Kind} from './kind';
import {Run, statusWord} from './run';
import {jammedBodies} from './support';

const kSolved: Kind = {
  rank: 0,
  word: 'solved',
  many: 'solved',
  meaning: 'solved',
  colour: '--good',
  fill: 'none',
  mark: '',
};
const kJam: Kind = {
  rank: 1,
  word: 'jam',
  many: 'jammed',
  meaning: 'jam: an object rests although robots push it',
  colour: '--warn',
  fill: 'stripes',
  mark: 'bars',
};
const kOtherFailure: Kind = {
  rank: 2,
  word: 'failed',
  many: 'failed',
  meaning: 'no motion was found: a limit was struck, or numbers failed',
  colour: '--bad',
  fill: 'solid',
  mark: 'cross',
};
const kRay: Kind = {
  rank: 3,
  word: 'ray',
  many: 'RayTermination',
  meaning: 'RayTermination: no motion was found, nor a proof that there is none',
  colour: '--bad',
  fill: 'grid',
  mark: 'ray',
};
const kInfeasible: Kind = {
  rank: 4,
  word: 'infeasible',
  many: 'Infeasible',
  meaning: 'Infeasible: a proof that no motion exists (a jam of perfectly controlled robots)',
  colour: '--bad',
  fill: 'solid',
  mark: 'ban',
};
const kUnique: Kind = {
  rank: 0,
  word: 'unique',
  many: 'unique',
  meaning: 'the only solution',
  colour: '--good',
  fill: 'none',
  mark: '',
};
const kUnknown: Kind = {
  rank: 1,
  word: 'unknown',
  many: 'unknown',
  meaning: 'unknown whether there are alternative solutions: the search has a budget',
  colour: '--ink-soft',
  fill: 'dots',
  mark: 'question',
};
const kSeveral: Kind = {
  rank: 2,
  word: 'several',
  many: 'several',
  meaning: 'several solutions; one was taken, an alternative is shown as a ghost',
  colour: '--alternative',
  fill: 'stripes',
  mark: 'diamonds',
};

export function outcome(run: Run, step: number): Kind {
  const word = statusWord(run, step);
  if (word === 'Infeasible') return kInfeasible;
  if (word === 'RayTermination') return kRay;
  if (word !== 'Solved' && word !== 'NotUnique') return kOtherFailure;
  return jammedBodies(run, step + 1).length ? kJam : kSolved;
}

/** Whether the solution of a step is unique. Models that look for no alternative still may know that there is one. */
export function uniqueness(run: Run, step: number): Kind {
  if (statusWord(run, step) === 'NotUnique') return kSeveral;
  if (outcome(run, step).rank > kJam.rank || !run.steps.uniqueness) return kUnique; // a failed step has no motion
  return [kUnknown, kUnique, kSeveral][run.steps.uniqueness[step]] ?? kUnknown;
}

const kSentences: Record<string, string> = {
  Infeasible: 'no motion satisfies the constraints, and there is a proof of it',
  RayTermination: 'the solver ended on a ray: no motion was found, nor a proof that there is none',
  Unbounded: 'nothing holds what moves, and there is a proof of it',
  IterationLimit: 'no motion was found within the allowed iterations',
  TimeLimit: 'no motion was found within the allowed time',
  NumericalFailure: 'the motion that was found did not stand up to the certificate',
};

/** “disk rests although left and right push”, for each body that is jammed in the step. */
export function jamText(run: Run, step: number): string {
  const names = run.names.bodies;
  return jammedBodies(run, step + 1)
    .map((body) => {
      const touching = readContacts(run, step + 1)
        .filter((c) => c.fn > 0 && (c.on === body || c.from === body))
        .map((c) => (c.on === body ? c.from : c.on));
      const robots = [...new Set(touching)].filter((b) => run.scene.bodies[b]?.role === 'robot').map((b) => names[b]);
      return `${names[body]} rests although ${listed(robots) || 'robots'} ${robots.length === 1 ? 'pushes' : 'push'}`;
    })
    .join('; ');
}

/** “a”, “a and b”, “a, b and c”. */
export const listed = (names: string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;

/** A step in words: its status, what that means, and what is known about alternative solutions. */
export function statusText(run: Run, step: number): string {
  const word = statusWord(run, step),
    jam = jamText(run, step),
    kind = uniqueness(run, step);
  const parts = [kSentences[word] ? `${word} – ${kSentences[word]}` : word];
  if (jam) parts.push(`jam: ${jam}`);
  if (kind === kSeveral) parts.push('there are several solutions, and one of them was taken');
  else if (kind === kUnknown) parts.push('it is unknown whether there are alternative solutions');
  else if (run.steps.uniqueness?.[step] === 1) parts.push('there is no alternative solution');
  return parts.join('; ');
}
