// Colors of what is drawn, by the number that the server gives a category.
//
// Every two are apart for people who see no red or no green too, every fill stands out from its ground (3:1), and carries
// one of two inks legibly (4.5:1); a test holds all three, by the model of Machado, Oliveira and Fernandes (2009). The
// colors were found by search under these bounds, each near a hue of its own.

export const NO_CATEGORY = 15;

const LIGHT = [
  "#2d35a0", "#54999e", "#3a4738", "#b35703", "#e76383", "#957df2", "#97478d", "#a59009",
  "#068bbe", "#924200", "#3d7859", "#870402", "#2662c7", "#6e8b5b", "#60226f", "#595657",
] as const;

const DARK = [
  "#61a7ff", "#63dfb3", "#829202", "#f6bd3f", "#8a5964", "#585dbd", "#bc64aa", "#f8eb69",
  "#61cefe", "#92826e", "#affeba", "#ee9862", "#6981e3", "#5b6f00", "#f4dfff", "#aaa7a8",
] as const;

const INKS = ["#10141a", "#ffffff"] as const;

/** How much brighter or darker neighbors of one category are, for each step of a shade from 0 to 15; 8 is the color itself. */
export const SHADE = 0.004;

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

/** The ink that is read more easily on a fill. */
export const inkOn = (color: string): string => (contrast(INKS[0], color) >= contrast(INKS[1], color) ? INKS[0] : INKS[1]);
