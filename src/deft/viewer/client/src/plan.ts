// What a controller planned: one row per frame that starts a step; see ../../README.md.
import type {Run} from './run';

/** A contact or joint limit within reach, and what it does at the end of each stage: an index into kStates, 3:
 *  no plan. */
export interface PlanRow {
  name: string;
  states: number[];
}

/** The rows of the plan made at a frame; those of equal names are counted. */
export function planRows(run: Run, frame: number): PlanRow[] {
  const plans = run.plans;
  if (!plans || frame >= plans.count) return [];
  const rows: PlanRow[] = [],
    seen = new Map<string, number>();
  for (let i = plans.offset[frame]; i < plans.offset[frame + 1]; ++i) {
    const [a, b] = [plans.pairs[2 * i], plans.pairs[2 * i + 1]],
      limit = ['', 'lower limit of ', 'upper limit of '][plans.limits[i]];
    const name = limit ? limit + plans.names_v[a] : `${run.names.bodies[a]} – ${run.names.bodies[b]}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    rows.push({
      name: count > 1 ? `${name} (${count})` : name,
      states: Array.from(plans.states.slice(i * plans.horizon, (i + 1) * plans.horizon)),
    });
  }
  return rows;
}

export const hasPlan = (run: Run, frame: number): boolean =>
  run.plans !== null && frame < run.plans.count && !run.plans.fallback[frame];
