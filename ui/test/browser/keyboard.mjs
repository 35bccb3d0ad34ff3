// The page by keyboard alone.

import assert from "node:assert/strict";
import { open, settled, shown, until } from "./browser.mjs";

const held = (page) => page.evaluate(() => { const at = document.activeElement; return at?.getAttribute("aria-label") ?? at?.textContent?.trim() ?? ""; });

export const TESTS = [
  ["keyboard: from the top to a view", async ({ browser, address }) => {
    const { page, close } = await open(browser, address);
    await settled(page);
    await page.keyboard.press("Tab");
    assert.equal(await held(page), "Skip to the view");
    for (let n = 0; n < 30 && (await held(page)) !== "Findings"; n += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(page.url(), /#\/findings/);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    await close();
  }],
  ["keyboard: timeline", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=1000000&to=1400000");
    await page.waitForTimeout(300);
    await page.locator(".tl-box").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".panel h2").waitFor();
    const first = new URL(page.url()).hash;
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(400);
    assert.notEqual(new URL(page.url()).hash, first);
    await page.keyboard.press("ArrowDown");
    await page.waitForTimeout(100);
    await page.keyboard.press("m");
    await page.getByRole("heading", { name: "Range" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".panel").count(), 0);
    await page.keyboard.press("w");
    await page.keyboard.press("d");
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "tl-find");
    await page.keyboard.type("all-reduce");
    await page.keyboard.press("Enter");
    await page.getByText(/1 of /).waitFor();
    await page.locator(".tl-box").focus();
    await page.keyboard.press("n");
    await page.getByText(/2 of /).waitFor();
    await page.keyboard.press("0");
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["keyboard: a question mark shows the keys, except in a field", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/tables");
    await page.getByLabel("Filter rows").fill("a?");
    await page.getByLabel("Filter rows").press("?");
    assert.equal(await page.getByRole("dialog", { name: "Keys" }).count(), 0);
    await page.locator("#main").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("measure from the chosen event").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["keyboard: rows of a table", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/tables");
    await page.locator("tr[data-row='0']").focus();
    for (const [key, row] of [["ArrowDown", 1], ["End", 2999], ["Home", 0], ["ArrowDown", 1]]) {
      await page.keyboard.press(key);
      await until(page, (wanted) => document.activeElement?.getAttribute("data-row") === String(wanted), row);
    }
    await page.keyboard.press("Enter");
    await page.getByText("40 events").waitFor();
    await close();
  }],
  ["keyboard: the icicle", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/flame");
    await page.locator(".icicle button").first().focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await held(page), /^all\/a,/);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show all" }).waitFor();
    await close();
  }],
];
