// What the timeline shows as a picture to save, with the names of rows at its left.

import { SvgContext, SvgPainter } from "../../draw/svg";
import { drawRowNames } from "./labels";
import { RULER } from "./sheet";
import type { Stage } from "./stage";

/** Width of the names. */
const NAMES = 200;

/** What is below the last row is left out. */
const heightOf = (stage: Stage) => Math.min(stage.size.height, RULER + stage.order.height - stage.scroll);

export function asCanvas(stage: Stage): HTMLCanvasElement {
  const { width, ratio } = stage.size;
  const height = heightOf(stage);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((width + NAMES) * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  context.scale(ratio, ratio);
  context.fillStyle = stage.inks.ground;
  context.fillRect(0, 0, width + NAMES, height);
  for (const layer of stage.layers()) context.drawImage(layer, 0, 0, layer.width, height * ratio, NAMES, 0, width, height);
  drawRowNames(stage, context, NAMES);
  return canvas;
}

/** The same as SVG: drawn once more by the same rules, into text. */
export function asSvg(stage: Stage): string {
  const { width } = stage.size;
  const height = heightOf(stage);
  const [beside, ground, below, above] = [new SvgContext(), new SvgContext(), new SvgContext(), new SvgContext()];
  stage.drawBy(new SvgPainter(below), above.asContext(), ground.asContext());
  drawRowNames(stage, beside.asContext(), NAMES);
  const layers = [ground, below, above].map((layer) => layer.group(NAMES)).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + NAMES}" height="${height}" viewBox="0 0 ${width + NAMES} ${height}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${stage.inks.ground}"/>${layers}${beside.group(0)}</svg>`;
}
