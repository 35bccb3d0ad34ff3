// What is inside of operations that are opened in place, each asked for once.

import { useEffect, useState } from "preact/hooks";
import { ask, reason, say, source } from "../../context";
import type { GraphAnswer, GraphNode } from "./drawn";

const questionOf = (module: string, op: string) => ["hlo/inside", { module, op }] as const;

/** Whether there is something inside that can be drawn here. */
export const opens = (node: GraphNode, module: string) => (node.inside ?? []).some((one) => one.root !== null) && source().holds(...questionOf(module, node.name));

/** The drawings of the insides that have come, by the names of their operations. */
export function useInsides(module: string, opened: readonly string[]): ReadonlyMap<string, GraphAnswer> {
  const [come, setCome] = useState<{ module: string; drawings: ReadonlyMap<string, GraphAnswer> }>({ module, drawings: new Map() });
  useEffect(() => {
    let wanted = true;
    const asked = opened.map(async (op) => [op, await ask<GraphAnswer>(...questionOf(module, op))] as const);
    void Promise.allSettled(asked).then((answers) => {
      if (!wanted) return;
      setCome({ module, drawings: new Map(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []))) });
      const failed = answers.find((answer) => answer.status === "rejected");
      if (failed !== undefined) say(reason(failed.reason).text);
    });
    return () => {
      wanted = false;
    };
  }, [module, opened]);
  return come.module === module ? come.drawings : new Map();
}
