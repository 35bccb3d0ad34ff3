// Pictures of the page with at most 256 colors: a third of the bytes, and no letter looks different.

import { crc32, deflateSync } from "node:zlib";

const COLORS = 256;

/** A PNG as one with a palette: its most frequent colors, and for each of the others the nearest of them. */
export async function smaller(page, png) {
  const { width, height, base64 } = await page.evaluate(pixelsOf, png.toString("base64"));
  const pixels = new Uint32Array(Uint8Array.from(Buffer.from(base64, "base64")).buffer);
  const uses = new Map();
  for (const pixel of pixels) uses.set(pixel, (uses.get(pixel) ?? 0) + 1);
  const palette = [...uses].sort((one, other) => other[1] - one[1]).slice(0, COLORS).map(([color]) => color);
  const places = new Map([...uses.keys()].map((color) => [color, nearest(palette, color)]));
  // Each line begins with its filter, which is none.
  const lines = Buffer.alloc((width + 1) * height);
  for (let at = 0; at < pixels.length; at += 1) lines[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = places.get(pixels[at]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colors = Buffer.from(palette.flatMap(channels));
  return Buffer.concat([png.subarray(0, 8), chunk("IHDR", head), chunk("PLTE", colors), chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

const channels = (color) => [color & 255, (color >> 8) & 255, (color >> 16) & 255];

function nearest(palette, color) {
  const own = channels(color);
  const far = (other) => channels(other).reduce((sum, part, at) => sum + (part - own[at]) ** 2, 0);
  let best = palette.indexOf(color);
  if (best < 0) best = palette.reduce((found, other, at) => (far(other) < far(palette[found]) ? at : found), 0);
  return best;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Runs in the page. */
async function pixelsOf(text) {
  const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], { type: "image/png" }));
  const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  context.drawImage(picture, 0, 0);
  const bytes = context.getImageData(0, 0, picture.width, picture.height).data;
  let all = "";
  for (let at = 0; at < bytes.length; at += 32768) all += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return { width: picture.width, height: picture.height, base64: btoa(all) };
}
