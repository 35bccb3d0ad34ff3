// What holds for every view: nothing went wrong, it is usable by assistive technology, and no name became markup.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

export const VIEWS = ["overview", "timeline", "tables", "query", "findings", "whatif", "steps", "compare", "roofline", "flame", "memory", "idle", "transfers", "source", "graph", "offload", "scaling"];

/** Why files that are saved are looked at in Chromium alone. */
export const SAVES = "Firefox's driver does not tell of files that are saved";

/** WCAG 2.1 A and AA by axe-core; contrast too. */
export async function accessible(page, where) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const result = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`).join("; ")}`);
  });
  assert.deepEqual(found, [], where);
}

/** No element came out of a name, and none ran. */
export async function harmless(page, where) {
  assert.equal(await page.locator("#page img").count(), 0, `${where}: an image came out of a name`);
  assert.doesNotMatch(await page.title(), /^harmed$/, where);
}

/** The page is not wider than the window. */
export async function fits(page, where) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${where}: ${wide} px in a window of ${window}`);
}

export async function shows(page, where) {
  const text = (await page.locator("main").innerText()).trim();
  assert.ok(text.length > 20, `${where} shows nothing: ${JSON.stringify(text)}`);
}
