// The timeline on the made-up capture: by mouse, touch and address; what is drawn, and what is saved.

import assert from "node:assert/strict";
import { HOSTILE } from "../../mock/capture.mjs";
import { serve } from "../../mock/server.mjs";
import { SAVES } from "./checks.mjs";
import { downloaded, settled, shown, until } from "./browser.mjs";

export const TESTS = [
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
    await page.getByRole("region", { name: "Sums of the range" }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: a drag counts the tracks under it, devices and host apart, and the address has all of it", async ({ browser, address, name }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=1000000&to=1400000");
    await page.waitForTimeout(200);
    const box = await page.locator(".tl-box").boundingBox();
    const row = async (text) => { const at = await page.locator(".tl-name.track", { hasText: text }).first().boundingBox(); return at.y + at.height / 2; };
    const panel = page.locator(".panel");
    // Within one stream: one track, nothing of the host.
    await dragged(page, [box.x + 100, await row("Stream #0")], [box.x + 400, await row("Stream #0")]);
    await panel.getByText(/^1 track of 6/).waitFor();
    await panel.getByRole("region", { name: "Sums of the range" }).waitFor();
    assert.equal(await panel.getByRole("button", { name: /^Host/ }).count(), 0);
    assert.match(await panel.innerText(), /Busy .*% of the range/s);
    await page.waitForURL(/tracks=0(&|$)/);
    // Over two devices' streams and a thread: both sides, each with its own sums.
    await dragged(page, [box.x + 100, await row("Stream #0")], [box.x + 400, await row("Stream #2")]);
    await panel.getByRole("button", { name: /^Host/ }).waitFor();
    const kernels = await panel.locator(".parts td.n").first().innerText();
    await panel.getByRole("button", { name: /^Host/ }).click();
    await panel.getByText(/In all .* thread/).or(panel.getByText(/In all .* of the range/)).first().waitFor();
    assert.notEqual(await panel.locator(".parts td.n").first().innerText() + await panel.locator(".big").innerText(), kernels);
    await panel.getByRole("button", { name: "Track", exact: true }).click();
    await page.waitForURL(/by=track/);
    await panel.getByRole("button", { name: /^Devices/ }).click();
    await panel.getByLabel("Only events that match").fill("name~cutlass");
    await page.keyboard.press("Enter");
    await page.waitForURL(/where=name/);
    await panel.getByRole("button", { name: "Kernel", exact: true }).click();
    await panel.locator(".parts tbody tr").nth(1).waitFor({ state: "detached" });
    // The address follows within a quarter of a second.
    await page.waitForURL((url) => !/by=track/.test(url.hash));
    const text = await panel.innerText();
    if (name === "chromium") {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await panel.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByText("copied").waitFor();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^name\tself_ns\ttotal_ns\tevents\tshare\nvoid cutlass/);
    }
    const before = page.url();
    await page.reload();
    await panel.locator(".parts tbody tr").first().waitFor();
    assert.equal(page.url().replace(/from=[^&]*&to=[^&]*/, ""), before.replace(/from=[^&]*&to=[^&]*/, ""));
    assert.equal((await panel.innerText()).replace(/\s+/g, " "), text.replace(/\s+/g, " "));
    // Other views take it along.
    await page.getByRole("link", { name: "Tables", exact: true }).click();
    await page.locator("tr[data-row='0'] td", { hasText: "cutlass" }).first().waitFor();
    assert.equal(await page.locator("tr[data-row]").count(), 1);
    await page.getByRole("button", { name: "Whole capture" }).click();
    await page.getByText("3,000 rows").waitFor();
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
  ["timeline: groups fold, and the address keeps which", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    const rows = () => page.locator(".tl-name.track").count();
    const before = await rows();
    await page.getByRole("button", { name: "python (host)" }).click();
    assert.ok((await rows()) < before);
    await page.waitForURL(/fold=g2/);
    await page.reload();
    await settled(page);
    assert.equal(await page.getByRole("button", { name: "python (host)" }).getAttribute("aria-expanded"), "false");
    await page.getByRole("button", { name: "Unfold all" }).click();
    assert.equal(await rows(), before);
    await page.waitForURL(/fold=none/);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: an event leads to its launch, its line and its operation, and a launch to what it launched", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?event=40");
    const panel = page.getByRole("complementary", { name: "What is chosen" });
    for (const [title, value] of [["Operation", /./], ["Line", /solver\.py:4 measured: the Python functions/], ["Launch", /cudaLaunchKernel/], ["Work", /3\.2 GFLOP/], ["Headroom", /4\.2/], ["Shape", /64/]]) {
      assert.match(await panel.locator(".pairs > div", { has: page.locator(`dt:text-is("${title}")`) }).first().innerText(), value, title);
    }
    await panel.getByRole("button", { name: /cudaLaunchKernel/ }).click();
    await page.waitForURL(/event=(?!40\b)/);
    await panel.getByText("Launched").waitFor();
    await panel.locator(".pairs > div", { has: page.locator('dt:text-is("Launched")') }).getByRole("button").first().click();
    await page.waitForURL(/event=40\b/);
    await panel.getByRole("link", { name: "All its events" }).click();
    await page.getByText("40 events").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: a search counts, and goes on and back", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/timeline");
    await page.getByLabel("Find events").fill("cutlass");
    await page.keyboard.press("Enter");
    const at = async (n) => page.locator(".find", { hasText: new RegExp(`^Find ?${n} of [\\d,]+`) }).waitFor();
    await at(1);
    assert.match(await page.locator(".panel h2").first().innerText(), /cutlass/);
    await page.getByRole("button", { name: "Next match" }).click();
    await at(2);
    await page.getByRole("button", { name: "Previous match" }).click();
    await at(1);
    await page.waitForURL(/find=cutlass/);
    await page.getByLabel("Find events").fill("no such name");
    await page.keyboard.press("Enter");
    await page.locator(".find", { hasText: "none" }).waitFor();
    await close();
  }],
  ["timeline: the mouse pans, scrolls and goes by the strip", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=20000000&to=40000000", { height: 500 });
    const box = await page.locator(".tl-box").boundingBox();
    const [x, y] = [box.x + 300, box.y + 120];
    const moved = async (act) => {
      const before = await windowOf(page);
      await act();
      await page.waitForTimeout(350);
      return (await windowOf(page))[0] - before[0];
    };
    await page.mouse.move(x, y);
    assert.ok((await moved(() => page.mouse.wheel(200, 0))) > 0, "a wheel to the side pans");
    await page.keyboard.down("Shift");
    assert.ok((await moved(() => dragged(page, [x, y], [x + 150, y]))) < 0, "Shift and a drag pan");
    await page.keyboard.up("Shift");
    assert.ok((await moved(() => dragged(page, [x, box.y + 12], [x - 150, box.y + 12]))) > 0, "a drag along the ruler pans");
    const strip = await page.locator(".strip").boundingBox();
    assert.ok((await moved(() => page.mouse.click(strip.x + strip.width * 0.9, strip.y + 10))) > 20e6, "a click on the strip goes there");
    const first = await page.locator(".tl-name").first().boundingBox();
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 60);
    await page.waitForTimeout(100);
    assert.ok((await page.locator(".tl-name").first().boundingBox()).y < first.y, "a wheel scrolls");
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: one finger pans, two zoom, a tap chooses", async ({ browser, address, name }) => {
    if (name !== "chromium") return "fingers are told to Chromium alone";
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=20000000&to=21000000", { hasTouch: true });
    const session = await page.context().newCDPSession(page);
    const box = await page.locator(".tl-box").boundingBox();
    const touch = (type, ...points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
    const before = await windowOf(page);
    await touch("touchStart", [400, 100]);
    for (let n = 1; n <= 5; n += 1) await touch("touchMove", [400 - 30 * n, 100]);
    await touch("touchEnd");
    await page.waitForTimeout(350);
    const panned = await windowOf(page);
    assert.ok(panned[0] > before[0] && Math.abs(panned[1] - panned[0] - (before[1] - before[0])) < 1000, `${before} to ${panned}`);
    await touch("touchStart", [350, 100], [450, 100]);
    for (let n = 1; n <= 5; n += 1) await touch("touchMove", [350 - 20 * n, 100], [450 + 20 * n, 100]);
    await touch("touchEnd");
    await page.waitForTimeout(350);
    const zoomed = await windowOf(page);
    assert.ok(zoomed[1] - zoomed[0] < (panned[1] - panned[0]) * 0.6, `${panned} to ${zoomed}`);
    for (let x = 40; x < box.width && (await page.locator(".panel h2").count()) === 0; x += 31) {
      await page.touchscreen.tap(box.x + x, box.y + 30 + 26 + 12);
      await page.waitForTimeout(80);
    }
    await page.locator(".panel h2").first().waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: W A S D zoom and pan, and the address keeps a gap", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/timeline?from=20000000&to=20400000");
    await page.locator(".tl-box").focus();
    const after = async (key) => {
      const before = String(await windowOf(page));
      await page.keyboard.press(key);
      for (let n = 0; n < 200 && String(await windowOf(page)) === before; n += 1) await page.waitForTimeout(25);
      return windowOf(page);
    };
    const [zoomed, left, right, wide] = [await after("w"), await after("a"), await after("d"), await after("s")];
    assert.ok(zoomed[1] - zoomed[0] < 300_000 && left[0] < zoomed[0] && right[0] === zoomed[0] && wide[1] - wide[0] > 390_000, JSON.stringify({ zoomed, left, right, wide }));
    const box = await page.locator(".tl-box").boundingBox();
    for (let x = 20; x < box.width && (await page.getByRole("heading", { name: "Idle" }).count()) === 0; x += 23) {
      await page.mouse.click(box.x + x, box.y + 30 + 26 + 12);
      await page.waitForTimeout(60);
    }
    await page.waitForURL(/gap=\d+-\d+/);
    await page.reload();
    await page.getByRole("heading", { name: "Idle" }).waitFor();
    await page.locator(".panel .cause", { hasText: "host late" }).waitFor();
    await close();
  }],
  ["timeline: the strip of a device has the causes of its idle time, and counters are lines", async ({ browser, address }) => {
    const { page, close } = await shown(browser, address, "#/timeline");
    await page.waitForTimeout(300);
    const box = await page.locator(".tl-box").boundingBox();
    const counter = await page.locator(".tl-name.counter").boundingBox();
    const drawn = await page.locator(".tl-box canvas").nth(2).evaluate((canvas, [top, height]) => {
      const { data } = canvas.getContext("2d").getImageData(0, top, canvas.width, height);
      return data.filter((value, at) => at % 4 === 3 && value > 40).length / (data.length / 4);
    }, [Math.round(counter.y - box.y + 2), Math.round(counter.height - 4)]);
    assert.ok(drawn > 0.05 && drawn < 0.95, `${drawn} of the counter's row is drawn`);
    await page.mouse.click(box.x + 4, box.y + 30 + 18);
    await page.getByRole("heading", { name: "Idle" }).waitFor();
    assert.match(await page.locator(".panel .cause").innerText(), /host late|launch latency/);
    // Its neighbors are a click away, and so is the view of idle time.
    await page.locator(".panel .pairs > div", { has: page.locator('dt:text-is("Before")') }).waitFor();
    assert.match(await page.locator(".panel").getByRole("link", { name: "Idle time there" }).getAttribute("href"), /idle\?.*a=\d+&b=\d+/);
    assert.match(await page.locator(".panel").getByRole("link", { name: "All idle time" }).getAttribute("href"), /idle\?device=0$/);
    await page.locator(".panel .pairs > div", { has: page.locator('dt:text-is("Behind")') }).getByRole("button").click();
    await page.waitForURL(/event=4(&|$)/);
    await close();
  }],
  ["timeline: tracks are filtered, pinned, moved and hidden, by mouse and keyboard, and the address keeps it", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    const names = () => page.locator(".tl-name.track").evaluateAll((all) => all.map((one) => one.querySelector("span:not(.tl-acts), .words").textContent.slice(0, 9)));
    await page.locator(".tl-name.track", { hasText: "Stream #3" }).hover();
    await page.getByRole("button", { name: "Pin Stream #3" }).click();
    await page.locator(".tl-name.track", { hasText: "Stream #5" }).getByRole("button", { name: "Pin Stream #5" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Move Stream #5 · python (host) up" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".tl-name.track", { hasText: "Stream #4" }).hover();
    await page.getByRole("button", { name: "Hide Stream #4" }).click();
    assert.equal(await page.locator(".tl-name", { hasText: "Stream #4" }).count(), 0);
    const order = await page.locator(".tl-name").evaluateAll((all) => all.map((one) => one.textContent.match(/Pinned|Stream #\d|GPU:\d/)?.[0] ?? "").filter((text) => text !== ""));
    assert.deepEqual(order.slice(0, 3), ["Pinned", "Stream #5", "Stream #3"], order.join());
    await page.getByLabel("Filter tracks").fill("GPU:0|#2");
    await page.waitForURL(/only=GPU/);
    await page.waitForURL(/pin=5%2C3.*hide=4|hide=4.*pin=5%2C3/);
    await page.reload();
    await settled(page);
    assert.equal((await names()).length, 4);
    await page.getByRole("button", { name: "Show 1 hidden" }).click();
    await page.getByRole("button", { name: "Unpin all" }).click();
    await page.getByLabel("Filter tracks").fill("");
    await until(page, () => document.querySelectorAll(".tl-name.track").length === 6);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: matches are listed, markers keep their notes, and Shift and a click measure", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline?from=1000000&to=1400000");
    await page.getByLabel("Find events").fill("cutlass");
    await page.keyboard.press("Enter");
    const list = page.locator(".hits li");
    await list.nth(5).waitFor();
    await list.nth(5).getByRole("button").click();
    await page.locator(".find", { hasText: /6 of/ }).waitFor();
    assert.match(await page.locator(".panel h2").first().innerText(), /cutlass/);
    await page.getByRole("button", { name: "Marker", exact: true }).click();
    await page.locator(".markers input").fill("here it is late");
    await page.keyboard.press("Enter");
    await page.waitForURL(/marks=\d+%3Ahere/);
    await page.reload();
    await page.locator(".markers input").waitFor();
    assert.equal(await page.locator(".markers input").inputValue(), "here it is late");
    await page.getByRole("button", { name: /^Remove the marker/ }).click();
    await page.locator(".markers").waitFor({ state: "detached" });
    // From the chosen event to a place far from it.
    await page.locator(".tl-box").focus();
    await page.keyboard.press("0");
    const box = await page.locator(".tl-box").boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.click(box.x + box.width - 60, box.y + 30 + 26 + 12);
    await page.keyboard.up("Shift");
    await page.getByRole("heading", { name: "Range" }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: the column of names is made wider, by mouse and by keyboard, and the address keeps it", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    const wide = async () => (await page.locator(".tl-names").boundingBox()).width;
    const name = page.locator(".tl-name.track", { hasText: "…" }).first();
    const [before, cut] = [await wide(), await name.innerText()];
    assert.match(cut, /^<img.*….*>/s, "both ends of a long name are there");
    const grip = page.getByRole("separator", { name: "Width of the names" });
    const at = await grip.boundingBox();
    await dragged(page, [at.x + 2, at.y + 100], [at.x + 152, at.y + 100]);
    await until(page, (least) => document.querySelector(".tl-names").getBoundingClientRect().width > least, before + 140);
    await grip.focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(400);
    assert.match(page.url(), /names=3\d\d/);
    const wider = await wide();
    await page.reload();
    await settled(page);
    assert.equal(await wide(), wider);
    assert.ok((await page.locator(".tl-name.track", { hasText: "<img" }).first().innerText()).length > cut.length);
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: what is shown is saved as it is drawn, and the capture for other tools", async ({ browser, address, name }) => {
    if (name !== "chromium") return SAVES;
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
  ["timeline: the capture goes to Perfetto's page when that is asked for, and not before", async ({ browser, address }) => {
    const { page, wrong, close } = await shown(browser, address, "#/timeline");
    // Its page, as its protocol has it: it answers once it listens, and keeps what it is given.
    const theirs = `<script>addEventListener("message", (e) => { if (e.data === "PING") e.source.postMessage("PONG", e.origin); else document.title = e.data.perfetto.title + ": " + e.data.perfetto.buffer.byteLength; });</script>`;
    await page.context().route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: theirs }));
    await page.getByText("Save as").click();
    await page.getByRole("button", { name: "Open in Perfetto" }).click();
    assert.match(await page.getByRole("dialog").innerText(), /a third-party page/);
    assert.equal(page.context().pages().length, 1);
    const [other] = await Promise.all([page.context().waitForEvent("page"), page.getByRole("button", { name: "Open ui.perfetto.dev" }).click()]);
    await until(other, () => document.title.endsWith(": 7"));
    assert.deepEqual(wrong, []);
    await close();
  }],
  ["timeline: WebGL2 and the plain canvas draw the same", async ({ browser, address, name }) => {
    if (name !== "chromium") return "Firefox has no WebGL2 without a graphics card; every test of it draws on the plain canvas";
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
    assert.ok(same > 0.95, `${(same * 100).toFixed(1)}% of the columns are alike`);
  }],
  ["timeline: drawing 200 000 rectangles", async ({ browser, name }) => {
    if (name !== "chromium") return "times are Chromium's";
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

/** The part of time that the address has. */
async function windowOf(page) {
  return ["from", "to"].map((name) => Number(new RegExp(`[?&]${name}=(-?\\d+)`).exec(page.url())?.[1]));
}

async function dragged(page, from, to) {
  await page.mouse.move(...from);
  await page.mouse.down();
  await page.mouse.move(...to, { steps: 5 });
  await page.mouse.up();
}
