// A table within another view: one of a topic, and links to the others.

import { link } from "../../address";
import { capture } from "../../context";
import type { ViewOfTopic } from "../../source/types";
import { Grid } from "./grid";

/** The tables of a topic that this capture answers. */
export function answered(topic: string): ViewOfTopic[] {
  return (capture.value?.topics.find((one) => one.id === topic)?.views ?? []).filter((view) => view.answered !== false);
}

/** The table called `first`, else the first there is, of `views` of a topic. */
export function TableAmong({ topic, views, first }: { topic: string; views: readonly ViewOfTopic[]; first?: string }) {
  const shown = views.find((view) => view.id === first) ?? views[0];
  if (shown === undefined) return null;
  const others = views.filter((view) => view !== shown);
  return (
    <section class="among" aria-label={`By ${shown.title}`}>
      <h2>By {shown.title}</h2>
      <Grid topic={topic} view={shown.id} about={shown.about} />
      {others.length > 0 && <p>More tables: {others.map((view) => <><a href={link("tables", { topic, view: view.id })}>{view.title}</a>{" "}</>)}</p>}
    </section>
  );
}
