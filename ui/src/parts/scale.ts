// Logarithmic axes: what they span, which ticks they have, where a value is.

/** The span that holds `values` with a little air, `least` decades or more. */
export function span(values: number[], least = 2): [number, number] {
  const good = values.filter((value) => value > 0 && Number.isFinite(value));
  if (good.length === 0) return [1, 100];
  const low = Math.log10(Math.min(...good)) - 0.3;
  const high = Math.log10(Math.max(...good)) + 0.3;
  const air = Math.max(0, least - (high - low)) / 2;
  return [10 ** (low - air), 10 ** (high + air)];
}

/** Powers of ten within a span, at most about ten of them. */
export function decades([from, to]: [number, number]): number[] {
  const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
  const step = Math.max(1, Math.ceil((last - first) / 10));
  const powers: number[] = [];
  for (let power = first; power <= last; power += step) powers.push(10 ** power);
  return powers;
}

/** Where a value is within a span, from 0 to 1. */
export const part = (value: number, [from, to]: [number, number]) => Math.log10(value / from) / Math.log10(to / from);
