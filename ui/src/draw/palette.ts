// Colors of what is drawn, by the number that the server gives a category. Every fill carries dark text legibly (a test holds it).

export const NO_CATEGORY = 15;

const LIGHT = [
  "#7fb2e8", "#6cc5b8", "#a5cf7a", "#f2b56b", "#e89a96", "#b9a4e6", "#e6a5cf", "#d6c45c",
  "#9fd3ea", "#c9ad8e", "#9cc2a8", "#e0a67f", "#a9b4ea", "#c7cf8f", "#cba8bc", "#b9bfc6",
] as const;

const DARK = [
  "#6ea3dc", "#58b3a6", "#92bf66", "#e3a355", "#de8a86", "#a98fe0", "#d98fc0", "#c7b44a",
  "#84c0da", "#b99a78", "#86b094", "#d0926a", "#959fe0", "#b3bc79", "#b993a9", "#8f979f",
] as const;

export const LABEL_INK = "#10141a";

export const fills = (dark: boolean): readonly string[] => (dark ? DARK : LIGHT);

/** The fill of a category's color number; what has none is gray. */
export function fill(index: number, dark: boolean): string {
  return fills(dark)[index >= 0 && index < NO_CATEGORY ? index : NO_CATEGORY] as string;
}

/** Red, green and blue from 0 to 1, of `#rrggbb` or `#rgb`, which is what a style sheet becomes when it is made small. */
export function rgb(color: string): [number, number, number] {
  const hex = color.length === 4 ? `#${[...color.slice(1)].map((digit) => digit + digit).join("")}` : color;
  const at = (from: number) => Number.parseInt(hex.slice(from, from + 2), 16) / 255;
  return [at(1), at(3), at(5)];
}

/** Contrast of two colors as WCAG 2 defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = rgb(hex).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
