// Starts the page: takes the token, or unpacks the report, and draws.

import { render } from "preact";
import { takeToken } from "./address";
import { App } from "./app";
import { capture, reason, useSource } from "./context";
import { EmbeddedSource, HttpSource } from "./source/source";
import type { Capture } from "./source/types";
import { followTheme } from "./theme";
import { watchTips } from "./parts/tip";
import "./style.css";

const root = document.getElementById("page") as HTMLElement;

async function start(): Promise<void> {
  followTheme();
  watchTips();
  const data = document.getElementById("ridgeline-data");
  const source = data === null ? new HttpSource(takeToken()) : await EmbeddedSource.unpack(data.textContent ?? "");
  data?.remove();
  useSource(source);
  capture.value = await source.json<Capture>("capture");
  document.title = `${capture.value.title} – Ridgeline`;
  render(<App />, root);
}

start().catch((error: unknown) => {
  const { text, hint } = reason(error);
  render(<main class="alone"><h1>Ridgeline</h1><div role="alert"><p>{text}</p>{hint !== undefined && <p class="quiet">{hint}</p>}</div></main>, root);
});
