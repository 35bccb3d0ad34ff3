// The server's places of operations, made into boxes and curves in pixels. What is opened in place makes its column wider
// and its layer higher; nothing else moves from its place among the others.

export interface GraphNode {
  id: number | string; name: string; opcode: string; x: number; y: number; text: string; self_ns: number | null;
  shape?: string | null; category?: string | null; distance?: number; source?: { file: string; line: number } | null;
  scope?: string | null; subject?: string | null; caller?: string | null; inside?: { computation: string; root: string | null }[];
}
/** Places are counted in boxes; edges are between positions of nodes. */
export interface GraphAnswer { nodes: GraphNode[]; edges: [number, number][]; cut?: boolean }
export interface Box { node: GraphNode; x: number; y: number; width: number; height: number; isOpen: boolean }
export interface Drawn { boxes: Box[]; edges: string[]; width: number; height: number }

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [206, 40, 24, 44, 20];
const [STEP_X, STEP_Y] = [WIDTH + GAP_X, HEIGHT + GAP_Y];
/** Of an opened box, above what is inside. */
const TITLE = 40;

/** From the foot of one box to the head of another. */
type Edge = [x1: number, y1: number, x2: number, y2: number];

/** A graph with what is inside of those operations that are opened, by their names. */
export function drawn(graph: GraphAnswer, opened: ReadonlyMap<string, GraphAnswer>): Drawn {
  const { edges, ...rest } = placed(graph, opened, "", []);
  return { ...rest, edges: edges.map(curve) };
}

function placed(graph: GraphAnswer, opened: ReadonlyMap<string, GraphAnswer>, prefix: string, above: readonly string[]): Omit<Drawn, "edges"> & { edges: Edge[] } {
  const inner = graph.nodes.map((node) => {
    const inside = opened.get(node.name);
    // A damaged program may seem to run itself.
    return inside === undefined || above.includes(node.name) ? undefined : placed(inside, opened, `${prefix}${node.id}/`, [...above, node.name]);
  });
  const sizes = inner.map((inside) => (inside === undefined ? { width: WIDTH, height: HEIGHT } : { width: Math.max(WIDTH, inside.width), height: TITLE + inside.height }));
  const x = axis(graph.nodes.map((node, at) => [node.x, (sizes[at]?.width ?? 0) - WIDTH]), STEP_X);
  const y = axis(graph.nodes.map((node, at) => [node.y, (sizes[at]?.height ?? 0) - HEIGHT]), STEP_Y);
  const own: Box[] = graph.nodes.map((node, at) => ({ node: prefix === "" ? node : { ...node, id: `${prefix}${node.id}` }, x: x(node.x), y: y(node.y), width: WIDTH, height: HEIGHT, ...sizes[at], isOpen: inner[at] !== undefined }));
  const boxes = [...own];
  const edges = graph.edges.flatMap(([from, to]) => edge(own[from], own[to]));
  inner.forEach((inside, at) => {
    const box = own[at];
    if (inside === undefined || box === undefined) return;
    const [right, down] = [box.x + (box.width - inside.width) / 2, box.y + TITLE];
    boxes.push(...inside.boxes.map((one) => ({ ...one, x: one.x + right, y: one.y + down })));
    edges.push(...inside.edges.map(([x1, y1, x2, y2]): Edge => [x1 + right, y1 + down, x2 + right, y2 + down]));
  });
  return { boxes, edges, width: Math.max(0, ...own.map((box) => box.x + box.width)) + EDGE, height: Math.max(0, ...own.map((box) => box.y + box.height)) + EDGE };
}

/** From places to pixels, where some take more pixels than a step: what begins behind them moves by that. */
function axis(places: readonly (readonly [at: number, more: number])[], step: number): (place: number) => number {
  const first = Math.min(0, ...places.map(([at]) => at));
  const wide = places.filter(([, more]) => more > 0);
  // Between two ends of wide places, the widest of those that are there decides.
  const ends = [...new Set(wide.flatMap(([at]) => [at, at + 1]))].sort((one, other) => one - other);
  const stretches = ends.slice(1).map((to, n) => {
    const from = ends[n] as number;
    return { from, to, more: Math.max(0, ...wide.filter(([at]) => at <= from && at + 1 >= to).map(([, more]) => more)) };
  });
  return (place) => EDGE + (place - first) * step + stretches.reduce((sum, { from, to, more }) => sum + more * Math.max(0, Math.min(place, to) - from), 0);
}

function edge(from: Box | undefined, to: Box | undefined): Edge[] {
  return from === undefined || to === undefined ? [] : [[from.x + from.width / 2, from.y + from.height, to.x + to.width / 2, to.y]];
}

function curve([x1, y1, x2, y2]: Edge): string {
  const bend = Math.max(14, Math.min(120, Math.abs(y2 - y1) / 2));
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}
