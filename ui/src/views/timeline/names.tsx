// Names of groups, tracks and counters beside their rows; a group folds.

import { signal } from "@preact/signals";
import { keep } from "../../address";
import { plural, short, visible } from "../../format";
import { GROUP_HEIGHT, PINNED, type Row, rowsIn } from "./layout";
import { RULER, type TrackId } from "./sheet";
import { groupName } from "./labels";
import { fold, folded, hideTrack, pinTrack, raiseTrack, unfoldAll, unpinTrack } from "./state";

/** Widths of the column of names, and about that of a letter, pixels. */
const [LEAST, MOST, STEP] = [80, 700, 20];
const LETTER = 6.9;
/** How many bold letters have the room of one that is not. */
const BOLD = 0.8;
/** What stands beside a name in its row. */
const BESIDE = 42;

export const namesWidth = signal<number | undefined>(undefined);

function widen(to: number): void {
  namesWidth.value = Math.round(Math.max(LEAST, Math.min(MOST, window.innerWidth * 0.6, to)));
  keep({ names: namesWidth.value });
}

/** The edge of the column: dragged, or moved by arrows. */
export function Grip() {
  const now = () => document.querySelector(".tl-names")?.getBoundingClientRect().width ?? 200;
  const drag = (event: PointerEvent) => {
    const grip = event.currentTarget as HTMLElement;
    const [from, wide] = [event.clientX, now()];
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (moved) => widen(wide + moved.clientX - from);
    grip.onpointerup = () => (grip.onpointermove = null);
  };
  const keys = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? STEP : event.key === "ArrowLeft" ? -STEP : 0;
    if (by === 0) return;
    event.preventDefault();
    widen(now() + by);
  };
  return <div class="tl-grip" role="separator" aria-orientation="vertical" aria-label="Width of the names" aria-valuenow={namesWidth.value ?? 200} aria-valuemin={LEAST} aria-valuemax={MOST} tabIndex={0} onPointerDown={drag} onKeyDown={keys} onDblClick={() => { namesWidth.value = undefined; keep({ names: undefined }); }} />;
}

export function Names(props: { rows: readonly Row[]; scroll: number; height: number }) {
  const letters = Math.max(8, Math.floor(((namesWidth.value ?? (window.innerWidth <= 760 ? 104 : 200)) - BESIDE) / LETTER));
  const cut = (name: string) => short(visible(name), letters);
  return (
    <div class="tl-names" style={{ "--ruler": `${RULER}px` }}>
      <div class="tl-ruler-name">{folded.value.size > 0 && <button type="button" class="plain" onClick={unfoldAll}>Unfold all</button>}</div>
      <div class="tl-rows">
        {rowsIn(props.rows, props.scroll - 200, props.scroll + props.height + 200).map((row) => (
          <div key={row.key} class={`tl-name ${row.kind}${row.isBelow === true ? " below" : ""}`} style={{ top: `${row.top - props.scroll}px`, height: `${row.height}px` }}>
            {row.kind === "group" ? (
              <button type="button" aria-expanded={row.folded !== true} onClick={() => fold(row.key)} style={{ height: `${GROUP_HEIGHT}px` }} title={visible(row.name)}>
                <span class="fold" aria-hidden="true">{row.folded === true ? "▸" : "▾"}</span><b>{groupName(visible(row.name), Math.floor(letters * BOLD))}</b>
              </button>
            ) : row.track !== undefined && row.track.lanes > 1 ? (
              <button type="button" aria-expanded={row.folded !== true} onClick={() => fold(row.key)} title={titleOf(row)}>
                <span class="fold" aria-hidden="true">{row.folded === true ? "▸" : "▾"}</span><span class="words">{cut(row.name)}</span>
              </button>
            ) : (
              <span title={titleOf(row)}>{row.isBelow === true ? <><span aria-hidden="true">Queue</span><span class="sr">{visible(row.name)}</span></> : row.track === undefined ? groupName(visible(row.name), letters) : cut(row.name)}</span>
            )}
            {row.kind === "track" && row.track !== undefined && <Acts track={row.track.id} name={row.name} isPinned={row.group?.id === PINNED} />}
          </div>
        ))}
      </div>
    </div>
  );
}

/** What can be done with a track; seen where it is pointed at or has the keyboard. */
function Acts(props: { track: TrackId; name: string; isPinned: boolean }) {
  const name = visible(props.name);
  return (
    <span class="tl-acts">
      {props.isPinned ? <>
        <button type="button" onClick={() => raiseTrack(props.track)} aria-label={`Move ${name} up`} title="Move up">↑</button>
        <button type="button" onClick={() => unpinTrack(props.track)} aria-label={`Unpin ${name}`} title="Unpin">⊥</button>
      </> : <>
        <button type="button" onClick={() => pinTrack(props.track)} aria-label={`Pin ${name}`} title="Pin to the top">⊤</button>
        <button type="button" onClick={() => hideTrack(props.track)} aria-label={`Hide ${name}`} title="Hide">×</button>
      </>}
    </span>
  );
}

const titleOf = (row: Row) => (row.track === undefined ? visible(row.name) : `${visible(row.name)}: ${plural(row.track.events, "event")}`);
