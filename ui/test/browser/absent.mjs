// What is not there is not drawn.

import assert from "node:assert/strict";
import { serve } from "../../mock/server.mjs";
import { shown, visit } from "./browser.mjs";

export const TESTS = [
  ["what is not there is not drawn: lines without text say so, no finding holds nothing, one size is no distribution", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/source?file=%2Fhome%2Fsomebody%2Flost.py");
    assert.match(await page.locator("tbody tr td.text").first().innerText(), /^in f; text not available$/);
    await visit(page, "#/findings");
    await page.getByText("out-of-memory").first().waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /\b0\.0% of the time/);
    await visit(page, "#/transfers");
    await page.getByRole("region", { name: "By size" }).waitFor();
    await close();
    const small = await serve({ sizes: 1 });
    const other = await shown(browser, small.address, "#/transfers");
    await other.page.getByRole("region", { name: "By direction" }).first().waitFor();
    assert.equal(await other.page.getByRole("region", { name: "By size" }).count(), 0);
    assert.deepEqual([...wrong, ...other.wrong], []);
    await other.close();
    small.close();
  }],
];
