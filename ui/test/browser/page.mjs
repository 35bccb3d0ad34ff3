// Every view on the made-up capture, and what one does with the mouse.

import assert from "node:assert/strict";
import { HOSTILE } from "../../mock/capture.mjs";
import { open, settled, visit } from "./browser.mjs";
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
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/tables");
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
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/tables");
    await page.getByRole("button", { name: /Show copy.12.1 in the timeline/ }).click();
    await page.getByText("40 events").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["tables: what a column means is said when it is pointed at", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/tables");
    await page.getByRole("button", { name: "Self" }).hover();
    assert.equal(await page.getByRole("tooltip").innerText(), "self time (measured)");
    await close();
  }],
  ["timeline: a click shows an event, a drag a range, empty space a gap", async ({ browser, address }) => {
    const { page, wrong, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline?from=1000000&to=1400000");
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
    const { page, close } = await open(browser, address);
    await settled(page);
    await visit(page, "#/timeline");
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
  ["timeline: WebGL2 and the plain canvas draw the same", async ({ browser, address }) => {
    const pictures = [];
    for (const painter of ["webgl2", "canvas2d"]) {
      const { page, close } = await open(browser, address);
      await settled(page);
      await visit(page, `#/timeline?from=2000000&to=9000000&painter=${painter}`);
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
    const { page, wrong, close } = await open(browser, large.address);
    await settled(page);
    await visit(page, "#/timeline");
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
