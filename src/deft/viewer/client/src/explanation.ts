// Why a planner has no plan that holds (`deft plan --explain`).
import type {Numbers} from './blocks';

export interface Reason {
  reason: string;
  count: number;
  weight: number; // share of the tries, or of the plans that were judged
  detail: string;
  setting: string; // what would change it
}

/** `tries`: the reason that each failed try counts for, with the poses of all bodies [tries × bodies × 7]. */
export interface Explanation {
  status: string;
  reasons: Reason[];
  tries: string[];
  X_WB: Numbers;
}

const kMeanings: Record<string, string> = {
  impossible: 'No plan can reach the goal: this is proven, and nothing was searched for.',
  'no grasp': 'Joints that touch the object without collision were not found.',
  blocked: 'The way to a grasp was not free of collision.',
  drift: 'The object moved while fingers went to a grasp.',
  'not released': 'Fingers could not let go.',
  'not pressed': 'Fingers that closed found nothing to press on.',
  stall: 'No command brought the object nearer to the goal.',
  judge: 'Plans lead to the goal in steps of h, but not in this world.',
  time: 'The limit of time ended the search.',
  nodes: 'The number of roll-outs ended the search.',
};

/** A sentence for a reader who has not met the word. */
export const meaningOf = (reason: string): string => kMeanings[reason] ?? '';

/** The failed tries that belong to a reason. */
export const triesOf = (explanation: Explanation, reason: string): number[] =>
  explanation.tries.flatMap((word, i) => (word === reason ? [i] : []));
