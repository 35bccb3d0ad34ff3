// The server's places of operations, made into boxes and curves in pixels.

export interface GraphNode {
  id: number; name: string; opcode: string; x: number; y: number; text: string; self_ns: number | null;
  shape?: string | null; category?: string | null; distance?: number; source?: { file: string; line: number } | null;
  scope?: string | null; subject?: string | null; caller?: string | null; inside?: { computation: string; root: string | null }[];
}
export interface GraphAnswer { nodes: GraphNode[]; edges: [number, number][]; cut?: boolean }
export interface Box { node: GraphNode; x: number; y: number; width: number; height: number }

const [WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE] = [206, 40, 24, 44, 20];

/** Places are counted in boxes from the server; here they become pixels. */
export function drawn(graph: GraphAnswer): { boxes: Box[]; edges: string[]; width: number; height: number } {
  const left = Math.min(0, ...graph.nodes.map((node) => node.x));
  const top = Math.min(0, ...graph.nodes.map((node) => node.y));
  const boxes = graph.nodes.map((node) => ({ node, x: EDGE + (node.x - left) * (WIDTH + GAP_X), y: EDGE + (node.y - top) * (HEIGHT + GAP_Y), width: WIDTH, height: HEIGHT }));
  const places = new Map(boxes.map((box) => [box.node.id, box]));
  const edges = graph.edges.flatMap(([from, to]) => {
    const [a, b] = [places.get(from), places.get(to)];
    if (a === undefined || b === undefined) return [];
    const [x1, y1, x2, y2] = [a.x + WIDTH / 2, a.y + HEIGHT, b.x + WIDTH / 2, b.y];
    const bend = Math.max(14, Math.abs(y2 - y1) / 2);
    return [`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`];
  });
  const width = Math.max(...boxes.map((box) => box.x + WIDTH), 0) + EDGE;
  const height = Math.max(...boxes.map((box) => box.y + HEIGHT), 0) + EDGE;
  return { boxes, edges, width, height };
}
