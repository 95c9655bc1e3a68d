// Numbers for people: three figures, units spelled, a true minus sign.

const minus = (text: string): string => text.replace('-', '−');

/** Three significant figures; powers of ten only far from 1. */
export function figures(x: number, digits = 3): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'not a number' : x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const size = Math.abs(x);
  return minus(size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 2) : String(Number(x.toPrecision(digits))));
}

/** A recorded number that may be missing (NaN). */
export const orDash = (x: number, text: (x: number) => string): string => (Number.isNaN(x) ? '–' : text(x));

/** A gap in millimetres: hundredths, finer below 0.1 mm. */
export function millimetres(metres: number): string {
  const mm = metres * 1e3;
  if (Math.abs(mm) < 1e-4) return '0 mm';
  return minus(`${mm.toFixed(Math.abs(mm) < 0.1 ? 4 : Math.abs(mm) < 10 ? 2 : 1)} mm`);
}

export const newtons = (f: number): string => `${figures(Math.abs(f) < 1e-9 ? 0 : f)} N`;
export const seconds = (t: number): string => `${t.toFixed(t < 100 ? 3 : 2)} s`;
