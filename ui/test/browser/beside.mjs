// Two timelines beside each other: steps, captures, a capture and its replay; and how long events like one are.

import assert from "node:assert/strict";
import { HOSTILE } from "../../mock/capture.mjs";
import { accessible, fits, SAVES } from "./checks.mjs";
import { downloaded, settled, shown, until, visit } from "./browser.mjs";

export const TESTS = [
  ["steps: the median beside the outlier at first, any other by a choice, and the address keeps it", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/steps");
    assert.equal(await page.getByLabel("Step", { exact: true }).inputValue(), "104");
    assert.equal(await page.getByLabel("Other step").inputValue(), "105");
    assert.match(await page.getByRole("region", { name: "Timelines" }).innerText(), /step 4: 8 ms above step 5: 10 ms/);
    const first = await page.locator(".differences .list tbody tr").first().innerText();
    assert.match(first, /[+−][\d.]+ [µm]s/);
    await page.getByLabel("Other step").selectOption("102");
    await until(page, () => /other=102/.test(location.hash));
    await page.getByText("step 4: 8 ms above step 2: 8 ms").waitFor();
    await page.reload();
    await page.getByText("step 4: 8 ms above step 2: 8 ms").waitFor();
    await page.getByRole("button", { name: "Swap" }).click();
    await page.getByText("step 2: 8 ms above step 4: 8 ms").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["steps: pointing at an event tells its match, a row lights its events, a drag looks closer", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/steps");
    const picture = page.locator(".beside-svg");
    await picture.scrollIntoViewIfNeeded();
    const box = await picture.boundingBox();
    let said = "";
    for (let x = 20; x < 600 && !/ms\)|µs\)/.test(said); x += 7) {
      await page.mouse.move(box.x + x, box.y + 45);
      said = await page.locator(".beside-picture .said-here").innerText();
    }
    assert.match(said, / in step 4, .* in step 5 \([+−]?.*\); starts at /);
    const name = page.locator(".differences .name button").first();
    await name.click();
    assert.ok((await page.locator(".beside-svg .lit").count()) > 0, "nothing stands out");
    assert.ok((await page.locator(".beside-svg .bands path").count()) > 3, "no bands");
    await name.click();
    await picture.scrollIntoViewIfNeeded();
    Object.assign(box, await picture.boundingBox());
    const asked = page.waitForRequest((request) => /beside\?.*from=\d+/.test(request.url()));
    await page.mouse.move(box.x + 200, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await asked;
    await settled(page);
    assert.ok((await page.locator(".beside-picture .tools .quiet").first().innerText()).endsWith("of 10 ms"));
    assert.ok(!(await page.getByRole("button", { name: "All", exact: true }).isDisabled()));
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["compare: both captures' timelines on request, with the steps that are chosen", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/compare");
    await page.getByRole("button", { name: "Show both timelines" }).click();
    await page.getByRole("region", { name: "Timelines", exact: true }).waitFor();
    await page.getByLabel("Step before").selectOption("101");
    await page.getByRole("region", { name: "Differences", exact: true }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["what if: the predicted timeline with its interval, marked, and no number where the replay is out of reach", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/findings");
    await page.getByRole("link", { name: "Predicted timeline" }).first().click();
    await page.getByRole("heading", { name: "Today and predicted" }).waitFor();
    const text = await page.locator("main").innerText();
    assert.match(text, /predicted\s+Saves 1\.6 ms to 2\.4 ms per step \(16\.0% to 24\.0%\)/);
    assert.match(text, /10 ms captured, predicted 8 ms \(-20\.0%\)/);
    assert.match(text, /Not covered[^]*3\.1% of the time[^]*off by 1\.2%/);
    assert.match(await page.locator(".beside-svg .stamp").innerHTML(), /predicted, not measured/);
    assert.ok((await page.getByRole("region", { name: "Predicted timeline" }).innerText()).length > 0);
    await visit(page, "#/whatif?finding=1");
    await page.getByText(/No predicted timeline/).first().waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /Saves/);
    assert.equal(await page.locator(".beside-svg").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["what if: own changes are typed, replayed together, and kept in the address", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/whatif");
    await page.getByRole("button", { name: "Own changes" }).click();
    await page.getByText("Add a change to see").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("gemm*");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "Today and predicted" }).waitFor();
    await page.getByLabel("Change", { exact: true }).selectOption("remove");
    await page.getByLabel("Name", { exact: true }).fill("copy.12");
    await page.getByLabel("Name", { exact: true }).press("Enter");
    await page.getByRole("region", { name: "Changes" }).getByText(/^remove copy\.12 <img/).first().waitFor();
    assert.match(await page.getByRole("region", { name: "Prediction", exact: true }).innerText(), /predicted\s+Saves\s+about 2 ms/);
    await page.waitForURL(/changes=scale\+gemm\*%3D2x%0Aremove\+copy\.12/);
    await page.reload();
    await page.getByRole("button", { name: "Take back scale gemm*=2x" }).click();
    await until(page, () => document.querySelectorAll(".own li").length === 1);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: how long the events like the chosen one are, by length, over time and by step", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?event=40");
    const like = page.locator(".like");
    await like.waitFor();
    assert.match(await like.innerText(), /Median .*, p95 .*, longest .*This one: .* from the median\), longer than /s);
    assert.equal(await like.locator("svg.histogram").count(), 3);
    assert.equal(await like.locator("svg.histogram .mark").count(), 3);
    await like.getByRole("button", { name: /s$/ }).first().click();
    await until(page, () => !/event=40(&|$)/.test(location.hash));
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: exposed collectives are listed, and each is a click away", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    await page.getByRole("button", { name: "Collectives" }).click();
    await page.getByText("4 ms of 9 ms in 3 collectives").waitFor();
    await accessible(page, "collectives");
    await page.locator(".hits ol button").first().click();
    await until(page, () => /event=\d+/.test(location.hash));
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: the critical path is lit with its parts, of the range where one is chosen, and all launches of a range are drawn", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    const panel = page.locator(".panel");
    await page.getByRole("button", { name: "Critical path", exact: true }).click();
    await panel.getByText(/^8 ms are on the path/).waitFor();
    await panel.locator(".lit-now", { hasText: "critical path: 40 events" }).waitFor();
    assert.match(await panel.innerText(), /device work[\s\S]*62\.5%[\s\S]*waits[\s\S]*12\.5%/);
    await accessible(page, "critical path");
    await panel.getByRole("button", { name: "Close the critical path" }).click();
    await page.locator(".lit-now").waitFor({ state: "detached" });
    await visit(page, "#/timeline?from=0&to=4000000&a=1000000&b=1400000");
    await panel.getByRole("region", { name: "Sums of the range" }).waitFor();
    await page.getByRole("button", { name: "Critical path", exact: true }).click();
    await panel.getByText(/^2 ms of the range are on the path/).waitFor();
    const ink = () => page.locator(".tl-box canvas").nth(2).evaluate((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.reduce((sum, value, at) => (at % 4 === 3 ? sum + value : sum), 0));
    await page.getByRole("button", { name: "Close the critical path" }).click();
    await page.waitForTimeout(200);
    await panel.getByRole("button", { name: "Launches" }).click();
    await panel.getByText("one in 2 of 600").waitFor();
    await page.waitForTimeout(300);
    const drawn = await ink();
    await panel.getByRole("button", { name: "Launches" }).click();
    await page.waitForTimeout(300);
    assert.ok(drawn > (await ink()) + 1000, `${drawn} with launches, ${await ink()} without`);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: a counter is a line between its least and its most, and pointing at it tells the value", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?fold=g0,g1,g2");
    await page.waitForTimeout(600);
    const [name, box] = [await page.locator(".tl-name", { hasText: "memory" }).boundingBox(), await page.locator(".tl-box").boundingBox()];
    await page.mouse.move(box.x + box.width / 2, name.y + name.height / 2);
    await page.locator(".tl-hover", { hasText: /^memory: [\d.]+ [KMG]?i?B at / }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: at 200% zoom it scrolls, and neither tracks nor panel are squeezed", async ({ browser, address }) => {
    for (const size of [{ width: 640, height: 450 }, { width: 640, height: 360 }, { width: 390, height: 800 }]) {
      const { page, wrong, close } = await shown(browser, address, "#/timeline?event=40", size);
      await page.locator(".like").waitFor();
      await fits(page, `${size.width} px`);
      const [tracks, panel] = [await page.locator(".tl-box").boundingBox(), await page.locator(".panel").boundingBox()];
      assert.ok(tracks.height >= 190 && tracks.width >= 240, `tracks of ${tracks.width} × ${tracks.height} px at ${size.width}`);
      assert.ok(panel.height >= 150 && panel.y >= tracks.y + tracks.height - 1, `the panel stands on the tracks at ${size.width}`);
      await page.locator(".like summary").scrollIntoViewIfNeeded();
      await page.locator(".like summary").click();
      assert.deepEqual(wrong, []);
      await close();
    }
  }],
  ["what is printed is on white, with the timeline as it is shown", async ({ browser, address, name }) => {
    if (name !== "chromium") return "the driver prints with Chromium alone";
    const { page, wrong, close } = await shown(browser, address, "#/timeline?event=40", { dark: true });
    await page.waitForTimeout(400);
    const print = (how) => page.evaluate((event) => window.dispatchEvent(new Event(event)), how);
    await print("beforeprint");
    await page.emulateMedia({ media: "print" });
    const copy = page.locator("canvas.printed");
    await copy.waitFor();
    assert.equal(await page.locator(".tl-left").isVisible(), false);
    const seen = await copy.evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const colors = new Set();
      for (let at = 0; at < data.length; at += 4 * 97) colors.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
      return { corner: [...data.slice(0, 3)], colors: colors.size };
    });
    assert.deepEqual(seen.corner, [255, 255, 255]);
    assert.ok(seen.colors > 8, `${seen.colors} colors`);
    await print("afterprint");
    await page.emulateMedia({ media: "screen" });
    assert.equal(await page.locator("canvas.printed").count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["flame, timeline, steps and histograms are saved as pictures", async ({ browser, address, name }) => {
    if (name !== "chromium") return SAVES;
    const { page, wrong, close } = await shown(browser, address, "#/flame");
    const saved = async (where, what) => {
      assert.match(await downloaded(page, () => where.getByRole("button", { name: "SVG", exact: true }).first().click()), /^<svg[^]*<\/svg>$/, what);
      assert.match(await downloaded(page, () => where.getByRole("button", { name: "PNG", exact: true }).first().click()), /^.PNG/, what);
    };
    const flame = await downloaded(page, () => page.getByRole("button", { name: "SVG", exact: true }).first().click());
    assert.ok(flame.includes("all/a") && !flame.includes(HOSTILE), "names are in it as text");
    await saved(page, "flame");
    await visit(page, "#/steps");
    await saved(page.getByRole("region", { name: "Steps over time" }), "steps");
    await saved(page.getByRole("region", { name: "Timelines" }), "timelines");
    await visit(page, "#/timeline?event=40");
    await page.locator(".like").waitFor();
    await saved(page.locator(".like"), "durations");
    await visit(page, "#/timeline?a=1000000&b=1400000");
    await page.getByRole("region", { name: "Sums of the range" }).waitFor();
    await saved(page.locator(".lengths"), "histogram");
    assert.deepEqual(wrong, []);
    await close();
  }],
];
