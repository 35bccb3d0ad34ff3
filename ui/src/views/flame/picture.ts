// The icicle as a drawing to save: the page shows it as buttons, which a picture cannot have.

import { visible } from "../../format";
import type { Box } from "./boxes";

const [WIDTH, ROW, LETTER] = [1200, 21, 6.6];
const SVG = "http://www.w3.org/2000/svg";

export function pictureOf(boxes: readonly Box[], painted: (name: string) => { background: string; color: string }): SVGSVGElement {
  const make = <K extends keyof SVGElementTagNameMap>(tag: K, of: Record<string, string | number>) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(of)) made.setAttribute(name, String(value));
    return made;
  };
  const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  const drawing = make("svg", { viewBox: `0 0 ${WIDTH} ${(deepest + 1) * ROW}`, width: WIDTH, height: (deepest + 1) * ROW });
  for (const box of boxes) {
    const { background, color } = painted(box.node.name);
    const [x, y, width] = [box.left * WIDTH, box.depth * ROW, Math.max(0.5, box.width * WIDTH - 1)];
    drawing.append(make("rect", { x, y, width, height: ROW - 1, fill: background }));
    const letters = Math.floor((width - 6) / LETTER);
    if (letters < 3) continue;
    const text = make("text", { x: x + 3, y: y + 14 });
    // Text is quiet in every drawing of the page, and here on a color of its own.
    text.style.fill = color;
    const name = visible(box.node.name);
    text.textContent = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
    drawing.append(text);
  }
  return drawing;
}
