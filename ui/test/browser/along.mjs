// A selection of the timeline in other views.

import assert from "node:assert/strict";
import { settled, shown, until } from "./browser.mjs";

export const TESTS = [
  ["a selection goes along: flame, idle time and source are of it until it is cleared", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?a=1000000&b=1400000&tracks=0-1");
    await page.getByRole("region", { name: "Sums of the range" }).waitFor();
    const asked = [];
    page.on("request", (request) => asked.push(decodeURIComponent(request.url())));
    for (const [view, question] of [["Flame", /flame\/scope\?from=1000000&to=1400000&tracks=0-1/], ["Idle", /chart\/idle\?from=1000000&to=1400000/], ["Source", /selection\?from=1000000.*lines=1/]]) {
      await page.getByRole("link", { name: view, exact: true }).click();
      await page.getByRole("note").filter({ hasText: "Only the selection: 400 µs from 1 ms, 2 tracks" }).waitFor();
      await settled(page);
      assert.ok(view === "Source" || asked.some((one) => question.test(one)), `${view} asked ${asked.join("\n")}`);
    }
    assert.match(await page.locator("thead").innerText(), /Selected/);
    await page.getByRole("link", { name: "Idle", exact: true }).click();
    await page.getByRole("button", { name: "Whole capture" }).click();
    await until(page, () => !/[?&]a=/.test(location.hash));
    await page.getByRole("heading", { name: /^By / }).last().waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
];
