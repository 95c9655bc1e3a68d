// How stretches of steps of one kind are drawn in the strip: a fill and a mark each, so that colour is not needed.
import {cssColour} from './dom';
import type {Kind} from './kind';

const kMark = 5; // [px] half-width of a mark
const kRadius = kMark - 1; // [px] of most outlines
const kApart = 15; // [px] between marks of one kind

/** Fills [x, x + width] and puts the kind's mark in the middle; `before` is where the last mark of that kind is.
 *  Returns where this one is. */
export function drawStretch(
  pen: CanvasRenderingContext2D,
  kind: Kind,
  x: number,
  top: number,
  width: number,
  height: number,
  before: number | undefined,
): number | undefined {
  if (kind.fill === 'none') return before;
  const colour = cssColour(kind.colour),
    wide = Math.max(2, width),
    middle = x + width / 2;
  pen.save();
  pen.beginPath();
  pen.rect(width < 2 ? middle - 1 : x, top, wide, height);
  pen.clip();
  pen.globalAlpha = kind.fill === 'solid' ? 0.55 : 0.22;
  pen.fillStyle = pen.strokeStyle = colour;
  pen.fillRect(middle - wide, top, 2 * wide, height);
  pen.globalAlpha = 0.8;
  pen.lineWidth = 1;
  pen.beginPath();
  const first = Math.floor((x - height) / 5) * 5; // fills of neighbours line up
  for (let s = first; s < x + wide + height; s += 5) {
    if (kind.fill === 'stripes' || kind.fill === 'grid') {
      pen.moveTo(s, top + height);
      pen.lineTo(s + height, top);
    }
    if (kind.fill === 'grid') {
      pen.moveTo(s, top);
      pen.lineTo(s + height, top + height);
    }
    if (kind.fill === 'dots') for (let y = 3; y < height; y += 5) pen.fillRect(s, top + y, 1.5, 1.5);
  }
  pen.stroke();
  pen.restore();
  if (before !== undefined && middle - before < kApart) return before;
  drawMark(pen, kind, middle, top + height / 2);
  return middle;
}

/** The outlines of the marks about a point; those that are filled are filled here. */
const kOutlines: Record<Kind['mark'], (pen: CanvasRenderingContext2D, x: number, y: number) => void> = {
  '': () => {},
  bars: (pen, x, y) => {
    for (const s of [-1, 1]) {
      pen.moveTo(x + 2.2 * s, y - kRadius);
      pen.lineTo(x + 2.2 * s, y + kRadius);
    }
  },
  ban: (pen, x, y) => {
    pen.arc(x, y, kMark, 0, 2 * Math.PI);
    pen.moveTo(x - 0.7 * kMark, y + 0.7 * kMark);
    pen.lineTo(x + 0.7 * kMark, y - 0.7 * kMark);
  },
  ray: (pen, x, y) => {
    pen.moveTo(x - kRadius, y + kRadius);
    pen.lineTo(x + kRadius, y - kRadius);
    pen.moveTo(x, y - kRadius);
    pen.lineTo(x + kRadius, y - kRadius);
    pen.lineTo(x + kRadius, y);
  },
  cross: (pen, x, y) => {
    for (const s of [-1, 1]) {
      pen.moveTo(x - kRadius, y - kRadius * s);
      pen.lineTo(x + kRadius, y + kRadius * s);
    }
  },
  diamonds: (pen, x, y) => {
    for (const s of [-2.2, 2.2]) {
      pen.moveTo(x + s, y - kRadius);
      pen.lineTo(x + s + 3.4, y);
      pen.lineTo(x + s, y + kRadius);
      pen.lineTo(x + s - 3.4, y);
      pen.closePath();
    }
  },
  dot: (pen, x, y) => {
    pen.arc(x, y, kRadius - 0.5, 0, 2 * Math.PI);
    pen.fill();
  },
  dash: (pen, x, y) => {
    pen.rect(x - kRadius, y - 1, 2 * kRadius, 2);
    pen.fill();
  },
  hexagon: (pen, x, y) => {
    for (let k = 0; k < 6; ++k)
      pen.lineTo(x + kRadius * Math.cos((k * Math.PI) / 3), y + kRadius * Math.sin((k * Math.PI) / 3));
    pen.closePath();
    pen.fill();
  },
  // Three quarters of a circle with a head.
  turn: (pen, x, y) => {
    pen.arc(x, y, kRadius - 0.5, -0.5 * Math.PI, Math.PI);
    pen.moveTo(x - kRadius - 2, y + 2);
    pen.lineTo(x - kRadius + 0.5, y - 1.5);
    pen.lineTo(x - kRadius + 3, y + 2);
  },
  question: (pen, x, y) => {
    pen.font = 'bold 12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.fillText('?', x, y + 0.5);
  },
};

/** The mark of a kind about a point, on a plate in the page's colour. */
export function drawMark(pen: CanvasRenderingContext2D, kind: Kind, x: number, y: number): void {
  pen.save();
  pen.fillStyle = cssColour('--panel');
  pen.beginPath();
  pen.arc(x, y, kMark + 2, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = pen.fillStyle = cssColour(kind.colour);
  pen.lineWidth = 1.8;
  pen.beginPath();
  kOutlines[kind.mark](pen, x, y);
  pen.stroke();
  pen.restore();
}
