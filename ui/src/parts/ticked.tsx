// Words of the program: text in which `ticks` are code.

import { visible } from "../format";

export function Ticked(props: { text: string }) {
  return <>{visible(props.text).split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>;
}
