// The page of a fleet, which `ridgeline-query` fills with numbers: here with made-up ones.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { HOSTILE } from "../../mock/capture.mjs";
import { accessible, fits } from "./checks.mjs";

const TEMPLATE = new URL("../../../query/src/fleet/page.html", import.meta.url);
const [HOSTS, STEPS, SLOW] = [12, 40, 7];

/** Times of 12 hosts and 40 steps; the eighth host is a third slower. */
function data() {
  const wall_ns = (host) => Array.from({ length: STEPS }, (_, step) => (host === 3 && step > 30 ? null : 1e7 * (1 + ((host * 7 + step * 3) % 5) / 100) * (host === SLOW ? 1.33 : 1)));
  const rows = Array.from({ length: HOSTS }, (_, host) => ({ host: host === 0 ? HOSTILE : `host${host}`, rank: host, wall_ns: wall_ns(host) }));
  return {
    captures: HOSTS, each: 1, jobs: [{ name: HOSTILE, ranks: true, steps: Array.from({ length: STEPS }, (_, step) => step), rows }],
    hosts: { columns: ["job", "host", "rank", "step_ns", "slower_pct", "unlike"], rows: [["train", "host7", 7, 13_300_000, 33.1, "slower steps"], ["train", "host1", 1, 10_000_000, 0.1, null]] },
    findings: { columns: ["job", "rule", "captures", "example"], rows: [["train", "host-sync", 12, HOSTILE]] },
  };
}

export const TESTS = [
  ["fleet: the heat map of steps shows a slow host, by mouse and keyboard, light and dark, wide and narrow", async ({ browser }) => {
    const file = join(mkdtempSync(join(tmpdir(), "ridgeline-fleet-")), "fleet.html");
    writeFileSync(file, readFileSync(TEMPLATE, "utf8").replace("DATA", () => JSON.stringify(data()).replaceAll("<", "\\u003c")));
    for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 390]]) {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
      const page = await context.newPage();
      const wrong = [];
      page.on("pageerror", (error) => wrong.push(error.message));
      await page.goto(pathToFileURL(file).href);
      assert.equal(await page.locator("img").count(), 0, "an image came out of a name");
      const map = page.locator("canvas");
      // The slow host's row has more of red than of blue; what was not recorded has neither.
      const [slow, usual] = await map.evaluate((canvas, slow) => [slow, 1].map((row) => canvas.getContext("2d").getImageData(5, row, 1, 1).data), SLOW);
      assert.ok(slow[0] - slow[2] > 60 && Math.abs(usual[0] - usual[2]) < 30, `${slow} and ${usual}`);
      const box = await map.boundingBox();
      await map.hover({ position: { x: 3, y: (box.height * (SLOW + 0.5)) / HOSTS } });
      assert.match(await page.locator(".told").innerText(), /^host7:7, step 0: 13\.\d ms, \+\d+\.\d% of the median/);
      await map.focus();
      await page.keyboard.press("ArrowRight");
      assert.match(await page.locator(".told").innerText(), /^host7:7, step 1:/);
      await page.getByRole("button", { name: "slowest first" }).click();
      assert.match(await page.locator(".names span").first().innerText(), /^host7:7/);
      assert.match(await page.locator("#hosts").innerText(), /slower %[\s\S]*13\.3 ms/);
      await accessible(page, `fleet, ${colorScheme}, ${width}`);
      await fits(page, `fleet, ${colorScheme}, ${width}`);
      assert.deepEqual(wrong, []);
      await context.close();
    }
  }],
];
