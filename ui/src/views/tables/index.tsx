// Every table: chosen by topic and by what it sums, sorted, filtered, its rows shown in the timeline.

import { useEffect, useState } from "preact/hooks";
import { keep, place, selection } from "../../address";
import { capture } from "../../context";
import type { Topic } from "../../source/types";
import { Grid } from "./grid";
import { SelectedTables } from "./selected";

/** The topic of what is chosen. */
const SELECTION = "selection";

export default function Tables() {
  const whole = (capture.value?.topics ?? []).filter((topic) => topic.views.length > 0);
  const topics = whole.map((topic) => ({ ...topic, views: topic.views.filter((one) => one.answered !== false) })).filter((topic) => topic.views.length > 0);
  const params = place.peek().params;
  const picked = selection();
  const [topicId, setTopic] = useState(params.get("topic") ?? (picked === undefined ? topics[0]?.id : SELECTION));
  const isSelected = picked !== undefined && topicId === SELECTION;
  const topic = topics.find((one) => one.id === topicId) ?? topics[0];
  const [viewId, setView] = useState(params.get("view") ?? preferred(topic));
  const view = topic?.views.find((one) => one.id === viewId) ?? topic?.views[0];
  useEffect(() => {
    if (isSelected) keep({ topic: SELECTION, view: undefined });
    else if (topic !== undefined && view !== undefined) keep({ topic: topic.id, view: view.id });
  }, [isSelected, topic?.id, view?.id]);
  if (topic === undefined || view === undefined) return <p>This capture has no tables.</p>;
  const pick = (next: Topic, id: string | undefined) => {
    setTopic(next.id);
    setView(id);
    keep({ sort: undefined, desc: undefined, hidden: undefined });
  };
  const empty = (whole.find((one) => one.id === topic.id)?.views ?? []).filter((one) => one.answered === false);
  return (
    <div class="tables">
      <div class="choice">
        {(topics.length > 1 || picked !== undefined) && (
          <div class="tabs" role="group" aria-label="Topic">
            {picked !== undefined && <button type="button" aria-pressed={isSelected} onClick={() => setTopic(SELECTION)}>Selection</button>}
            {topics.map((one) => <button key={one.id} type="button" aria-pressed={!isSelected && one.id === topic.id} onClick={() => pick(one, preferred(one))}>{one.title}</button>)}
          </div>
        )}
        {!isSelected && <div class="tabs small" role="group" aria-label="Table">
          {topic.views.map((one) => <button key={one.id} type="button" aria-pressed={one.id === view.id} data-about={one.about} onClick={() => pick(topic, one.id)}>{one.title}</button>)}
        </div>}
        {!isSelected && empty.length > 0 && <p class="quiet nothing">This capture has nothing by {empty.map((one) => one.title).join(", ")}.</p>}
      </div>
      {isSelected ? <SelectedTables of={picked} /> : <Grid key={`${topic.id}/${view.id}`} topic={topic.id} view={view.id} about={view.about} />}
    </div>
  );
}

/** What most people ask for first. */
const FIRST = ["op", "operator", "kernel"];
const preferred = (topic: Topic | undefined) => (topic?.views.find((view) => FIRST.includes(view.id)) ?? topic?.views[0])?.id;
