import {Color} from 'three';

/** Colours that carry a meaning; the same in both themes, chosen to differ for colour-blind readers as well. */
export const kForce = new Color('#c2187f');
export const kNormal = new Color('#1f6fd6');
export const kTangential = new Color('#e8890c');
export const kGap = new Color('#12868f');
export const kReach = new Color('#7a4bd0'); // what the next command reaches
export const kTwist = new Color('#7a4bd0'); // how an object slides on its support
export const kPlan = new Color('#7a4bd0'); // what a controller expects
export const kPenetration = new Color('#d6252b');

/** A colour as style sheets write it. */
export const hex = (colour: Color): string => `#${colour.getHexString()}`;

/** The axes of frames and coordinates: name and colour. */
export const kAxes = [
  ['x', '#d0453e'],
  ['y', '#3f9b48'],
  ['z', '#3f7fe0'],
] as const;

/** Contact states by index: word, glyph, colour. Shape and word distinguish them without the colour. */
export const kStates = [
  {word: 'open', glyph: '○', colour: '#7b8490'},
  {word: 'stick', glyph: '■', colour: '#0f9d74'},
  {word: 'slide', glyph: '▲', colour: '#e0561b'},
];

const kUtilisation: [number, Color][] = [
  [0, new Color('#1b9e8a')],
  [0.6, new Color('#e3b437')],
  [1, new Color('#d6402b')],
];

/** Colour of ‖f_t‖ / (μ f_n) between 0 (the axis of the cone) and 1 (its surface). */
export function utilisationColour(value: number, out = new Color()): Color {
  const x = Math.min(1, Math.max(0, value));
  const [[x0, c0], [x1, c1]] =
    x < kUtilisation[1][0] ? [kUtilisation[0], kUtilisation[1]] : [kUtilisation[1], kUtilisation[2]];
  return out.lerpColors(c0, c1, (x - x0) / (x1 - x0));
}

export const utilisationGradient = (): string =>
  `linear-gradient(90deg, ${kUtilisation.map(([x, c]) => `${hex(c)} ${100 * x}%`).join(', ')})`;

/** Cost or time of a tree's nodes, small to large; the ends differ in lightness too, and from the page in both
 *  themes. */
const kTree: [number, Color][] = [
  [0, new Color('#3d63c9')],
  [0.5, new Color('#1f9e8c')],
  [1, new Color('#d99a1c')],
];

export function treeColour(value: number, out = new Color()): Color {
  const x = Math.min(1, Math.max(0, value));
  const [[x0, c0], [x1, c1]] = x < 0.5 ? [kTree[0], kTree[1]] : [kTree[1], kTree[2]];
  return out.lerpColors(c0, c1, (x - x0) / (x1 - x0));
}

export const treeGradient = (): string =>
  `linear-gradient(90deg, ${kTree.map(([x, c]) => `${hex(c)} ${100 * x}%`).join(', ')})`;
