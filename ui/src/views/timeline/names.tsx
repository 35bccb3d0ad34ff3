// Names of groups, tracks and counters beside their rows; a group folds.

import { plural, visible } from "../../format";
import { GROUP_HEIGHT, type Row, rowsIn } from "./layout";
import { RULER } from "./sheet";
import { fold, folded, unfoldAll } from "./state";

export function Names(props: { rows: readonly Row[]; scroll: number; height: number }) {
  return (
    <div class="tl-names" style={{ "--ruler": `${RULER}px` }}>
      <div class="tl-ruler-name">{folded.value.size > 0 && <button type="button" class="plain" onClick={unfoldAll}>Unfold all</button>}</div>
      <div class="tl-rows">
        {rowsIn(props.rows, props.scroll - 200, props.scroll + props.height + 200).map((row) => (
          <div key={row.key} class={`tl-name ${row.kind}`} style={{ top: `${row.top - props.scroll}px`, height: `${row.height}px` }}>
            {row.kind === "group" ? (
              <button type="button" aria-expanded={row.folded !== true} onClick={() => fold(row.key)} style={{ height: `${GROUP_HEIGHT}px` }} title={visible(row.name)}>
                <span class="fold" aria-hidden="true">{row.folded === true ? "▸" : "▾"}</span><b>{visible(row.name)}</b>
              </button>
            ) : row.track !== undefined && row.track.lanes > 1 ? (
              <button type="button" aria-expanded={row.folded !== true} onClick={() => fold(row.key)} title={titleOf(row)}>
                <span class="fold" aria-hidden="true">{row.folded === true ? "▸" : "▾"}</span><span class="words">{visible(row.name)}</span>
              </button>
            ) : (
              <span title={titleOf(row)}>{visible(row.name)}</span>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

const titleOf = (row: Row) => (row.track === undefined ? visible(row.name) : `${visible(row.name)}: ${plural(row.track.events, "event")}`);
