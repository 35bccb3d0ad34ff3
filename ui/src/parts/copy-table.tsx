// A button that copies a table for a spreadsheet: raw numbers with a tab between cells, the names of columns first.

import type { Cell } from "../source/types";
import { copyRows } from "./save";

export function CopyTable(props: { name: string; rows: () => readonly (readonly Cell[])[]; title?: string }) {
  return <button type="button" class="copy-table" title="With tabs, for spreadsheets" onClick={() => void copyRows(props.rows(), props.name)}>{props.title ?? "Copy"}</button>;
}
