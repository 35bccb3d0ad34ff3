// Every view as a picture beside the one that was looked at and kept: small, and with room for other fonts.
//
//     node test/browser/run.mjs --only picture             compares
//     PICTURES=keep node test/browser/run.mjs --only picture   keeps what is there now; look at it before it is committed

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VIEWS } from "./checks.mjs";
import { shown, until } from "./browser.mjs";

const FOLDER = fileURLToPath(new URL("../pictures/", import.meta.url));
/** What is kept of a picture: so small that edges of letters do not matter. */
const SIZE = [160, 100];
/** A pixel differs where one of its colors is this far off, of 255. */
const FAR = 40;
/** The part of the pixels that may. */
const MOST = 0.03;

/** Letters are drawn otherwise elsewhere: what is kept is of Chromium. */
export const TESTS = ({ name }) => (name !== "chromium" ? [] : [["light", false], ["dark", true]].map(([look, dark]) => [`pictures of every view: ${look}`, async ({ browser, address }) => {
  const { page, close } = await shown(browser, address, "#/overview", { dark });
  const wrong = [];
  for (const view of VIEWS) {
    await page.evaluate((to) => { location.hash = to; }, `#/${view}`);
    await until(page, () => document.querySelector('main [aria-busy="true"]') === null);
    await page.mouse.move(0, 0);
    await page.waitForTimeout(view === "timeline" ? 900 : 250);
    const now = await smaller(page, await page.screenshot());
    const file = `${FOLDER}${view}-${look}.png`;
    if (process.env.PICTURES === "keep" || !existsSync(file)) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, now);
      if (process.env.PICTURES !== "keep") wrong.push(`${view}: there was no picture; it is kept now, look at it`);
      continue;
    }
    const part = await differing(page, readFileSync(file), now);
    if (part <= MOST) continue;
    mkdirSync(`${FOLDER}now`, { recursive: true });
    writeFileSync(`${FOLDER}now/${view}-${look}.png`, now);
    wrong.push(`${view}: ${(part * 100).toFixed(1)}% of its picture is otherwise, see test/pictures/now`);
  }
  await close();
  assert.deepEqual(wrong, []);
}]));

/** A picture made small, as PNG. */
async function smaller(page, png) {
  const data = await page.evaluate(async ([text, [width, height]]) => {
    const picture = await createImageBitmap(await (await fetchOf(text)).blob(), { resizeWidth: width, resizeHeight: height, resizeQuality: "high" });
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d").drawImage(picture, 0, 0);
    return canvas.toDataURL("image/png").split(",")[1];
    function fetchOf(base64) { return new Response(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))); }
  }, [png.toString("base64"), SIZE]);
  return Buffer.from(data, "base64");
}

/** The part of the pixels in which two pictures differ. */
function differing(page, one, other) {
  return page.evaluate(async ([texts, far]) => {
    const pixels = async (text) => {
      const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], { type: "image/png" }));
      const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
      context.drawImage(picture, 0, 0);
      return context.getImageData(0, 0, picture.width, picture.height).data;
    };
    const [a, b] = await Promise.all(texts.map(pixels));
    if (a.length !== b.length) return 1;
    let wrong = 0;
    for (let at = 0; at < a.length; at += 4) if ([0, 1, 2].some((part) => Math.abs(a[at + part] - b[at + part]) > far)) wrong += 1;
    return wrong / (a.length / 4);
  }, [[one.toString("base64"), other.toString("base64")], FAR]);
}
