// Where the parts of a tree stand in an icicle: as wide as their time or memory, below what they are in.

/** A part of time in nanoseconds, or of memory in bytes. */
export interface Node { name: string; own: number; total: number; children: Node[] }

/** A part as the server tells it. */
export interface Told { name: string; self_ns?: number; total_ns?: number; self_bytes?: number; total_bytes?: number; children: Told[] }

export function nodeOf(told: Told): Node {
  return { name: told.name, own: told.self_ns ?? told.self_bytes ?? 0, total: told.total_ns ?? told.total_bytes ?? 0, children: told.children.map(nodeOf) };
}

export interface Box { key: string; node: Node; depth: number; left: number; width: number; path: number[] }

/** Parts narrower than this are in their parent's width, and cannot be seen. */
const LEAST = 0.0008;
const MOST = 6000;

/** The boxes of `root` and what is in it, wide first; left and width as parts of the whole. */
export function boxes(root: Node): Box[] {
  const made: Box[] = [];
  const waiting: Box[] = [{ key: "r", node: root, depth: 0, left: 0, width: 1, path: [] }];
  for (let box = waiting.shift(); box !== undefined && made.length < MOST; box = waiting.shift()) {
    made.push(box);
    let left = box.left;
    // What runs beside one another can add up to more than its caller: it is then drawn within its width.
    const inside = box.node.children.reduce((sum, child) => sum + child.total, 0);
    const scale = box.width / Math.max(1, inside, box.node.total);
    box.node.children.forEach((child, at) => {
      const width = child.total * scale;
      if (width >= LEAST) waiting.push({ key: `${box.key}.${at}`, node: child, depth: box.depth + 1, left, width, path: [...box.path, at] });
      left += width;
    });
  }
  return made;
}

/** How many parts have `text` in their name, and their time or memory; what is inside of a match counts once. */
export function find(root: Node, text: string): { nodes: number; sum: number; matches(node: Node): boolean } {
  const needle = text.toLowerCase();
  const matches = (node: Node) => node.name.toLowerCase().includes(needle);
  let [nodes, sum] = [0, 0];
  const waiting: [Node, boolean][] = [[root, false]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [node, inside] = next;
    const match = matches(node);
    if (match) nodes += 1;
    if (match && !inside) sum += node.total;
    for (const child of node.children) waiting.push([child, inside || match]);
  }
  return { nodes, sum, matches };
}
