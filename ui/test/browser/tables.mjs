// Tables on the made-up capture.

import assert from "node:assert/strict";
import { SAVES, VIEWS } from "./checks.mjs";
import { downloaded, shown, until, visit } from "./browser.mjs";

export const TESTS = [
  ["every table of every view can be copied, with raw numbers and a tab between cells", async ({ browser, address, name }) => {
    const { page, wrong, close } = await shown(browser, address, "#/overview");
    for (const view of VIEWS) {
      await visit(page, `#/${view}`);
      const without = await page.locator("main table").evaluateAll((tables) => tables.filter((table) => {
        const around = table.closest("section, article, details, .tables, .source, main");
        return ![...(around?.querySelectorAll("button") ?? [])].some((button) => /^Copy/.test(button.textContent));
      }).map((table) => table.innerText.slice(0, 80)));
      assert.deepEqual(without, [], view);
    }
    if (name === "chromium") {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await visit(page, "#/transfers");
      await page.getByRole("region", { name: "By direction" }).first().getByRole("button", { name: "Copy" }).click();
      await page.getByText("copied").waitFor();
      const text = await page.evaluate(() => navigator.clipboard.readText());
      assert.match(text, /^direction\t[a-z_\t]*bytes[^\n]*\n[^\n]*\t\d+/);
    }
    assert.deepEqual(wrong, []);
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
    await page.getByText("3,000 rows").waitFor();
    await page.locator(".scroller").evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await page.locator("tr[data-row='2999'] td").first().waitFor();
    await until(page, () => document.querySelector("tr[data-row='2999'] td")?.textContent !== "…");
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
  ["tables: rows are copied as CSV as they are sorted, filtered and chosen, and the address keeps that", async ({ browser, address, name }) => {
    if (name !== "chromium") return SAVES;
    const { page, close } = await shown(browser, address, "#/tables?filter=all-reduce&sort=events&desc=1&hidden=self_share");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const expected = /^op,self_ns,events\nall-reduce\.3\.\d+,\d*,99\n/;
    assert.match(await downloaded(page, () => page.getByRole("button", { name: "Save CSV" }).click()), expected);
    await page.getByRole("button", { name: "Copy as CSV" }).click();
    await page.getByText("copied").waitFor();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await until(page, () => navigator.clipboard.readText().then((text) => text.startsWith("op\tself_ns\tevents\nall-reduce")));
    await page.getByRole("button", { name: "Copy as CSV" }).click();
    await until(page, () => navigator.clipboard.readText().then((text) => text.startsWith("op,")));
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, expected);
    assert.equal(text.trim().split("\n").length - 1, 428, "every row, not only those in sight");
    await close();
  }],
  ["tables: what is found in all tables is asked of the one that is shown", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/overview");
    await page.getByLabel("Find in tables").fill("softmax");
    await page.keyboard.press("Enter");
    await page.locator("tr[data-row='0'] td", { hasText: "softmax" }).first().waitFor();
    await close();
  }],
];
