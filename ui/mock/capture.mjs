// A made-up capture for trying and testing the page without the server: two devices, a host, steps, and names that mean harm.
//
// It is a pure function of its arguments, so that tests can say what they expect.

export const HOSTILE = "<img src=x onerror=\"document.title='harmed'\">";
const CAUSES = [{ name: "host late", about: "the host came late" }, { name: "launch latency", about: "the launch took its time" }];
const NAMES = ["dot_fusion", "copy.12", "softmax_kernel<float, 4>", HOSTILE, "all-reduce.3", "loop_add_fusion", "void cutlass::Kernel2<bf16_s16816gemm>(Params)"];

/** Random numbers that are the same each time (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Tracks of events, sorted by start: `{ id, name, lanes, events: [{ row, start, duration, lane, category, name }] }`. */
export function tracks(count, per, span) {
  const next = random(7);
  let row = 0;
  return Array.from({ length: count }, (_, id) => {
    const events = [];
    const lanes = id % 3 === 2 ? 2 : 1;
    const free = new Array(lanes).fill(0);
    for (let n = 0; n < per; n += 1) {
      const lane = n % lanes;
      const room = (span * lanes) / per;
      const start = Math.round(free[lane] + next() * room * 0.55);
      const duration = Math.max(1, Math.round(next() * room * 1.4));
      if (start + duration > span) break;
      free[lane] = start + duration;
      const name = Math.floor(next() * NAMES.length);
      events.push({ row: row++, start, duration, lane, category: name, name: NAMES[name] });
    }
    return { id, name: id === 1 ? HOSTILE : `Stream #${id}`, lanes, events };
  });
}

const COLUMNS = 1024;
const MOST_EVENTS = 4096;

/** A tile as docs/web-api.md has it. */
export function tile(track, level, index) {
  const width = COLUMNS * 2 ** level;
  const start = index * width;
  const inside = track.events.filter((event) => event.start < start + width && event.start + event.duration > start);
  return inside.length <= MOST_EVENTS ? eventTile(inside, start) : columnTile(inside, start, level);
}

function columnTile(events, start, level) {
  const width = 2 ** level;
  const cells = new Map();
  for (const event of events) {
    const first = Math.max(0, Math.floor((event.start - start) / width));
    const last = Math.min(COLUMNS - 1, Math.floor((event.start + event.duration - 1 - start) / width));
    for (let column = first; column <= last; column += 1) {
      const key = column * 65536 + event.lane;
      const cell = cells.get(key) ?? { column, lane: event.lane, busy: 0, count: 0, by: new Map() };
      const from = start + column * width;
      const busy = Math.min(event.start + event.duration, from + width) - Math.max(event.start, from);
      cell.busy += busy;
      cell.count += 1;
      cell.by.set(event.category, (cell.by.get(event.category) ?? 0) + busy);
      cells.set(key, cell);
    }
  }
  const all = [...cells.values()].sort((a, b) => a.column - b.column || a.lane - b.lane);
  const n = all.length;
  const parts = [head(0, start, n), Buffer.from(Uint16Array.from(all, (c) => c.column).buffer), Buffer.from(Uint16Array.from(all, (c) => c.lane).buffer), Buffer.from(Uint8Array.from(all, (c) => [...c.by].sort((a, b) => b[1] - a[1])[0][0]))];
  return Buffer.concat([padded(Buffer.concat(parts)), Buffer.from(Float32Array.from(all, (c) => c.busy / width).buffer), Buffer.from(Uint32Array.from(all, (c) => c.count).buffer)]);
}

function eventTile(events, start) {
  const names = [...new Set(events.map((event) => event.name))];
  const text = Buffer.from(JSON.stringify(names));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const before = Buffer.concat([
    head(1, start, events.length),
    Buffer.from(Uint32Array.from(events, (e) => e.row).buffer),
    Buffer.from(Float64Array.from(events, (e) => e.start - start).buffer),
    Buffer.from(Float64Array.from(events, (e) => e.duration).buffer),
    Buffer.from(Uint16Array.from(events, (e) => e.lane).buffer),
    Buffer.from(Uint8Array.from(events, (e) => e.category)),
  ]);
  return Buffer.concat([padded(before), Buffer.from(Uint32Array.from(events, (e) => names.indexOf(e.name)).buffer), length, text]);
}

function head(mode, start, n) {
  const bytes = Buffer.alloc(20);
  bytes.write("RLT1", 0, "latin1");
  bytes.writeUInt8(mode, 4);
  bytes.writeBigInt64LE(BigInt(start), 8);
  bytes.writeUInt32LE(n, 16);
  return bytes;
}

/** Sums of a selection, devices and host apart; busy time is the union of each device. */
function chosen(all, category, query) {
  const [from, to] = [Number(query.get("from")), Number(query.get("to"))];
  const ids = new Set((query.get("tracks") ?? "").split(",").flatMap((part) => { const [first, last = first] = part.split("-").map(Number); return Array.from({ length: last - first + 1 }, (_, n) => first + n); }));
  const where = (query.get("where") ?? "").replace(/^name~/, "");
  const inside = all.filter((track) => ids.has(track.id)).flatMap((track) => track.events.filter((event) => event.start < to && event.start + event.duration > from && event.name.includes(where)).map((event) => ({ ...event, track })));
  const clip = (event) => Math.min(to, event.start + event.duration) - Math.max(from, event.start);
  const union = (events) => {
    let [sum, until] = [0, -Infinity];
    for (const event of [...events].sort((one, other) => one.start - other.start)) {
      const [start, end] = [Math.max(from, event.start, until), Math.min(to, event.start + event.duration)];
      sum += Math.max(0, end - start);
      until = Math.max(until, end);
    }
    return sum;
  };
  const list = (events, key, subject) => {
    const sums = new Map();
    for (const event of events) {
      const sum = sums.get(key(event)) ?? { name: key(event), subject: subject(event), self_ns: 0, total_ns: 0, events: 0 };
      sum.self_ns += clip(event);
      sum.total_ns += clip(event);
      sum.events += 1;
      sums.set(key(event), sum);
    }
    const whole = events.reduce((sum, event) => sum + clip(event), 0);
    return { rows: [...sums.values()].map((row) => ({ ...row, share: row.self_ns / Math.max(1, whole) })).sort((one, other) => other.self_ns - one.self_ns), rest: null };
  };
  const side = (name, events, owners) => {
    const lengths = events.map((event) => event.duration).sort((one, other) => one - other);
    const buckets = new Map();
    for (const length of lengths) buckets.set(2 ** Math.floor(Math.log2(length)), (buckets.get(2 ** Math.floor(Math.log2(length))) ?? 0) + 1);
    const at = (part) => lengths[Math.round((lengths.length - 1) * part)];
    const busy = owners.map((owner) => ({ name: owner.name, subject: null, busy_ns: union(events.filter(owner.has)) })).filter((owner) => owner.busy_ns > 0).map((owner) => ({ ...owner, share: owner.busy_ns / Math.max(1, to - from) }));
    return {
      side: name, events: events.length, self_ns: events.reduce((sum, event) => sum + clip(event), 0), busy_ns: busy.reduce((sum, one) => sum + one.busy_ns, 0), busy,
      durations: { least_ns: at(0), p50_ns: at(0.5), p90_ns: at(0.9), p99_ns: at(0.99), most_ns: at(1), buckets: [...buckets] },
      by: { name: list(events, (event) => event.name, () => "name:1"), op: list(events, (event) => event.name, () => "op:1"), category: list(events, (event) => category[event.category].name, () => null), range: list(events, () => "(outside every range)", () => null), track: list(events, (event) => event.track.name, () => null), line: list(events, () => "/home/somebody/solver.py:4", () => "source:4:/home/somebody/solver.py") },
    };
  };
  const devices = [0, 1].map((device) => ({ name: `/device:GPU:${device}`, has: (event) => event.track.id % 3 === device }));
  const threads = all.filter((track) => track.id % 3 === 2).map((track) => ({ name: track.name, has: (event) => event.track === track }));
  const sides = [side("device", inside.filter((event) => event.track.id % 3 !== 2), devices), side("host", inside.filter((event) => event.track.id % 3 === 2), threads)];
  return { events: inside.length, steps: 2, tracks: [...ids], sides: sides.filter((one) => one.events > 0) };
}

/** Two of eight steps beside each other, as docs/web-api.md has them; `change` moves the events of the second. */
function beside(all, category, query, [first, second], change = (event) => event) {
  const long = Math.max(first.to - first.from, second.to - second.from);
  const [from, to] = [Number(query.get("from") ?? 0), Number(query.get("to") ?? long)];
  const half = ({ title, row, from: start, to: end }, moved) => ({
    title, row, start_ns: start, long_ns: end - start, deeper_left_out: 0,
    tracks: all.slice(0, 4).map((track) => {
      const begun = {};
      const inside = track.events.filter((event) => event.start >= start && event.start < end).map((event) => moved({ ...event, start: event.start - start }));
      return { name: track.name, pieces: inside.filter((event) => event.duration > 0).map((event) => [event.lane, event.start, event.duration, event.category, event.category, (begun[event.name] = (begun[event.name] ?? -1) + 1), 1, event.duration, event.row]).filter(([, at, duration]) => at + duration > from && at < to) };
    }),
  });
  const halves = [half(first, (event) => event), half(second, change)];
  const sums = (side) => NAMES.map((name, at) => side.tracks.flatMap((track) => track.pieces).filter((piece) => piece[4] === at).reduce(([ns, n], piece) => [ns + piece[2], n + 1], [0, 0]));
  const [one, other] = halves.map(sums);
  const rows = NAMES.map((name, at) => [name, one[at][0], other[at][0], one[at][1], other[at][1]]).sort((a, b) => Math.abs(b[2] - b[1]) - Math.abs(a[2] - a[1]));
  return {
    long_ns: long, from_ns: from, to_ns: to, names: NAMES, categories: category, tracks_left_out: 2, halves,
    differences: { totals: [["in all", first.to - first.from, second.to - second.from], ["devices busy", 7e6, 9e6]], lists: [{ side: "device", rows, rest: null }, { side: "host", rows: [], rest: null }, { side: "idle", rows: [["host late", 1e6, 3e6, 10, 12]], rest: null }] },
  };
}

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

/** Answers of a capture by path and parameters; `undefined` where there is none. */
export function answers({ count = 6, per = 4000, span = 80_000_000, sizes = 2, modules: modulesOf = 1 } = {}) {
  const all = tracks(count, per, span);
  const byRow = new Map(all.flatMap((track) => track.events.map((event) => [event.row, { ...event, track: track.id }])));
  const place = (event) => ({ row: event.row, start_ns: event.start, duration_ns: event.duration, track: byRow.get(event.row).track });
  const ref = (event) => [event.row, event.start, event.duration, event.track];
  const fact = (key, title, value, unit, share = null) => ({ key, title, value, unit, share, definition: `what ${title.toLowerCase()} means`, basis: "measured" });
  const category = NAMES.map((name, id) => ({ id, name: ["matmul", "copy", "softmax", HOSTILE, "collective", "elementwise", "gemm"][id], color_index: id }));
  const column = (id, title, unit, about) => ({ id, title, unit, about, type: unit === "text" ? "text" : "number", basis: unit === "text" ? null : "measured" });
  const ops = Array.from({ length: 3000 }, (_, n) => [`${NAMES[n % NAMES.length]}.${n}`, n % 17 === 0 ? null : (3000 - n) * 1000, (3000 - n) / 4501500, (n * 7) % 100]);

  const table = (topic, query) => {
    let rows = ops.map((row, at) => [row, at]);
    if (query.get("filter")) rows = rows.filter(([row]) => row[0].toLowerCase().includes(query.get("filter").toLowerCase()));
    const by = ["op", "self_ns", "self_share", "events"].indexOf(query.get("sort"));
    if (by >= 0) rows.sort(([a], [b]) => (query.get("desc") ? -1 : 1) * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
    const offset = Number(query.get("offset") ?? 0);
    const shown = rows.slice(offset, offset + Number(query.get("limit") ?? rows.length));
    return {
      title: `Operations of ${topic}`, total: rows.length, notes: ["a note on the table"], facts: [],
      columns: [column("op", "Operation", "text", "HLO instruction"), column("self_ns", "Self", "ns", "self time"), column("self_share", "Share", "share", "part of all self time"), column("events", "Events", "count", "times it ran")],
      rows: shown.map(([row]) => row), subjects: shown.map(([row, at]) => (at % 5 === 0 ? null : { kind: "op", text: row[0], id: `op:${at}` })),
    };
  };
  const finding = (rule, level, message, share) => ({
    rule, level, message, location: { file: "/home/somebody/solver.py", line: 22, inferred: false, text: "solver.py:22" }, subjects: [{ kind: "operation", text: NAMES[0], id: "op:1", count: 2 }],
    evidence: [{ says: "in copies of `copy.12`", value: 891e6, unit: "ns", basis: "measured" }], because: null, why: "each update copies the array", help: "write `jnp.concatenate` once",
    holds_share: share, saving: { low_ns: 0, high_ns: 5e6, share_low: 0, share_high: 0.1, per: "step", basis: "bound", refused: null },
  });
  const tree = (depth, name, ns) => ({ name, total_ns: ns, self_ns: depth === 0 ? ns : ns * 0.2, children: depth === 0 ? [] : [tree(depth - 1, `${name}/a`, ns * 0.5), tree(depth - 1, HOSTILE, ns * 0.3)] });

  return (path, query) => {
    const [first, ...rest] = path.split("/").map(decodeURIComponent);
    switch (path) {
      case "capture": return {
        ridgeline: "0.0.0-mock", title: `solver ${HOSTILE}`, files: [{ name: "rank0.xplane.pb", format: "xplane" }], span_ns: span,
        lost: [{ severity: "lost", text: `3 events of ${HOSTILE} could not be read` }, { severity: "info", text: "launches of 12 kernels are outside" }],
        overview: [{ title: "Overview", facts: [fact("wall_ns", "Wall time", span, "ns"), fact("busy_ns", "Any device busy", span * 0.6, "ns", 0.6), fact("idle_compile_ns", "Idle, compiling", span * 0.1, "ns", 0.1), fact("idle_other_ns", "Idle, other", span * 0.3, "ns", 0.3)] }, { title: "GPU:0", facts: [fact("busy_ns", "Busy", span * 0.6, "ns", 0.6)] }],
        topics: [{ id: "stats", title: "Time", views: [{ id: "op", title: "op", about: "HLO operation" }, { id: "kernel", title: "kernel", about: "Kernel" }] }, { id: "roofline", title: "Roofline", views: [{ id: "op", title: "op", about: "HLO operation" }] }, { id: "memory", title: "Memory", views: [{ id: "module", title: "module", about: "Planned by module" }] }, { id: "idle", title: "Idle", views: [{ id: "host", title: "host", about: "host activity during idle time" }] }, { id: "transfers", title: "Transfers", views: [{ id: "direction", title: "direction", about: "direction" }, { id: "size", title: "size", about: "size" }] }],
        has: { hlo: true, steps: true, several_steps: true, roofline: true, collectives: true, memory: true, source: true, idle: true, transfers: true, offload: true, compare: true, scaling: true, query: true },
      };
      case "export": return Buffer.from("a trace");
      case "findings": return { headline: "step 17.3 ms · device busy 60.0% · 2 causes hold 40%", verdict: { state: "partly", reasons: [{ rule: "no-host-events", message: `the host of ${HOSTILE} is not there`, blocks: ["idle time"], command: "ridgeline record -- python solver.py" }] }, findings: [{ ...finding("sequential-updates", "warning", "24 updates of one `f64[6]` wait for one another", 0.35), saving: { low_ns: 1.6e6, high_ns: 2.4e6, share_low: 0.16, share_high: 0.24, per: "step", basis: "replay", refused: null } }, { ...finding("many-small-kernels", "warning", `kernels of ${HOSTILE} are short`, 0.05), because: { rule: "sequential-updates", finding: 0 } }, finding("hot-line", "info", "one line has 63% of the time", null), finding("out-of-memory", "info", "a request could not be met", 0)], rules: [{ rule: "late-warmup", state: "none", findings: 0, why: null, command: null }, { rule: "host-pause", state: "cannot tell", findings: 0, why: "the capture has no host events", command: "ridgeline record -- python solver.py" }] };
      case "timeline": return {
        span_ns: span, categories: category, counters: [{ id: "memory-0", name: "memory", unit: "bytes" }],
        steps: Array.from({ length: 8 }, (_, n) => [(span / 8) * n, (span / 8) * (n + 1), `step ${n}`]),
        groups: [0, 1, 2].map((id) => ({ id, name: id < 2 ? `/device:GPU:${id}` : "python (host)", kind: id < 2 ? "device" : "host", row: id, tracks: all.filter((track) => track.id % 3 === id).map((track) => ({ id: track.id, name: track.name, kind: "stream", lanes: track.lanes, events: track.events.length, levels: [0, Math.max(0, Math.ceil(Math.log2(span / COLUMNS)))] })) })),
      };
      case "search": {
        const text = (query.get("q") ?? "").toLowerCase();
        const found = [...byRow.values()].filter((event) => event.name.toLowerCase().includes(text));
        const after = query.has("after") ? Number(query.get("after")) : -1;
        return { count: found.length, hits: found.filter((event) => event.row > after).slice(0, 200).map((event) => ({ row: event.row, start_ns: event.start, duration_ns: event.duration, track: event.track, lane: event.lane, name: event.name })) };
      }
      case "selection": return chosen(all, category, query);
      case "steps": return { steps: Array.from({ length: 8 }, (_, n) => [100 + n, n, (span / 8) * n, (span / 8) * (n + 1), n === 5 ? 16e6 : 10e6 + n * 1e4, 6e6]), total: 8, median: 104, outlier: 105 };
      case "beside": {
        const step = (row, title) => ({ title, row, from: (span / 8) * (row - 100), to: (span / 8) * (row - 100) + (row === 105 ? span / 8 : span / 10) });
        const [one, other] = query.has("against") ? [104, 103] : [104, 105];
        return beside(all, category, query, [step(Number(query.get("one") ?? one), "step"), step(Number(query.get("other") ?? other), "step")]);
      }
      case "query": {
        const sql = query.get("sql") ?? "";
        if (!/^select/.test(sql)) return { refused: `unknown word in \`${sql}\` of ${HOSTILE}`, hints: ["there are op, kernel"] };
        return { title: "Answer", total: 3, cut: sql.includes("everything") ? "Only the first 3 rows are here." : null, took_ns: 5.3e8, columns: [column("op", "op", "text", ""), column("self_ns", "self_ns", "count", "")], rows: [[HOSTILE, 3e6], [NAMES[0], 5e6], [null, "1790000000000000001"]] };
      }
      case "query/tables": return query.has("of") ? { table: query.get("of"), columns: [["op", "Utf8       the operation"], ["self_ns", "Int64      time of itself"]] } : { tables: [["raw.event", "everything that ran"], ["stats.op", `operations of ${HOSTILE}`], ["perfetto.slice", "as Perfetto has it"]], order: "A name without its schema is looked for in raw, stats." };
      // What the tab `whatif` asks for.
      case "replay": {
        if (!query.has("changes") && query.get("finding") !== "0") return { finding: Number(query.get("finding")), predicted: true, refused: `57% of the time depends on waits of ${HOSTILE}` };
        const step = (title, long) => ({ title, row: null, from: 0, to: long });
        const found = beside(all, category, query, [step("captured", span / 8), step("predicted", span / 10)], (event) => ({ ...event, start: Math.round(event.start * 0.8), duration: event.name === NAMES[0] ? 0 : Math.round(event.duration * 0.8) }));
        const typed = (query.get("changes") ?? "").split("\n");
        const own = query.has("changes") ? { sections: [{ title: "Prediction", facts: [{ key: "saves", title: "Saves", value: "about 2 ms", unit: "text", share: null, definition: "saving of all changes together", basis: null }] }], changes: { name: "changes", title: "Changes", total: typed.length, notes: [], subjects: typed.map(() => null), columns: [column("pattern", "Pattern", "text", ""), column("events", "Events", "count", "")], rows: typed.map((line) => [`${line} ${HOSTILE}`, 40]) } } : {};
        return { ...found, ...own, differences: undefined, finding: 0, predicted: true, refused: null, step: { row: 104, number: 4 }, steps: [3, 4, 5].map((n) => [100 + n, n]), captured_ns: span / 8, replayed_ns: span / 10, rigid_share: 0.031, class_error: -0.012, limits: [`work that takes the place of ${HOSTILE} is not in it`] };
      }
      case "collectives": return { count: 3, total_ns: 9e6, exposed_ns: 4e6, rows: [...byRow.values()].filter((event) => event.name === NAMES[4]).slice(0, 3).map((event) => ({ event: ref(event), name: event.name, exposed_ns: Math.round(event.duration / 2) })) };
      case "critical": return { refused: null, total_ns: query.has("from") ? 2e6 : 8e6, kinds: [{ name: "device work", ns: 5e6 }, { name: "calls", ns: 1e6 }, { name: "host between calls", ns: 1e6 }, { name: "waits", ns: 1e6 }], count: 40, events: [...byRow.values()].filter((event) => event.name === NAMES[0]).slice(0, 40).map(ref), names: [{ name: NAMES[0], ns: 4e6, events: 40, row: 3 }, { name: HOSTILE, ns: 1e6, events: 1, row: 4 }], names_total: 2 };
      case "flows": return { count: 600, each: 2, flows: Array.from({ length: 300 }, (_, n) => [1e6 + n * 1000, 2, 1e6 + n * 1300, n % 2]) };
      case "events": return { count: 40, events: [...byRow.values()].filter((event) => event.name === NAMES[0]).slice(0, 40).map(ref) };
      case "idle": return { causes: [{ name: "host late", about: "the host came late" }, { name: "launch latency", about: "the launch took its time" }], parts: Array.from({ length: 30 }, (_, n) => [(span / 30) * n, span / 90, n % 2, null]), total: 30, left_out_ns: 0 };
      case "gap": return { cause: "host late", prev: Number(query.get("prev") ?? 3), next: Number(query.get("next") ?? 4), parts: [{ cause: "host late", duration_ns: 4000, name: HOSTILE }] };
      case "chart/roofline": return { charts: [{ device: "Maker X1", basis: "data sheet", intensity: "operations per byte of compulsory traffic", slopes: [{ name: "memory", bytes_per_sec: 3.35e12 }], roofs: [{ name: "bf16 matrix", flops_per_sec: 9.9e14 }, { name: "f32 plain", flops_per_sec: 6.7e13 }], points: NAMES.map((name, n) => ({ name, intensity: 0.4 * 4 ** n, flops_per_sec: 4e11 * 3.2 ** n, share: 0.3 / (n + 1), bound: n < 4 ? "memory" : "compute", others: [{ label: "XLA's count", intensity: 0.1 * 4 ** n }] })), share_left_out: 0.12 }] };
      case "chart/memory": return { allocators: [{ id: "memory-0", name: "cuda:0", points: Array.from({ length: 400 }, (_, n) => [(span / 400) * n, 1e9 + 8e8 * Math.sin(n / 40), 1e9, 2e9, 3]), ends_ns: Array.from({ length: 400 }, (_, n) => (span / 400) * (n + 1) - 1), peak_bytes: 1.8e9, peak_ns: (span / 400) * 63, alive_at_peak: [{ owner: HOSTILE, stack: [HOSTILE], bytes: 9e8, blocks: 3, since_ns: 100 }], unknown_at_peak_bytes: 1e8 }] };
      case "chart/alive": {
        const at = Number(query.get("at"));
        return { allocator: query.get("allocator"), at_ns: at, bytes: 1e9, alive: [{ owner: `held at ${Math.round(at / 1e6)}`, stack: [HOSTILE], bytes: 9e8, blocks: 2, since_ns: 5 }], unknown_bytes: 0 };
      }
      case "chart/idle": return {
        causes: CAUSES, devices: [0, 1].map((row) => ({
          row, name: `/device:GPU:${row} ${HOSTILE}`, capture_ns: span,
          causes: [{ ...CAUSES[0], ns: span * 0.2, share: 0.2 }, { ...CAUSES[1], ns: span * 0.1, share: 0.1 }],
          over_time: { start_ns: 0, column_ns: span / 100, columns: 100, cells: Array.from({ length: 100 }, (_, n) => [n, n % 3 === 0 ? 1 : 0, (span / 100) * Math.abs(Math.sin(n / 9))]) },
          gaps: [1024, 2048, 8192].map((from, n) => ({ from_ns: from, below_ns: from * 2, count: 90 - 30 * n, ns: from * 100, causes: [[0, from * 70], [1, from * 30]] })),
        })),
      };
      case "table/transfers/direction": return { title: "Transfers by direction", total: 1, notes: [], facts: [{ title: "Transfers", facts: [fact("bytes", "Bytes", 4e9, "bytes")] }], columns: [column("direction", "Direction", "text", ""), column("from", "From", "text", ""), column("to", "To", "text", ""), column("transfers", "Transfers", "count", ""), column("bytes", "Bytes", "bytes", ""), column("total_ns", "Time", "ns", ""), column("bytes_per_sec", "Rate", "bytes/s", "")], rows: [["host to device", "pinned", HOSTILE, 60, 4e9, 2e8, 2e10]], subjects: [{ kind: "copies", text: "host to device", id: "copies:h2d" }] };
      case "table/transfers/size": return { title: "Transfers by size", total: 2, notes: [], facts: [], columns: [column("direction", "Direction", "text", ""), column("from_bytes", "From", "bytes", ""), column("below_bytes", "Below", "bytes", ""), column("transfers", "Transfers", "count", ""), column("bytes", "Bytes", "bytes", ""), column("total_ns", "Time", "ns", ""), column("bytes_per_sec", "Rate", "bytes/s", ""), column("link_bytes_per_sec", "Link", "bytes/s", "")], rows: [["host to device", 1024, 2048, 40, 6e4, 8e5, 7.5e7, 2.6e10], ["host to device", 1 << 26, 1 << 27, 20, 3.9e9, 1.9e8, 2.05e10, 2.6e10]].slice(0, sizes), subjects: [null, null] };
      case "offload": return {
        headline: `1 of 2 boards would gain in ${HOSTILE}`, baseline: { device: "Maker X1", times: "measured", design_watts: 700 }, others: { regions: 3, share: 0.02 }, assumptions: ["every time on a board is predicted"], notes: [],
        regions: [["candidate", 0.7], ["GPU first", 0.2]].map(([verdict, part]) => ({
          name: `f: ${HOSTILE}`, location: { file: "/home/somebody/solver.py", line: 4, inferred: false }, module: "jit_step", share: part, self_ns: 5e7, calls: 40, verdict, why: "its kernels stay far below `roofs`", class: "stencil", call: { p10_ns: 6e5, p50_ns: 7e5, p90_ns: 8e5 }, headroom: 6, fix: verdict === "candidate" ? null : { name: "kernels", text: "write fewer kernels" }, launches: 4, bytes: { input: 7e6, output: 5e8, compulsory: 1e9 },
          operations: [{ name: NAMES[0], self_ns: 5e7, executions: 40 }], swings: [{ what: "clock", from_ns: 2e5, to_ns: 3e5 }],
          boards: [["v80", "Maker V80", 1e5], ["s10", "Other S10", 3e6]].map(([id, name, ns]) => ({ id, name, p10_ns: ns * 0.7, p50_ns: ns, p90_ns: ns * 2.2, speedup: { p10: 7e5 / (ns * 2.2), p50: 7e5 / ns, p90: 1e6 / ns }, program_speedup: 1.2, resident: null, break_even_calls: null, bound: "link", parts: null, energy: null, unverified: id === "s10" ? ["link"] : [] })),
        })),
      };
      case "compare": {
        const change = (what, subject, before, after, sure) => ({ what, subject, subject_before: sure ? null : `old ${HOSTILE}`, before_ns: before, after_ns: after, low_ns: sure ? (after - before) - 5e5 : null, high_ns: sure ? (after - before) + 5e5 : null, certainty: sure ? "certain" : "unknown", fate: before === 0 ? "appeared" : "both", before_count: 3, after_count: 3, location: { file: "/home/somebody/solver.py", line: 4, text: null }, why: sure ? ["it runs 3 times as often"] : [] });
        const changes = [change("operation", NAMES[0], 5e6, 9e6, true), change("idle", HOSTILE, 3e6, 1e6, true), change("copy", "host to device", 0, 4e5, false)];
        const side = (name) => ({ names: [name], units: 20, devices: 2, total_ns: 8e8, busy_share: 0.7, steps: { count: 20, least_ns: 1e7, quartile_ns: 1.1e7, median_ns: 1.2e7, third_quartile_ns: 1.3e7, most_ns: 2e7 } });
        return { verdict: { state: "slower", reasons: [], command: "ridgeline record --steps 10..40 -- python P.py" }, headline: "slower: step 12 ms → 15 ms, +25% (+20% to +30%)", doubts: [{ weight: "warns", message: "other numbers of devices", command: null }], per: "step", before: side(`/runs/${HOSTILE}`), after: side("/runs/after"), whole: { before_ns: 1.2e7, after_ns: 1.5e7, low_ns: 2.4e6, high_ns: 3.6e6, share: 0.25, share_low: 0.2, share_high: 0.3 }, options: { practical: 0.02, confidence: 0.95 }, assumption: "runs differ as much as stretches of one", by: "part", changes, divisions: { op: changes.slice(0, 1) }, measures: [{ key: "m", title: "kernels", unit: "count", about: "kernels in all", before: 20, after: 40 }], causes: [{ fate: "new", rule: "host-pause", message: `the device waits in \`${HOSTILE}\``, location: null, before_share: null, after_share: 0.2 }], notes: [{ severity: "info", message: "a note" }] };
      }
      case "scaling": return { of: "sizes", notes: [], tables: [{ name: "growth", title: "Growth", total: 1, notes: ["a note"], columns: [column("operation", "Operation", "text", "what ran"), column("exponent", "Exponent", "number", "b")], rows: [[HOSTILE, 3]], subjects: [null] }], chart: { next: 256, lines: [{ operation: HOSTILE, points: [[32, 0.03], [64, 0.25], [128, 1.92]], fit: { exponent: 3, from: [32, 0.03], to: [128, 1.92], next_s: 15.4, low_s: 12, high_s: 20 } }, { operation: "filter", points: [[128, 0.002]], fit: null }] } };
      case "sources": return { all_ns: 8e7, unknown_ns: 1e7, files: [{ name: "/home/somebody/solver.py", device_ns: 6e7, idle_ns: 0 }, { name: "/home/somebody/lost.py", device_ns: 1e7, idle_ns: 0 }], notes: [] };
      case "source": {
        const isLost = query.get("file")?.endsWith("lost.py") === true;
        const line = (number, share) => ({ line: number, text: `x = ${HOSTILE}`, function: "f", self_ns: 8e7 * share, inferred_ns: 0, share, inclusive_ns: 8e7 * share, events: 3, launches: 3, copies: 0, copy_ns: 0, idle_ns: 1e6, idle: [{ cause: "host late", activity: "python", ns: 1e6 }], flops: 3e9, bytes: 1e6, headroom: 2, bound: "memory", unknown_work_share: 0, findings: number === 4 ? [0] : [] });
        return { totals: { all_ns: 8e7 }, findings: [{ rule: "hot-line", level: "info", message: "one line takes 63% of the time" }], footnotes: [], files: [{ name: query.get("file"), text: isLost ? null : "ran", self_ns: 6e7, inferred_ns: 0, idle_ns: 0, lines: [line(4, 0.6), line(30, 0.1)].map((one) => (isLost ? { ...one, text: null } : one)), source: isLost ? null : Array.from({ length: 60 }, (_, n) => (n === 3 ? `y = ${HOSTILE}` : `    line ${n + 1}`)) }] };
      }
      case "hlo/modules": {
        const all = Array.from({ length: modulesOf }, (_, n) => ({ module: n === 0 ? "jit_step" : `jit_f${n}`, instructions: 300, self_ns: 5e7 / (n + 1) }));
        const found = all.filter((one) => one.module.includes(query.get("find") ?? ""));
        return { modules: found.slice(0, 1000), total: found.length };
      }
      case "hlo/graph": return { module: "jit_step", nodes: Array.from({ length: 24 }, (_, id) => ({ id, name: id === 5 ? HOSTILE : `fusion.${id}`, opcode: "fusion", x: id % 4, y: Math.floor(id / 4), text: `%fusion.${id} = f32[8] fusion(%p)`, shape: "f32[8,128]", self_ns: id % 3 === 0 ? 1000 * id : null, distance: Math.abs(id - 9), subject: `op:${id}`, source: { file: "/home/somebody/solver.py", line: 4 }, scope: "jit(f)/while", inside: id === 9 ? [{ computation: "fused", root: "add.1" }] : [] })), edges: Array.from({ length: 20 }, (_, id) => [id, id + 4]), cut: true };
      case "hlo/inside": return query.get("op") !== "fusion.9" ? undefined : { module: "jit_step", op: "fusion.9", computation: "fused", cut: false, edges: [[0, 1]], nodes: [0, 1].map((n) => ({ id: n, name: `inner.${n}`, opcode: "add", x: n, y: n, text: "%inner", shape: "f32[8]", self_ns: null, inside: [] })) };
      case "hlo/text": return query.has("op") ? { module: "jit_step", op: query.get("op"), text: "%whole" } : { module: "jit_step", text: `HloModule jit_step\n\n${Array.from({ length: 10000 }, (_, n) => `  %fusion.${n} = f32[8] fusion(%p) ${HOSTILE}`).join("\n")}` };
      case "chart/schedule": return { module: "jit_step", basis: "counted", positions: 300, peak_bytes: 3e9, peak_at: { position: 150, op: "fusion.5" }, width: 3, classes: ["parameter", "donated parameter", "output", "constant", "temporary", "unused"], columns: Array.from({ length: 100 }, (_, n) => [1e9, 0, 5e8, 0, 1.5e9 * Math.sin((n / 100) * Math.PI), 0]), values: [{ name: "fusion.5{1}", op: "fusion.5", class: 4, bytes: 1e9, from: 40, to: 260, source: { file: "/home/somebody/solver.py", line: 4 }, scope: HOSTILE }, { name: HOSTILE, op: null, class: 0, bytes: 1e9, from: 0, to: 299, source: null, scope: "x" }], others: 3 };
      default: break;
    }
    if (first === "table") return table(rest[0], query);
    if (first === "flame" && rest[0] === "memory") return { by: "memory", of: "memory that is held", unit: "bytes", root: { name: "all", self_bytes: 0, total_bytes: 3e9, events: 2, children: [{ name: `solver.py:4 ${HOSTILE}`, self_bytes: 3e9, total_bytes: 3e9, events: 2, children: [] }] } };
    if (first === "flame") return { by: rest[0], of: "device work", root: tree(6, "all", 8e7) };
    if (first === "counter") return { points: Array.from({ length: 200 }, (_, n) => [(span / 200) * n, 0, 1e9 + 9e8 * Math.sin(n / 9), 1e9]) };
    if (first === "durations") {
      const event = byRow.get(Number(rest[0]));
      if (event === undefined) return undefined;
      const like = [...byRow.values()].filter((other) => other.name === event.name).sort((one, other) => one.duration - other.duration);
      const at = (part) => like[Math.round((like.length - 1) * part)].duration;
      return {
        of: "operation", count: like.length, total_ns: like.reduce((sum, one) => sum + one.duration, 0), least_ns: at(0), p50_ns: at(0.5), p95_ns: at(0.95), most_ns: at(1), longest: like.at(-1).row, shorter_share: like.filter((one) => one.duration < event.duration).length / like.length,
        buckets: Array.from({ length: 32 }, (_, n) => [at(0) * (at(1) / at(0)) ** (n / 32), Math.round(300 * Math.exp(-((n - 24) ** 2) / 20))]),
        over_time: { column_ns: span / 60, columns: Array.from({ length: 60 }, (_, n) => [(span / 60) * n, 40, at(0), at(0.4 + 0.1 * Math.sin(n / 5)), at(0.95)]) },
        by_step: Array.from({ length: 8 }, (_, n) => [n, 50, 4e5 + n * 1e4, at(0.5), at(0.99)]),
      };
    }
    if (first === "event") {
      const event = byRow.get(Number(rest[0]));
      if (event === undefined) return undefined;
      return { row: event.row, name: event.name, category: category[event.category].name, track: event.track, track_name: all[event.track].name, start_ns: event.start, duration_ns: event.duration, operation: { name: event.name, id: "op:1" }, source: { file: "/home/somebody/solver.py", line: 4, known: "the Python functions that were running at its launch", basis: "measured" }, launched: event.track % 3 === 2 ? { count: 2, events: [0, 1].map((n) => ({ ...place(all[0].events[40 + n]), name: all[0].events[40 + n].name })) } : undefined, launch: event.track % 3 === 2 ? undefined : { row: all[2].events[0].row, start_ns: Math.max(0, event.start - 40000), duration_ns: 900, track: 2, name: "cudaLaunchKernel" }, flops: { value: 3.2e9, unit: "flop", basis: "counted" }, headroom: { value: 4.2, unit: "number", basis: "modelled" }, shape: { grid: [64, 1, 1], block: [128, 1, 1], registers: 40 } };
    }
    if (first === "tile") {
      const track = all[Number(rest[0])];
      return track === undefined ? undefined : tile(track, Number(rest[1]), Number(rest[2]));
    }
    if (first === "tiles") {
      return Buffer.concat((query.get("want") ?? "").split(",").flatMap((name) => {
        const [id, level, index] = name.split("/").map(Number);
        const bytes = all[id] === undefined ? Buffer.alloc(0) : tile(all[id], level, index);
        const length = Buffer.alloc(4);
        length.writeUInt32LE(bytes.length);
        return [length, bytes];
      }));
    }
    return undefined;
  };
}
