// The views, in the order of the navigation. A new one is a folder and a line here.

import type { ComponentType } from "preact";
import type { Capture } from "../source/types";
import Compare from "./compare";
import Findings from "./findings";
import Flame from "./flame";
import Graph from "./graph";
import Idle from "./idle";
import Memory from "./memory";
import Offload from "./offload";
import Overview from "./overview";
import Query from "./query";
import Roofline from "./roofline";
import Scaling from "./scaling";
import Source from "./source";
import Steps from "./steps";
import Tables from "./tables";
import Timeline from "./timeline";
import Transfers from "./transfers";
import WhatIf from "./whatif";

export interface View {
  id: string;
  title: string;
  /** One sentence for whoever does not know it. */
  about: string;
  component: ComponentType;
  /** Whether this capture has anything for it; without it, always. */
  when?: (capture: Capture) => boolean;
}

/** Whether anything has a place in time. */
const hasEvents = (capture: Capture) => capture.has["events"] !== false;

export const VIEWS: readonly View[] = [
  { id: "overview", title: "Overview", about: "Lost data, time breakdown, bottlenecks", component: Overview },
  { id: "timeline", title: "Timeline", about: "What ran when", component: Timeline, when: (capture) => hasEvents(capture) || capture.has["counters"] === true },
  { id: "tables", title: "Tables", about: "All totals, by any grouping", component: Tables },
  { id: "query", title: "Query", about: "SQL over everything recorded", component: Query, when: (capture) => capture.has["query"] === true },
  { id: "findings", title: "Findings", about: "Bottlenecks and fixes", component: Findings, when: (capture) => hasEvents(capture) || capture.has["memory"] === true || capture.has["profiles"] !== true },
  { id: "whatif", title: "What if", about: "The predicted timeline with a change made, a finding's or your own", component: WhatIf, when: (capture) => capture.has["devices"] !== false && hasEvents(capture) },
  { id: "steps", title: "Steps", about: "Step times, and two steps beside each other", component: Steps, when: (capture) => capture.has["several_steps"] === true },
  { id: "compare", title: "Compare", about: "Changes from another capture, with their significance", component: Compare, when: (capture) => capture.has["compare"] === true },
  { id: "roofline", title: "Roofline", about: "Operations compared with the device's limits", component: Roofline, when: (capture) => capture.has["roofline"] !== false && (hasEvents(capture) || capture.has["profiles"] === true) },
  { id: "flame", title: "Flame", about: "Time by scope, Python function or module; memory by call stack", component: Flame, when: (capture) => hasEvents(capture) || capture.has["memory"] === true },
  { id: "memory", title: "Memory", about: "Memory use over time", component: Memory, when: (capture) => capture.has["memory"] !== false },
  { id: "idle", title: "Idle", about: "Why devices were idle, when and for how long", component: Idle, when: (capture) => capture.has["idle"] === true },
  { id: "transfers", title: "Transfers", about: "Copies by direction, size and rate", component: Transfers, when: (capture) => capture.has["transfers"] === true },
  { id: "source", title: "Source", about: "Time of each source line", component: Source, when: (capture) => hasEvents(capture) || capture.has["source"] === true },
  { id: "graph", title: "Graph", about: "The compiled program around one operation", component: Graph, when: (capture) => capture.has["hlo"] !== false },
  { id: "offload", title: "Offload", about: "Which parts other hardware would speed up", component: Offload, when: (capture) => capture.has["offload"] === true },
  { id: "scaling", title: "Scaling", about: "How time grows with size, or drifts over steps", component: Scaling, when: (capture) => capture.has["scaling"] === true },
];
