// Other motions that a step allows (`step.uniqueness: check`): which bodies end elsewhere, and how far away.
import {figures} from './format';
import type {Run} from './run';

export interface Elsewhere {body: number; metres: number; radians: number}

const kSame = 3e-6; // of positions and turns: single precision

/** Bodies whose place after the other motion is not that of the frame, the farthest first; none where no other motion is known. */
export function elsewhere(run: Run, frame: number): Elsewhere[] {
  const row = run.second?.ofFrame.get(frame), count = run.names.bodies.length;
  if (row === undefined) return [];
  const found: Elsewhere[] = [];
  for (let body = 0; body < count; ++body) {
    const i = 7 * (frame * count + body), j = 7 * (row * count + body), X = run.X_WB, Y = run.second!.X_WB;
    const metres = Math.hypot(X[i + 4] - Y[j + 4], X[i + 5] - Y[j + 5], X[i + 6] - Y[j + 6]);
    const sign = X[i] * Y[j] + X[i + 1] * Y[j + 1] + X[i + 2] * Y[j + 2] + X[i + 3] * Y[j + 3] < 0 ? -1 : 1;
    const chord = Math.hypot(...[0, 1, 2, 3].map((k) => X[i + k] - sign * Y[j + k])); // 2 sin(θ/4)
    const radians = 4 * Math.asin(Math.min(1, chord / 2)), size = Math.max(1, Math.hypot(X[i + 4], X[i + 5], X[i + 6]));
    if (metres > kSame * size || radians > kSame) found.push({body, metres, radians});
  }
  return found.sort((a, b) => b.metres + b.radians - a.metres - a.radians);
}

/** “square by 100 mm and 3.2°”, for each body that ends elsewhere. */
export const elsewhereText = (run: Run, frame: number): string => elsewhere(run, frame).map(({body, metres, radians}) => {
  const parts = [metres > kSame ? `${figures(1e3 * metres)} mm` : '', radians > kSame ? `${figures((radians * 180) / Math.PI)}°` : ''].filter(Boolean);
  return `${run.names.bodies[body]} by ${parts.join(' and ')}`;
}).join(', ');
