import { expect, test } from "vitest";
import { contrast, fills, inkOn, rgb, SHADE } from "../src/draw/palette";

// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, table 1,
// severity 1.0; on linear RGB.
const VISIONS: Record<string, number[][]> = {
  "all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "no red cones": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  "no green cones": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};
const PAPER = { false: "#ffffff", true: "#14171a" };
/** Of OKLab, times 100; about 2 can just be told apart side by side. */
const LEAST_APART = 6.5;

const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const seen = (color: string, vision: number[][]) => vision.map((row) => Math.min(1, Math.max(0, row.reduce((sum, by, at) => sum + by * linear(rgb(color)[at] as number), 0)))) as [number, number, number];

/** Ottosson 2020. */
function lab([r, g, b]: [number, number, number]): number[] {
  const [l, m, s] = [0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b, 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b, 0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b].map(Math.cbrt) as [number, number, number];
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

const shaded = (color: string, shade: number) => `#${rgb(color).map((part) => Math.round(255 * Math.min(1, part * (1 + (shade - 8) * SHADE))).toString(16).padStart(2, "0")).join("")}`;

for (const dark of [false, true]) {
  test(`every two fills are apart for every kind of sight, ${dark ? "dark" : "light"}`, () => {
    for (const [vision, matrix] of Object.entries(VISIONS)) {
      const labs = fills(dark).map((fill) => lab(seen(fill, matrix)));
      labs.forEach((one, at) => labs.slice(0, at).forEach((other, before) => {
        const apart = 100 * Math.hypot(...one.map((part, n) => part - (other[n] as number)));
        expect(apart, `${vision}: ${fills(dark)[at]} and ${fills(dark)[before]}`).toBeGreaterThan(LEAST_APART);
      }));
    }
  });

  test(`every fill stands out from its ground and carries its ink, in every shade, ${dark ? "dark" : "light"}`, () => {
    for (const fill of fills(dark)) for (let shade = 3; shade < 14; shade += 1) {
      const color = shaded(fill, shade);
      expect(contrast(color, PAPER[`${dark}`]), `${color} on its ground`).toBeGreaterThanOrEqual(3);
      expect(contrast(color, inkOn(fill)), `ink on ${color}`).toBeGreaterThanOrEqual(4.5);
    }
  });
}
