// How long pictures of the timeline take: `node test/browser/measure.mjs [ADDRESS]`, else on 200 000 made-up rectangles.
//
// For each painter: script of a picture, as the page measures it, and the time from one picture to the next while panning and zooming.

import { serve } from "../../mock/server.mjs";
import { launch, open, settled, visit } from "./browser.mjs";

const address = process.argv[2] ?? (await serve({ count: 60, per: 3600, span: 80_000_000 })).address;
const browser = await launch();
for (const painter of (process.env.PAINTERS ?? "webgl2 canvas2d").split(" ")) {
  const { page, close } = await open(browser, address);
  await settled(page);
  await visit(page, `#/timeline?painter=${painter}`);
  await page.waitForTimeout(3000);
  await page.locator(".tl-box").focus();
  const frames = await page.evaluate(async () => {
    performance.clearMeasures();
    const box = document.querySelector(".tl-box");
    const apart = [];
    let last = performance.now();
    for (let n = 0; n < 60; n += 1) {
      box.dispatchEvent(new KeyboardEvent("keydown", { key: "wdsa"[n % 4], bubbles: true }));
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      apart.push(now - last);
      last = now;
    }
    return { apart, script: performance.getEntriesByName("timeline-draw").map((entry) => entry.duration) };
  });
  const at = (times, part) => [...times].sort((a, b) => a - b)[Math.floor(times.length * part)].toFixed(1);
  console.log(`${painter}: script median ${at(frames.script, 0.5)} ms, p95 ${at(frames.script, 0.95)} ms; frame median ${at(frames.apart, 0.5)} ms, p95 ${at(frames.apart, 0.95)} ms (${frames.script.length} pictures)`);
  await close();
}
await browser.close();
process.exit(0);
