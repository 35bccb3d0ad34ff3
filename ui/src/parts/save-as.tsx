// A drawing as a file: as it is (SVG), as a picture (PNG), as its numbers (CSV).

import type { RefObject } from "preact";
import { say } from "../context";
import type { Cell } from "../source/types";
import { csvOf, save, savePng, saveSvg } from "./save";

export function SaveAs(props: { of: RefObject<SVGSVGElement | null>; name: string; rows: () => readonly (readonly Cell[])[] }) {
  const { name } = props;
  const drawn = (act: (drawing: SVGSVGElement) => void) => () => props.of.current !== null && act(props.of.current);
  return (
    <span class="save-as">
      <span class="quiet">Save as</span>{" "}
      <button type="button" onClick={drawn((drawing) => saveSvg(drawing, name))}>SVG</button>{" "}
      <button type="button" onClick={drawn((drawing) => void savePng(drawing, name).catch(() => say("This browser can't export images.")))}>PNG</button>{" "}
      <button type="button" onClick={() => save(`${name}.csv`, csvOf(props.rows()), "text/csv")}>CSV</button>
    </span>
  );
}
