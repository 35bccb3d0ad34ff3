// Every view on the made-up capture, and what one does with the mouse.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { HOSTILE } from "../../mock/capture.mjs";
import { open, settled, shown, visit } from "./browser.mjs";
import { accessible, fits, harmless, shows, VIEWS } from "./checks.mjs";

const looks = [
  ["light", { dark: false }],
  ["dark", { dark: true }],
  ["a window of 400 pixels", { width: 400, height: 800 }],
];

export const TESTS = [
  ...looks.map(([name, look]) => [`every view: ${name}`, async ({ browser, address }) => {
    const { page, wrong, close } = await open(browser, address, look);
    await settled(page);
    for (const view of VIEWS) {
      await visit(page, `#/${view}`);
      await shows(page, view);
      await fits(page, view);
      await harmless(page, view);
      await accessible(page, `${view}, ${name}`);
    }
    assert.deepEqual(wrong, []);
    await close();
  }]),
  ["the token leaves the address, and a page without it says what to do", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    assert.doesNotMatch(page.url(), /token/);
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await page.getByRole("alert").waitFor();
    assert.match(await page.getByRole("alert").innerText(), /ridgeline view/);
    await close();
  }],
  ["the theme turns", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    await page.getByRole("button", { name: "Dark colors" }).click();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await close();
  }],
  ["hostile names are shown as they are", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    assert.ok((await page.locator("h1").innerText()).includes(HOSTILE));
    await visit(page, "#/tables");
    await page.getByText(HOSTILE).first().waitFor();
    await harmless(page, "tables");
    await close();
  }],
  ["tables: sorted, filtered, columns chosen, far rows there", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables");
    const first = () => page.locator("tr[data-row='0'] td").first().innerText();
    assert.equal(await first(), "dot_fusion.0");
    await page.getByRole("button", { name: "Events" }).click();
    await page.locator("th[aria-sort='descending']").waitFor();
    assert.equal(await page.locator("tr[data-row='0'] td").nth(3).innerText(), "99");
    await page.getByLabel("Filter rows").fill("all-reduce");
    await page.getByText("428 rows").or(page.getByText("429 rows")).first().waitFor();
    assert.match(await first(), /^all-reduce/);
    await page.getByLabel("Filter rows").fill("");
    await page.getByText("3\u202f000 rows").waitFor();
    await page.locator(".scroller").evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await page.locator("tr[data-row='2999'] td").first().waitFor();
    await page.waitForFunction(() => document.querySelector("tr[data-row='2999'] td")?.textContent !== "…");
    assert.ok((await page.locator("tr[data-row]").count()) < 120, "rows out of sight are in the page");
    await page.getByText("Columns").click();
    await page.getByLabel("Share").uncheck();
    assert.equal(await page.locator("th").count(), 4);
    assert.match(page.url(), /tables/);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["tables: a row leads to its events in the timeline, and they are lit", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables");
    await page.getByRole("button", { name: /Show copy.12.1 in the timeline/ }).click();
    await page.getByText("40 events").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["tables: what a column means is said when it is pointed at", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/tables");
    await page.getByRole("button", { name: "Self" }).hover();
    assert.equal(await page.getByRole("tooltip").innerText(), "self time (measured)");
    await close();
  }],
  ["timeline: a click shows an event, a drag a range, empty space a gap", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=1000000&to=1400000");
    await page.waitForTimeout(200);
    const box = await page.locator(".tl-box").boundingBox();
    const y = box.y + 30 + 26 + 12;
    const seen = { event: false, gap: false };
    for (let x = 20; x < box.width - 20 && !(seen.event && seen.gap); x += 23) {
      await page.mouse.click(box.x + x, y);
      await page.waitForTimeout(60);
      const heading = await page.locator(".panel h2").first().innerText().catch(() => "");
      if (heading === "Idle") seen.gap = true;
      else if (heading !== "") seen.event = true;
    }
    assert.deepEqual(seen, { event: true, gap: true });
    await page.mouse.move(box.x + 100, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, y, { steps: 4 });
    await page.mouse.up();
    await page.getByRole("heading", { name: "Range" }).waitFor();
    await page.getByText("By category").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: wheel and buttons zoom, the address keeps the place", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/timeline");
    const box = await page.locator(".tl-box").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.keyboard.down("Control");
    for (let n = 0; n < 12; n += 1) await page.mouse.wheel(0, -120);
    await page.keyboard.up("Control");
    await page.waitForTimeout(500);
    const url = page.url();
    const [from, to] = ["from", "to"].map((name) => Number(new RegExp(`${name}=(-?\\d+)`).exec(url)?.[1]));
    assert.ok(to - from < 40_000_000, url);
    await page.goto("about:blank");
    await page.goto(url);
    await settled(page);
    assert.match(page.url(), new RegExp(`from=${from}`));
    await close();
  }],
  ["idle, transfers, scaling, offload, compare: charts are saved as pictures and as numbers", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/overview");
    for (const [view, columns] of [["idle", /^start_ns,cause,idle_ns\n/], ["transfers", /^direction,from_bytes/], ["scaling", /^operation,size,seconds\n/], ["offload", /^board,p10_ns,p50_ns,p90_ns/], ["roofline", /^operation,flop_per_byte/], ["memory", /^start_ns,most_bytes/]]) {
      await visit(page, `#/${view}`);
      assert.match(await downloaded(page, () => page.getByRole("button", { name: "CSV", exact: true }).first().click()), columns, view);
      assert.match(await downloaded(page, () => page.getByRole("button", { name: "SVG", exact: true }).first().click()), /^<svg[^]*<\/svg>$/, view);
      assert.match(await downloaded(page, () => page.getByRole("button", { name: "PNG", exact: true }).first().click()), /^.PNG/, view);
    }
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: what is shown is saved as it is drawn, and the capture for other tools", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=1000000&to=1400000");
    await page.waitForTimeout(300);
    const pick = (name) => async () => {
      await page.getByText("Save as").click();
      await page.getByRole("button", { name }).click();
    };
    const svg = await downloaded(page, pick("what is shown, as SVG"));
    assert.ok((svg.match(/<rect/g) ?? []).length > 100 && svg.includes("Stream #0") && !svg.includes(HOSTILE), svg.slice(0, 300));
    assert.equal(await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("parsererror").length, svg), 0);
    assert.match(await downloaded(page, pick("what is shown, as PNG")), /^.PNG/);
    assert.equal(await downloaded(page, pick("Chrome trace")), "a trace");
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["graph: a fusion opens in place, and the text of 10 000 lines stands beside at its line", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/graph?module=jit_step&op=fusion.9");
    assert.equal(await page.getByText("inner.0", { exact: true }).count(), 0);
    await page.getByRole("button", { name: "Open in place" }).click();
    await page.locator(".node text", { hasText: "inner.1" }).waitFor();
    await page.getByLabel("Text above the graph").selectOption("after");
    assert.match(await page.locator(".module-text .wanted").innerText(), /%fusion\.9 = /);
    assert.ok((await page.locator(".module-text pre > div").count()) < 200, "lines out of sight are in the page");
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".node text", { hasText: "inner.1" }).waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["memory: what is alive at a place in the schedule", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/memory");
    const alive = page.getByRole("region", { name: "Alive", exact: true });
    assert.match(await alive.innerText(), /fusion\.5\{1\}/);
    await page.locator("section[aria-label='Along the schedule'] .column").nth(2).hover();
    assert.doesNotMatch(await alive.innerText(), /fusion\.5\{1\}/);
    await close();
  }],
  ["timeline: the capture goes to Perfetto's page when that is asked for, and not before", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    // Its page, as its protocol has it: it answers once it listens, and keeps what it is given.
    const theirs = `<script>addEventListener("message", (e) => { if (e.data === "PING") e.source.postMessage("PONG", e.origin); else document.title = e.data.perfetto.title + ": " + e.data.perfetto.buffer.byteLength; });</script>`;
    await page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: theirs }));
    await page.getByText("Save as").click();
    await page.getByRole("button", { name: "Open in Perfetto" }).click();
    assert.match(await page.getByRole("dialog").innerText(), /a page of another host/);
    assert.equal(page.context().pages().length, 1);
    const [other] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("button", { name: "Open ui.perfetto.dev" }).click()]);
    await other.waitForFunction(() => document.title.endsWith(": 7"));
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["a file that is chosen or dropped is opened, and stays open after a reload", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables");
    const title = (text) => page.waitForFunction((wanted) => document.querySelector("h1")?.textContent?.startsWith(wanted), text);
    await page.locator("input[type=file]").setInputFiles({ name: "dropped.json", mimeType: "application/json", buffer: Buffer.from("{}") });
    await title("dropped.json");
    await page.reload();
    await title("dropped.json");
    await page.getByLabel("Capture", { exact: true }).selectOption("2026_02");
    await title("solver");
    await page.evaluate(() => {
      const brought = new DataTransfer();
      brought.items.add(new File(["{}"], "dropped.json"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: brought, bubbles: true, cancelable: true }));
    });
    await title("dropped.json");
    await page.getByLabel("Capture", { exact: true }).selectOption("2026_01");
    await title("dropped.json");
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: WebGL2 and the plain canvas draw the same", async ({ browser, address }) => {
    const pictures = [];
    for (const painter of ["webgl2", "canvas2d"]) {
      const { page, close } = await shown(browser, address, `#/timeline?from=2000000&to=9000000&painter=${painter}`);
      await page.locator(`.tl-box[data-painter='${painter}']`).waitFor();
      await page.waitForTimeout(500);
      pictures.push(await columnsOf(page));
      await close();
    }
    const [one, other] = pictures;
    const drawn = one.filter((color) => color !== "0,0,0").length;
    const same = one.filter((color, at) => near(color, other[at])).length / one.length;
    assert.ok(drawn > one.length / 3, `${drawn} of ${one.length} columns are drawn`);
    assert.ok(same > 0.95, `${(same * 100).toFixed(1)} % of the columns are alike`);
  }],
  ["timeline: drawing 200 000 rectangles", async ({ browser }) => {
    const { serve } = await import("../../mock/server.mjs");
    const large = await serve({ count: 60, per: 3600, span: 80_000_000 });
    const { page, wrong, close } = await shown(browser, large.address, "#/timeline");
    await page.waitForTimeout(1500);
    await page.evaluate(() => performance.clearMeasures());
    await page.locator(".tl-box").focus();
    for (let n = 0; n < 5; n += 1) {
      await page.keyboard.press("wsad"[n % 4]);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    const times = await page.evaluate(() => performance.getEntriesByName("timeline-draw").map((entry) => entry.duration).sort((a, b) => a - b));
    assert.ok(times.length > 1, "nothing was drawn");
    console.log(`   script of a picture: median ${times[Math.floor(times.length / 2)].toFixed(1)} ms, p95 ${times[Math.floor(times.length * 0.95)].toFixed(1)} ms, ${times.length} pictures`);
    assert.deepEqual(wrong, []);
    await close();
    large.close();
  }],
];

/** The text of the file that `act` saves. */
async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return readFileSync(await download.path(), "utf8");
}

/** The color in the middle of the first track's lane, pixel by pixel. */
async function columnsOf(page) {
  const image = (await page.locator(".tl-box").screenshot()).toString("base64");
  return page.evaluate(async (data) => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const { data: bytes } = context.getImageData(0, 30 + 26 + 18, picture.width, 1);
    return Array.from({ length: picture.width }, (_, at) => `${bytes[4 * at]},${bytes[4 * at + 1]},${bytes[4 * at + 2]}`).map((color) => (color === "255,255,255" || color === "241,243,245" ? "0,0,0" : color));
  }, image);
}

function near(one, other) {
  const [a, b] = [one, other].map((color) => color.split(",").map(Number));
  return a.every((part, at) => Math.abs(part - b[at]) <= 40);
}
