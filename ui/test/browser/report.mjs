// A report: the page with its answers inside, from disk, with the network off.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { answers } from "../../mock/capture.mjs";
import { open, settled, shown, visit } from "./browser.mjs";
import { accessible, harmless, shows, VIEWS } from "./checks.mjs";

// `whatif` shows the answer `replay`.
const HELD = ["capture", "findings", "timeline", "table/stats/op", "table/memory/module", "chart/roofline", "chart/memory", "chart/idle", "steps", "beside", "beside?against=1", "replay?finding=0", "compare", "offload", "scaling", "table/idle/host", "table/transfers/direction", "table/transfers/size", "flame/scope", "sources", "source?file=%2Fhome%2Fsomebody%2Fsolver.py", "hlo/modules", "chart/schedule?module=jit_step", "hlo/graph?depth=2&module=jit_step", "hlo/graph?depth=2&module=jit_step&op=fusion.9", "hlo/inside?module=jit_step&op=fusion.9", "hlo/text?module=jit_step&stage=after", "counter/memory-0", "event/0", "idle?device=0", "idle?device=1", ...[0, 1, 2, 3, 4, 5].flatMap((track) => [`tile/${track}/17/0`])];

/** The page with answers of the made-up capture, as `ridgeline report` writes it. */
export function written() {
  const answer = answers();
  const bodies = HELD.map((key) => {
    const [path, query = ""] = key.split("?");
    const found = answer(path, new URLSearchParams(query));
    return [key, Buffer.isBuffer(found) ? found : Buffer.from(JSON.stringify(found))];
  });
  let at = 0;
  const places = bodies.map(([key, body]) => [key, [(at += body.length) - body.length, body.length, ""]]);
  const index = Buffer.from(JSON.stringify({ v: 1, left_out: ["Tiles finer than 131 µs are left out."], answers: Object.fromEntries(places) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const data = gzipSync(Buffer.concat([length, index, ...bodies.map(([, body]) => body)])).toString("base64");
  const page = readFileSync(new URL("../../../crates/ridge_web/page/index.html", import.meta.url), "utf8");
  const file = join(mkdtempSync(join(tmpdir(), "ridgeline-report-")), "report.html");
  const foot = page.lastIndexOf("</body>");
  writeFileSync(file, `${page.slice(0, foot)}<script type="application/octet-stream" id="ridgeline-data">${data}</script>${page.slice(foot)}`);
  return pathToFileURL(file).href;
}

export const TESTS = ({ name }) => (name !== "chromium" ? [] : [
  ["report: every view from disk with the network off", async ({ browser }) => {
    const { page, wrong, close } = await open(browser, written(), { offline: true });
    await settled(page);
    for (const view of VIEWS) {
      await visit(page, `#/${view}`);
      await shows(page, view);
      await harmless(page, view);
    }
    await accessible(page, "report");
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["report: coarse tiles stand in for those that were left out, and what is not there is said", async ({ browser }) => {
    const { page, wrong, close } = await shown(browser, written(), "#/timeline?from=1000000&to=9000000", { offline: true });
    await page.waitForTimeout(300);
    assert.ok((await page.locator(".tl-name").count()) > 5);
    await visit(page, "#/flame?by=python");
    assert.match(await page.locator("main").innerText(), /Not in this report/);
    assert.match(await page.locator("main").innerText(), /131 µs/);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["report: a fusion opens in place, the text that is there can be read, and no other is offered", async ({ browser }) => {
    const { page, wrong, close } = await shown(browser, written(), "#/graph?module=jit_step&op=fusion.9", { offline: true });
    await page.getByRole("button", { name: "Expand" }).click();
    await page.locator(".node text", { hasText: "inner.1" }).waitFor();
    const texts = page.getByLabel("Text above the graph");
    assert.deepEqual(await texts.locator("option").allInnerTexts(), ["none", "as it ran"]);
    await texts.selectOption("after");
    assert.match(await page.locator(".module-text .wanted").innerText(), /%fusion\.9 = /);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["report: the first page says what it leaves out", async ({ browser }) => {
    const { page, close } = await shown(browser, written(), "#/overview", { offline: true });
    await page.getByText("Not in this report").click();
    await page.getByText("Tiles finer than 131 µs are left out.").waitFor();
    await close();
  }],
  ["report: tables are sorted and filtered in the page", async ({ browser }) => {
    const { page, close } = await shown(browser, written(), "#/tables?topic=stats&view=op&filter=all-reduce", { offline: true });
    assert.match(await page.locator("tr[data-row='0'] td").first().innerText(), /^all-reduce/);
    await page.getByRole("button", { name: "Events" }).click();
    await page.locator("th[aria-sort='descending']").waitFor();
    await close();
  }],
]);
