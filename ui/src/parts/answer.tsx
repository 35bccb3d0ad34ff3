// Asks for something and shows it, or that it is awaited, or why it is not there.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, reason, source } from "../context";
import type { Query } from "../source/source";
import { Ticked } from "./ticked";

type State<T> = { is: "awaited" } | { is: "there"; value: T } | { is: "missing"; text: string; hint?: string };

/** The answer to a question, as a state that a component follows. */
export function useAnswer<T>(path: string, query?: Query): State<T> {
  const key = path + JSON.stringify(query ?? {});
  const [state, setState] = useState<State<T> & { key?: string }>({ is: "awaited" });
  useEffect(() => {
    let wanted = true;
    ask<T>(path, query)
      .then((value) => wanted && setState({ is: "there", value, key }))
      .catch((error: unknown) => wanted && setState({ is: "missing", ...reason(error), key }));
    return () => {
      wanted = false;
    };
  }, [key]);
  return state.key === key || state.is === "awaited" ? state : { is: "awaited" };
}

/** `children` of the answer, once it is there. */
export function Answer<T>(props: { path: string; query?: Query; children: (value: T) => ComponentChildren }) {
  const state = useAnswer<T>(props.path, props.query);
  if (state.is === "awaited") return <Awaited />;
  if (state.is === "missing") return <Missing text={state.text} hint={state.hint} />;
  return <>{props.children(state.value)}</>;
}

export function Awaited() {
  return <p class="awaited" aria-busy="true">Reading …</p>;
}

export function Missing(props: { text: string; hint?: string | undefined }) {
  return (
    <div class="missing" role="note">
      <p><Ticked text={props.text} /></p>
      {props.hint !== undefined && <p class="quiet"><Ticked text={props.hint} /></p>}
      {!source().live && source().leftOut.length > 0 && (
        <ul class="quiet">{source().leftOut.map((line) => <li>{line}</li>)}</ul>
      )}
    </div>
  );
}
