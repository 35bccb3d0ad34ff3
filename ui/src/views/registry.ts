// The views, in the order of the navigation. A new one is a folder and a line here.

import type { ComponentType } from "preact";
import type { Capture } from "../source/types";
import Findings from "./findings";
import Flame from "./flame";
import Graph from "./graph";
import Memory from "./memory";
import Overview from "./overview";
import Roofline from "./roofline";
import Source from "./source";
import Tables from "./tables";
import Timeline from "./timeline";

export interface View {
  id: string;
  title: string;
  /** One sentence for whoever does not know it. */
  about: string;
  component: ComponentType;
  /** Whether this capture has anything for it; without it, always. */
  when?: (capture: Capture) => boolean;
}

export const VIEWS: readonly View[] = [
  { id: "overview", title: "Overview", about: "What was lost, where the time went, what holds it back", component: Overview },
  { id: "timeline", title: "Timeline", about: "What ran when", component: Timeline },
  { id: "tables", title: "Tables", about: "Every sum, by whatever you ask", component: Tables },
  { id: "findings", title: "Findings", about: "What holds the program back, and what to do", component: Findings },
  { id: "roofline", title: "Roofline", about: "How far operations are from what the device allows", component: Roofline },
  { id: "flame", title: "Flame", about: "Time by scope, Python function or module", component: Flame },
  { id: "memory", title: "Memory", about: "What needs memory, and when", component: Memory },
  { id: "source", title: "Source", about: "Your lines, with what each did", component: Source },
  { id: "graph", title: "Graph", about: "The compiled program around one operation", component: Graph, when: (capture) => capture.has["hlo"] !== false },
];
