// Alternative solutions of a step (`step.uniqueness: check`): which bodies end elsewhere, and how far away.
import {figures} from './format';
import type {Run} from './run';

export interface Elsewhere {
  body: number;
  metres: number;
  radians: number;
}

const kSame = 1e-9; // [m, rad] rounding of what moves alike

/** Bodies whose place in the alternative solution is not that of the frame, objects first, then the farthest; none
 *  where no alternative is known. */
export function elsewhere(run: Run, frame: number): Elsewhere[] {
  const row = run.alternatives?.ofFrame.get(frame),
    count = run.names.bodies.length;
  if (row === undefined) return [];
  const found: Elsewhere[] = [];
  for (let body = 0; body < count; ++body) {
    const [metres, radians] = [0, 1].map((i) => run.alternatives!.distance[2 * (row * count + body) + i]);
    if (metres > kSame || radians > kSame) found.push({body, metres, radians});
  }
  const isObject = ({body}: Elsewhere) => Number(run.scene.bodies[body]?.role === 'object');
  return found.sort((a, b) => isObject(b) - isObject(a) || b.metres + b.radians - a.metres - a.radians);
}

/** “square by 100 mm and 3.2°”, for each body that ends elsewhere, or the first `most` of them. */
export function elsewhereText(run: Run, frame: number, most = Infinity): string {
  const all = elsewhere(run, frame),
    shown = all.slice(0, most).map(({body, metres, radians}) => {
      const parts = [
        metres > kSame ? `${figures(1e3 * metres)} mm` : '',
        radians > kSame ? `${figures((radians * 180) / Math.PI)}°` : '',
      ].filter(Boolean);
      return `${run.names.bodies[body]} by ${parts.join(' and ')}`;
    });
  return [...shown, ...(all.length > shown.length ? [`${all.length - shown.length} more`] : [])].join(', ');
}
