// Hands a file to the reader; nothing leaves the machine.

import { say } from "../context";
import { csvCell } from "../format";
import type { Cell } from "../source/types";

export function save(name: string, parts: BlobPart, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([parts], { type }));
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Puts text where it can be pasted from, or saves it where the browser does not allow that. */
export async function copy(text: string, name: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    save(name, text, "text/csv");
    say(`saved as ${name}`);
  }
}

/** Rows with a tab between cells, as a spreadsheet takes them, the first being the names of columns. */
export const tsvOf = (rows: readonly (readonly Cell[])[]): string => `${rows.map((row) => row.map((cell) => String(cell ?? "").replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n")}\n`;

/** Copies rows for a spreadsheet. */
export const copyRows = (rows: readonly (readonly Cell[])[], name: string) => copy(tsvOf(rows), `${name}.tsv`);

/** How wide a drawing is in its own units: less in a narrow window, so that its text stays as large as the page's. */
export const drawingWidth = (wide: number) => Math.max(360, Math.min(wide, window.innerWidth - 30));

/** A drawing as a document of its own, with the colors that it has now. */
function documentOf(drawing: SVGSVGElement): string {
  const own = drawing.cloneNode(true) as SVGSVGElement;
  own.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const theirs = drawing.querySelectorAll("*");
  own.querySelectorAll<SVGElement>("*").forEach((part, at) => {
    const look = getComputedStyle(theirs[at] as Element);
    for (const rule of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-family", "text-anchor"]) {
      part.style.setProperty(rule, look.getPropertyValue(rule));
    }
  });
  const { width, height } = sizeOf(drawing);
  own.setAttribute("width", String(width));
  own.setAttribute("height", String(height));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", String(width));
  ground.setAttribute("height", String(height));
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--paper"));
  own.prepend(ground);
  return new XMLSerializer().serializeToString(own);
}

function sizeOf(drawing: SVGSVGElement): { width: number; height: number } {
  const box = drawing.viewBox.baseVal;
  if (box !== null && box.width > 0) return { width: box.width, height: box.height };
  return { width: drawing.width.baseVal.value, height: drawing.height.baseVal.value };
}

export function saveSvg(drawing: SVGSVGElement, name: string): void {
  save(`${name}.svg`, documentOf(drawing), "image/svg+xml");
}

/** Most pixels of a picture: browsers draw no larger canvas. */
const MOST_PIXELS = 16e6;

/** A drawing as a picture, twice as large as it is shown where that is no more than a browser draws. */
export async function savePng(drawing: SVGSVGElement, name: string): Promise<void> {
  const { width, height } = sizeOf(drawing);
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / Math.max(1, width * height)));
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([documentOf(drawing)], { type: "image/svg+xml" }));
  try {
    picture.src = address;
    await picture.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    await saveCanvas(canvas, name);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** What a canvas shows as a picture. */
export async function saveCanvas(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const picture = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (picture === null) say("This browser can't export images.");
  else save(`${name}.png`, picture, "image/png");
}

/** Rows as CSV, the first being the names of columns. */
export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return `${rows.map((row) => row.map(csvCell).join(",")).join("\n")}\n`;
}
