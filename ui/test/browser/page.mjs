// Every view on the made-up capture, and what one does in those that have no file of their own.

import assert from "node:assert/strict";
import { HOSTILE } from "../../mock/capture.mjs";
import { serve } from "../../mock/server.mjs";
import { downloaded, open, settled, shown, until, visit } from "./browser.mjs";
import { accessible, fits, harmless, SAVES, shows, VIEWS } from "./checks.mjs";

const looks = [
  ["light", { dark: false }],
  ["dark", { dark: true }],
  ["a window of 400 pixels", { width: 400, height: 800 }],
];

export const TESTS = [
  ["a copied address opens in another tab, and nothing but a cookie out of reach is left behind", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables?filter=all-reduce");
    const copied = page.url();
    assert.doesNotMatch(copied, /token/);
    const [cookie, ...others] = await page.context().cookies(copied.replace(/#.*/, "api/v1/capture"));
    assert.deepEqual([cookie.httpOnly, cookie.sameSite, cookie.expires, others.length], [true, "Strict", -1, 0]);
    assert.deepEqual(await page.context().cookies(new URL("/", copied).href), [], "other paths, of other ports too, are sent none");
    assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length]), ["", 0]);
    const other = await page.context().newPage();
    // Without a tab that has the token.
    await page.close();
    await other.goto(copied);
    await other.locator("tr[data-row='0'] td", { hasText: "all-reduce" }).first().waitFor();
    assert.equal(other.url(), copied);
    assert.equal(await other.evaluate(() => sessionStorage.getItem("ridgeline-token")), null);
    await other.reload();
    await other.locator("tr[data-row='0'] td", { hasText: "all-reduce" }).first().waitFor();
    // What another tab may do as well: open a capture.
    await other.locator("input[type=file]").setInputFiles({ name: "dropped.json", mimeType: "application/json", buffer: Buffer.from("{}") });
    await until(other, () => document.querySelector("h1")?.textContent?.startsWith("dropped.json"));
    await other.close();
    // Another browser is told how to get in.
    const third = await browser.newContext();
    const alone = await third.newPage();
    await alone.goto(copied);
    await alone.getByRole("alert").waitFor();
    assert.match(await alone.getByRole("alert").innerText(), /with its token/);
    await third.close();
    assert.deepEqual(wrong, []);
    await close();
  }],
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
  ["who goes elsewhere right after a view changed its address arrives there", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    // The browser's word of a new address may be late: then what the view was about to write must not take its place.
    await page.addInitScript(() => window.addEventListener("hashchange", (event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      setTimeout(() => window.dispatchEvent(new HashChangeEvent("hashchange")), 600);
    }));
    await page.reload();
    await settled(page);
    await page.evaluate(() => {
      document.querySelector("[aria-label='Zoom in']").click();
      location.hash = "#/overview";
    });
    await page.locator(".cause").first().waitFor({ timeout: 10_000 });
    assert.match(page.url(), /#\/overview$/);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["the token leaves the address, and a page without it says what to do", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    assert.doesNotMatch(await page.evaluate(() => location.href), /token/);
    await page.evaluate(() => sessionStorage.clear());
    await page.context().clearCookies();
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
  ["idle, transfers, scaling, offload, compare: charts are saved as pictures and as numbers", async ({ browser, address, name }) => {
    if (name !== "chromium") return SAVES;
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
  ["graph: a fusion opens in place, and the text of 10 000 lines stands beside at its line", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/graph?module=jit_step&op=fusion.9");
    assert.equal(await page.getByText("inner.0", { exact: true }).count(), 0);
    await page.getByRole("button", { name: "Expand" }).click();
    await page.locator(".node text", { hasText: "inner.1" }).waitFor();
    await page.getByLabel("Text above the graph").selectOption("after");
    assert.match(await page.locator(".module-text .wanted").innerText(), /%fusion\.9 = /);
    assert.ok((await page.locator(".module-text pre > div").count()) < 200, "lines out of sight are in the page");
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator(".node text", { hasText: "inner.1" }).waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["graph: of many modules those with most time are listed, and any other is found by its name", async ({ browser }) => {
    const many = await serve({ modules: 3000 });
    const { page, wrong, close } = await shown(browser, many.address, "#/graph");
    const list = page.getByLabel("Module", { exact: true });
    assert.equal(await list.locator("option").count(), 1000);
    await page.getByText("1,000 listed of 3,000, those with the most device time").waitFor();
    await page.getByLabel("Find modules").fill("jit_f2999");
    await page.keyboard.press("Enter");
    await until(page, () => document.querySelectorAll("select[aria-label='Module'] option").length === 2);
    await list.selectOption("jit_f2999");
    await page.waitForURL(/module=jit_f2999/);
    await page.reload();
    await list.waitFor();
    assert.equal(await list.inputValue(), "jit_f2999");
    await accessible(page, "graph of many modules");
    assert.deepEqual(wrong, []);
    await close();
    many.close();
  }],
  ["overview: a cause leads to its evidence in the timeline and in a table, and to its line", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/overview");
    const cause = page.locator(".cause").first();
    // What it explains stands with it, and what only informs is a click away.
    assert.match(await cause.innerText(), /Also seen as: kernels of .* are short/s);
    assert.equal(await page.locator(".cause").count(), 1);
    await cause.getByRole("link", { name: /^Timeline: dot_fusion/ }).click();
    await page.getByText("40 events").waitFor();
    await visit(page, "#/overview");
    await cause.getByRole("link", { name: "Table: dot_fusion" }).click();
    await page.locator("tr[data-row='0'] td", { hasText: "dot_fusion" }).first().waitFor();
    await visit(page, "#/overview");
    await cause.getByRole("link", { name: /solver\.py:22/ }).click();
    await page.locator("tr.wanted", { hasText: "22" }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["flame: time of itself and in all, a search, and an address that keeps both", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/flame");
    assert.match(await page.locator(".flame-said").innerText(), /all 80 ms \(100\.0% of device work\), 16 ms of it itself/);
    await page.getByRole("treeitem", { name: /^all\/a,/ }).click();
    await page.getByLabel("Search names").fill("img");
    await page.getByText(/\d+ found, /).waitFor();
    assert.ok((await page.locator(".icicle .faint").count()) > 0);
    await page.waitForURL(/at=0&find=img|find=img&at=0/);
    await page.reload();
    await page.getByText(/\d+ found, /).waitFor();
    await page.getByRole("button", { name: "Show all" }).waitFor();
    await close();
  }],
  ["roofline: a point has its headroom and XLA's count beside it, and leads to its operation", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/roofline");
    assert.equal(await page.locator(".ghost").count(), 0);
    await page.locator(".list button", { hasText: "softmax" }).focus();
    await page.locator(".ghost").waitFor();
    assert.equal(await page.locator(".headroom > line").count(), 1);
    assert.match(await page.locator("figcaption").innerText(), /× below the highest roof here.*XLA's count: /s);
    await page.locator("circle.point.chosen").click();
    await page.locator("tr[data-row='0'] td", { hasText: "softmax" }).first().waitFor();
    assert.match(page.url(), /topic=roofline/);
    await close();
  }],
  ["memory: what is alive at a place in the schedule", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/memory");
    const alive = page.getByRole("region", { name: "Alive in the program" });
    assert.match(await alive.innerText(), /fusion\.5\{1\}/);
    await page.locator("section[aria-label='Along the schedule'] .column").nth(2).hover();
    assert.doesNotMatch(await alive.innerText(), /fusion\.5\{1\}/);
    await close();
  }],
  ["memory: who holds it at the cursor, by mouse and by keyboard", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/memory");
    const alive = page.getByRole("region", { name: "Alive", exact: true }).first();
    assert.match(await alive.innerText(), /Alive at the peak/);
    const curve = await page.locator("svg.use").boundingBox();
    await page.mouse.move(curve.x + curve.width / 2, curve.y + 60);
    await page.getByText(/^Alive at 3\d(\.\d)? ms/).waitFor();
    assert.match(await alive.innerText(), /held at 3\d/);
    await page.mouse.move(0, 0);
    await page.getByText("Alive at the peak").waitFor();
    await page.getByLabel("Cursor").focus();
    await page.keyboard.press("End");
    await page.getByText(/^Alive at 80(\.0)? ms/).waitFor();
    await page.getByRole("button", { name: "Back to the peak" }).click();
    await page.getByText("Alive at the peak").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["a file that is chosen or dropped is opened, and stays open after a reload", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables");
    const title = (text) => until(page, (wanted) => document.querySelector("h1")?.textContent?.startsWith(wanted), text);
    await page.locator("input[type=file]").setInputFiles({ name: "dropped.json", mimeType: "application/json", buffer: Buffer.from("{}") });
    await title("dropped.json");
    await page.reload();
    await title("dropped.json");
    await page.getByLabel("Capture", { exact: true }).selectOption("2026_02");
    await title("solver");
    // The list is there once the page listens.
    await page.getByLabel("Capture", { exact: true }).waitFor();
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
];
