// Kinds of steps: a word and a mark for each; what they are is said by status.ts, patch.ts and track.ts.
import type {Run} from './run';

/** A mark of the strip. `colour` names a value of the palette; `fill` is how a stretch of such steps is filled. */
export interface Kind {
  rank: number;
  word: string;
  many: string;
  meaning: string;
  colour: string;
  fill: 'none' | 'solid' | 'stripes' | 'grid' | 'dots';
  mark: '' | 'bars' | 'ban' | 'ray' | 'cross' | 'diamonds' | 'question' | 'dot' | 'dash' | 'hexagon' | 'turn';
}

/** How often each kind but the plain one occurs, the worst first: “1 Infeasible, 12 jammed”. */
export function countKinds(run: Run, kindOf: (run: Run, step: number) => Kind): [Kind, number][] {
  const counts = new Map<Kind, number>();
  for (let j = 0; j < run.steps.count; ++j) {
    const kind = kindOf(run, j);
    if (kind.rank > 0) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[0].rank - a[0].rank);
}
