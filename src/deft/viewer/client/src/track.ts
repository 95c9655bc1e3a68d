// Runs that follow a plan, and a second run on the same clock; see ../../README.md.
import type {Numbers} from './blocks';
import type {Kind} from './kind';
import type {Beside, Errors, Run} from './run';

export type ErrorName = keyof Errors;

/** What errors are called, in which unit they are shown (× scale), and the limits that the scene sets for them, in SI
 *  units. */
export const kErrors: {name: ErrorName; title: string; unit: string; scale: number}[] = [
  {name: 'position', title: 'Position error', unit: 'mm', scale: 1e3},
  {name: 'rotation', title: 'Rotation error', unit: 'rad', scale: 1},
];

/** Smaller errors count as this on logarithmic axes [m, rad]. */
export const kLeastError = 1e-9;

/** Where a new plan is made, and what counts as reached at the end, of the error with this index in kErrors; null: not
 *  known. */
export function limitsOf(run: Run, error: number): {replan: number | null; tolerance: number | null} {
  const {replan, tolerance} = run.scene.settings;
  return {replan: replan?.[error] ?? null, tolerance: tolerance?.[error] ?? null};
}

/** Row of a list of times, with fraction, at a time; ends where the list ends. */
export function rowAt(t: Numbers, time: number): number {
  let low = 0,
    high = Math.max(0, t.length - 1);
  if (time >= t[high]) return high;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  const span = t[high] - t[low];
  return span > 0 ? low + Math.max(0, (time - t[low]) / span) : low;
}

/** The second run's error at a time, linear between its steps; null before its first step's end and after its last. */
export function errorBeside(beside: Beside, name: ErrorName, time: number): number | null {
  const values = beside.errors?.[name],
    last = beside.t.length - 1;
  if (!values || values.length === 0 || time < beside.t[1] - 1e-9 || time > beside.t[last] + 1e-6) return null;
  const row = rowAt(beside.t, time) - 1,
    low = Math.max(0, Math.floor(row)),
    high = Math.min(values.length - 1, low + 1);
  return values[low] + (Math.max(0, row) - low) * (values[high] - values[low]);
}

const plain = (word: string): Kind => ({
  rank: 0,
  word,
  many: word,
  meaning: word,
  colour: '--good',
  fill: 'none',
  mark: '',
});

/** Words of controllers that are more than “as planned”; what is not known here is marked too. */
const kWords: Record<string, Omit<Kind, 'word' | 'many'>> = {
  settling: {
    rank: 1,
    meaning: 'settling: behind the end of the plan',
    colour: '--ink-soft',
    fill: 'dots',
    mark: 'dash',
  },
  replanning: {
    rank: 3,
    meaning: 'replanning: the command is held while a new plan is made',
    colour: '--alternative',
    fill: 'stripes',
    mark: 'turn',
  },
  hold: {
    rank: 4,
    meaning: 'hold: no command was found, the last one is held',
    colour: '--warn',
    fill: 'stripes',
    mark: 'bars',
  },
  blind: {
    rank: 5,
    meaning: 'blind: no pose was measured for too long, the command is held',
    colour: '--warn',
    fill: 'grid',
    mark: 'question',
  },
  offplan: {
    rank: 6,
    meaning: 'off the plan: the objects are too far off, and there is no new plan',
    colour: '--bad',
    fill: 'solid',
    mark: 'cross',
  },
};
const kPlain = ['tracking', 'openloop'];

const made = new Map<string, Kind>();

/** What the controller did in a step. */
export function controllerKind(run: Run, step: number): Kind {
  const word = run.track!.words[run.track!.status[step]];
  let kind = made.get(word);
  if (!kind) {
    const key = word.toLowerCase().replace(/[^a-z]/g, '');
    const known = kWords[key] ?? {
      rank: 2,
      meaning: `controller: ${word}`,
      colour: '--ink-soft',
      fill: 'dots' as const,
      mark: 'dot' as const,
    };
    made.set(word, (kind = kPlain.includes(key) ? plain(word) : {...known, word, many: word}));
  }
  return kind;
}

/** Time of a control period [µs]; NaN where a plan was made in it, which takes seconds. */
export const periodOf = (run: Run, step: number): number =>
  controllerKind(run, step).mark === 'turn' ? NaN : run.track!.period[step];

const kSamePlan = plain('same plan');
const kNewPlan: Kind = {
  rank: 1,
  word: 'new plan',
  many: 'new',
  meaning: 'a new plan begins',
  colour: '--alternative',
  fill: 'solid',
  mark: 'turn',
};

/** Whether another plan is followed than in the step before. */
export const planKind = (run: Run, step: number): Kind =>
  step > 0 && run.track!.plan[step] !== run.track!.plan[step - 1] ? kNewPlan : kSamePlan;
