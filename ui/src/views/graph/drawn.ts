// The server's places of operations, made into boxes and curves in pixels.

export interface GraphNode {
  id: number | string; name: string; opcode: string; x: number; y: number; text: string; self_ns: number | null;
  shape?: string | null; category?: string | null; distance?: number; source?: { file: string; line: number } | null;
  scope?: string | null; subject?: string | null; caller?: string | null; inside?: { computation: string; root: string | null }[];
  /** What is inside, where it is opened in place; `wide` and `tall` count boxes. */
  inner?: GraphAnswer & { computation: string }; wide?: number; tall?: number;
}
export interface GraphAnswer { nodes: GraphNode[]; edges: [number, number][]; cut?: boolean }
export interface Box { node: GraphNode; x: number; y: number; width: number; height: number }
export interface Drawn { boxes: Box[]; edges: string[]; width: number; height: number }

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [206, 40, 24, 44, 20];
const [STEP_X, STEP_Y] = [WIDTH + GAP_X, HEIGHT + GAP_Y];
/** Of an opened box, above what is inside. */
const TITLE = 40;

/** Places are counted in boxes from the server; here they become pixels. What is inside of opened ones comes behind them. */
export function drawn(graph: GraphAnswer): Drawn {
  const left = Math.min(0, ...graph.nodes.map((node) => node.x));
  const top = Math.min(0, ...graph.nodes.map((node) => node.y));
  const { boxes, edges } = placed(graph, EDGE - left * STEP_X, EDGE - top * STEP_Y);
  const width = Math.max(...boxes.map((box) => box.x + box.width), 0) + EDGE;
  const height = Math.max(...boxes.map((box) => box.y + box.height), 0) + EDGE;
  return { boxes, edges, width, height };
}

function placed(graph: GraphAnswer, left: number, top: number): { boxes: Box[]; edges: string[] } {
  const own = graph.nodes.map((node) => ({ node, x: left + node.x * STEP_X, y: top + node.y * STEP_Y, width: (node.wide ?? 1) * STEP_X - GAP_X, height: (node.tall ?? 1) * STEP_Y - GAP_Y }));
  const edges = graph.edges.flatMap(([from, to]) => {
    const [a, b] = [own[from], own[to]];
    if (a === undefined || b === undefined) return [];
    const [x1, y1, x2, y2] = [a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y];
    const bend = Math.max(14, Math.min(120, Math.abs(y2 - y1) / 2));
    return [`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`];
  });
  const boxes: Box[] = [...own];
  for (const { node, x, y, width } of own) {
    if (node.inner === undefined) continue;
    const wide = Math.max(1, ...node.inner.nodes.map((one) => one.x + 1)) * STEP_X - GAP_X;
    const nodes = node.inner.nodes.map((one) => ({ ...one, id: `${node.id}/${one.id}` }));
    const inner = placed({ ...node.inner, nodes }, x + Math.max(0, (width - wide) / 2), y + TITLE);
    boxes.push(...inner.boxes);
    edges.push(...inner.edges);
  }
  return { boxes, edges };
}
