// A drawing as a file: as it is (SVG), as a picture (PNG), as its numbers (CSV).

import type { RefObject } from "preact";
import { say } from "../context";
import type { Cell } from "../source/types";
import { csvOf, save, savePng, saveSvg } from "./save";

/** `of` is the drawing, or makes one of what the page shows by other means. */
export function SaveAs(props: { of: RefObject<SVGSVGElement | null> | (() => SVGSVGElement); name: string; rows: () => readonly (readonly Cell[])[] }) {
  const { name } = props;
  const drawn = (act: (drawing: SVGSVGElement) => unknown) => async () => {
    if (typeof props.of !== "function") return void (props.of.current !== null && (await act(props.of.current)));
    // Only what is in the page has computed colors.
    const made = props.of();
    made.classList.add("sr");
    document.body.append(made);
    try {
      await act(made);
    } finally {
      made.remove();
    }
  };
  return (
    <span class="save-as">
      <span class="quiet">Save as</span>{" "}
      <button type="button" onClick={drawn((drawing) => saveSvg(drawing, name))}>SVG</button>{" "}
      <button type="button" onClick={drawn((drawing) => savePng(drawing, name).catch(() => say("This browser can't export images.")))}>PNG</button>{" "}
      <button type="button" onClick={() => save(`${name}.csv`, csvOf(props.rows()), "text/csv")}>CSV</button>
    </span>
  );
}
