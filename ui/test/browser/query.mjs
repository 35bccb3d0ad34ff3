// SQL on the made-up capture.

import assert from "node:assert/strict";
import { shown, until } from "./browser.mjs";

export const TESTS = [
  ["query: Ctrl+Enter runs, the answer is a table, errors are the program's, and the address keeps it", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/query");
    const box = page.getByLabel("SQL");
    await box.fill("select everything");
    await box.press("Control+Enter");
    await page.getByText("Only the first 3 rows are here.").waitFor();
    await page.locator("tr[data-row='1'] td", { hasText: "5,000,000" }).waitFor();
    // What a browser's numbers can't hold is shown with all its digits.
    await page.locator("tr[data-row='2'] td", { hasText: "1790000000000000001" }).waitFor();
    await page.waitForURL(/sql=select\+everything/);
    await page.reload();
    await page.locator("tr[data-row='1'] td", { hasText: "5,000,000" }).waitFor();
    await box.fill("selec");
    await page.getByRole("button", { name: "Run" }).click();
    assert.match(await page.getByRole("alert").innerText(), /^unknown word in `selec` of <img.*\nhint: there are op, kernel$/s);
    // A click on a table asks for it where nothing else was typed, and else writes its name; so does one on a column.
    await box.fill("");
    await page.getByRole("button", { name: "op", exact: true }).click();
    await page.locator("tr[data-row='1'] td", { hasText: "5,000,000" }).waitFor();
    assert.equal(await box.inputValue(), "select * from stats.op limit 100");
    await box.fill("select 1, ");
    await page.getByRole("region", { name: "Columns of stats.op" }).getByRole("button", { name: "self_ns" }).click();
    assert.equal(await box.inputValue(), "select 1, self_ns");
    await page.getByLabel("Find a table").fill("slice");
    await until(page, () => document.querySelectorAll(".known details li").length === 1);
    assert.deepEqual(wrong.filter((line) => !line.includes("400")), []);
    await close();
  }],
];
