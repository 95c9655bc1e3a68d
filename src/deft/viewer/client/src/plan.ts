// What a controller planned: one row per frame that starts a step; see ../../README.md.
import type {Numbers, Run} from './run';

export interface Plans {
  horizon: number; bodies: number[]; names_v: string[]; count: number;
  X_WB: Numbers; cost: Numbers; bound: Numbers; gap: Numbers; time: Numbers; status: Numbers; fallback: Numbers;
  offset: Numbers; pairs: Numbers; limits: Numbers; states: Numbers;
}

export function readPlans(header: {horizon: number; bodies: number[]; names_v: string[]}, block: (name: string) => Numbers): Plans {
  const cost = block('plan_cost');
  return {...header, count: cost.length, X_WB: block('plan_X_WB'), cost, bound: block('plan_bound'), gap: block('plan_gap'), time: block('plan_time'),
          status: block('plan_status'), fallback: block('plan_fallback'), offset: block('plan_offset'), pairs: block('plan_pairs'),
          limits: block('plan_limits'), states: block('plan_states')};
}

/** A contact or joint limit within reach, and what it does at the end of each stage: an index into kStates, 3: no plan. */
export interface PlanRow {name: string; states: number[]}

/** The rows of the plan made at a frame; those of equal names are counted. */
export function planRows(run: Run, frame: number): PlanRow[] {
  const plans = run.plans;
  if (!plans || frame >= plans.count) return [];
  const rows: PlanRow[] = [], seen = new Map<string, number>();
  for (let i = plans.offset[frame]; i < plans.offset[frame + 1]; ++i) {
    const [a, b] = [plans.pairs[2 * i], plans.pairs[2 * i + 1]], limit = ['', 'lower limit of ', 'upper limit of '][plans.limits[i]];
    const name = limit ? limit + plans.names_v[a] : `${run.names.bodies[a]} – ${run.names.bodies[b]}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    rows.push({name: count > 1 ? `${name} (${count})` : name, states: Array.from(plans.states.slice(i * plans.horizon, (i + 1) * plans.horizon))});
  }
  return rows;
}

export const hasPlan = (run: Run, frame: number): boolean => run.plans !== null && frame < run.plans.count && !run.plans.fallback[frame];
