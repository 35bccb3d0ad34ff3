// Starts the page: takes the token, or unpacks the report, and draws.

import "./style/base.css";
import "./style/frame.css";
import "./style/parts.css";
import { render } from "preact";
import { moveTo, openAt, place, takeToken } from "./address";
import { App } from "./app";
import { capture, reason, useSource } from "./context";
import { EmbeddedSource, HttpSource } from "./source/source";
import type { Capture } from "./source/types";
import { followTheme } from "./theme";
import { numberOfCapture } from "./parts/open";
import { watchTips } from "./parts/tip";

const root = document.getElementById("page") as HTMLElement;

async function start(): Promise<void> {
  followTheme();
  watchTips();
  const data = document.getElementById("ridgeline-data");
  const source = data === null ? await live(takeToken()) : await EmbeddedSource.unpack(data.textContent ?? "");
  data?.remove();
  if (source instanceof EmbeddedSource) openAt(source.opensAt);
  useSource(source);
  // The timeline is made beside what every view needs.
  if (place.value.view === "timeline") source.json("timeline").catch(() => undefined);
  capture.value = await source.json<Capture>("capture");
  document.title = `${capture.value.title} – Ridgeline`;
  render(<App />, root);
}

/** The capture that was looked at last; the first where that one is closed. */
async function live(token: string): Promise<HttpSource> {
  const at = numberOfCapture();
  const source = new HttpSource(token, at);
  // Where cookies are not allowed, this tab works by its token alone.
  if (token !== "") await source.enter().then(moveTo).catch(() => undefined);
  if (at === 0) return source;
  return source.json("capture").then(() => source).catch(() => new HttpSource(token));
}

start().catch((error: unknown) => {
  const { text, hint } = reason(error);
  render(<main class="alone"><h1>Ridgeline</h1><div role="alert"><p>{text}</p>{hint !== undefined && <p class="quiet">{hint}</p>}</div></main>, root);
});
