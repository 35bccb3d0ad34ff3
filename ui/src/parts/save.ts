// Hands a file to the reader; nothing leaves the machine.

import { say } from "../context";

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

/** How wide a drawing is in its own units: less in a narrow window, so that its text stays as large as the page's. */
export const drawingWidth = (wide: number) => Math.max(360, Math.min(wide, window.innerWidth - 30));

/** A drawing as a file of its own, with the colors that it has now. */
export function saveSvg(drawing: SVGSVGElement, name: string): void {
  const own = drawing.cloneNode(true) as SVGSVGElement;
  own.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const theirs = drawing.querySelectorAll("*");
  own.querySelectorAll<SVGElement>("*").forEach((part, at) => {
    const look = getComputedStyle(theirs[at] as Element);
    for (const rule of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "font-size", "font-family", "text-anchor"]) {
      part.style.setProperty(rule, look.getPropertyValue(rule));
    }
  });
  save(name, new XMLSerializer().serializeToString(own), "image/svg+xml");
}
