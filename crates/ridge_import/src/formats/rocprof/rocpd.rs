//! Databases of rocprofv3 (`rocpd`): raw tables, each with the run's identifier behind its name.
//!
//! Schemas 3.0 to 3.0.5 have process, thread, agent, queue and stream in every row; 4.0 and 4.1 have them in `rocpd_track`, and
//! 4.0 its times in `rocpd_timestamp`. All are asked for, and what a row does not say its track does.
//! A call and the work that it caused share the `stack_id` of their events.

use super::place::place;
use super::records::{Agent, Allocation, Call, Counted, Records, Work, kind_of_call};
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use ridge_sqlite::{Database, Row};
use ridge_trace::{EventKind, StringId};
use rustc_hash::FxHashMap;

/// How the name of the table of texts begins, which every database has.
const TEXTS: &str = "rocpd_string";
/// Databases that tools merged hold several runs; more are not looked for.
const MAX_RUNS: usize = 1 << 12;

/// Whether a database with tables of these names is one of rocprofv3.
pub(crate) fn is_one<'n>(names: impl Iterator<Item = &'n str>) -> bool {
    names.into_iter().any(|name| name.starts_with(TEXTS))
}

/// Reads the database `source` into `import`.
pub(crate) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let broken = |offset, what| ImportError::Broken { source_name: source.name.to_owned(), offset, what };
    let database = Database::open(source.bytes).map_err(|error| broken(error.offset, error.what))?;
    let runs: Vec<&str> = database.table_names().filter_map(|name| name.strip_prefix(TEXTS)).take(MAX_RUNS).collect();
    if runs.is_empty() {
        let what = format!("not a rocprofv3 database: expected a table {TEXTS}…, found none");
        return Err(broken(0, what));
    }
    for run in runs {
        let mut tables = Tables { database: &database, run, damaged: 0, offset: None };
        let mut records = Records::default();
        tables.take(&mut records, import);
        if tables.damaged > 0 {
            let message = "pages or rows of the database could not be read".to_owned();
            import.note(Severity::Lost, source.name, tables.offset, tables.damaged, message);
        }
        place(records, source, import);
    }
    Ok(())
}

/// The tables of one run.
struct Tables<'d, 'a> {
    database: &'d Database<'a>,
    run: &'d str,
    damaged: u64,
    offset: Option<u64>,
}

/// Where work or a call was.
#[derive(Debug, Clone, Copy, Default)]
struct Where {
    process: Option<i64>,
    thread: Option<i64>,
    agent: Option<i64>,
    queue: Option<i64>,
    stream: Option<i64>,
    /// What is sampled there.
    name: Option<i64>,
}

/// The columns that say where and when a row was, in every schema, as [`Spot::of`] reads them.
const SPOT: [&str; 11] =
    ["start", "end", "start_id", "end_id", "track_id", "pid", "tid", "agent_id", "queue_id", "stream_id", "event_id"];

/// [`SPOT`] of a row.
#[derive(Debug, Clone, Copy)]
struct Spot {
    times: [Option<i64>; 4],
    track: Option<i64>,
    at: Where,
    event: Option<i64>,
}

impl Spot {
    fn of(row: &Row<'_>) -> Spot {
        let [process, thread, agent, queue, stream] = [5, 6, 7, 8, 9].map(|at| row.int(at));
        Spot {
            times: [0, 1, 2, 3].map(|at| row.int(at)),
            track: row.int(4),
            at: Where { process, thread, agent, queue, stream, name: None },
            event: row.int(10),
        }
    }
}

/// What rows refer to.
struct Known {
    texts: FxHashMap<i64, String>,
    /// By event: number of the call, and category.
    events: FxHashMap<i64, (u64, Option<i64>)>,
    categories: FxHashMap<i64, String>,
    tracks: FxHashMap<i64, Where>,
    times: FxHashMap<i64, i64>,
    /// The system's numbers of processes and threads by their rows.
    processes: FxHashMap<i64, i64>,
    threads: FxHashMap<i64, i64>,
}

impl Known {
    /// Begin and end of a row; `None` where it says none.
    fn times(&self, spot: &Spot) -> Option<(u64, u64)> {
        let [start, end, start_id, end_id] = spot.times;
        let time = |id: Option<i64>| self.times.get(&id?).copied();
        let start = u64::try_from(start.or_else(|| time(start_id))?).ok()?;
        let end = end.or_else(|| time(end_id)).and_then(|end| u64::try_from(end).ok());
        Some((start, end.unwrap_or(start)))
    }

    fn place(&self, spot: &Spot) -> Where {
        let track = spot.track.and_then(|id| self.tracks.get(&id)).copied().unwrap_or_default();
        let said = spot.at;
        let process = said.process.or(track.process);
        let thread = said.thread.or(track.thread);
        Where {
            process: process.map(|id| self.processes.get(&id).copied().unwrap_or(id)),
            thread: thread.map(|id| self.threads.get(&id).copied().unwrap_or(id)),
            agent: said.agent.or(track.agent),
            queue: said.queue.or(track.queue),
            stream: said.stream.or(track.stream),
            name: track.name,
        }
    }

    fn cause(&self, spot: &Spot) -> u64 {
        spot.event.and_then(|id| self.events.get(&id)).map_or(0, |(number, _)| *number)
    }

    fn category(&self, spot: &Spot) -> &str {
        let id = spot.event.and_then(|id| self.events.get(&id)).and_then(|(_, category)| *category);
        id.and_then(|id| self.categories.get(&id).or_else(|| self.texts.get(&id))).map_or("", String::as_str)
    }

    fn text(&self, id: Option<i64>) -> &str {
        id.and_then(|id| self.texts.get(&id)).map_or("(operation without a name)", String::as_str)
    }
}

fn whole(number: Option<i64>) -> u64 {
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}

impl Tables<'_, '_> {
    /// What `visit` makes of every row of the table `rocpd_<name>`; absent columns are null, an absent table is empty.
    fn collect<V: Send>(
        &mut self,
        name: &str,
        columns: &[&str],
        visit: impl Fn(&Row<'_>) -> Option<V> + Sync,
    ) -> Vec<V> {
        let Some(table) = self.database.table(&format!("rocpd_{name}{}", self.run)) else { return Vec::new() };
        if table.without_row_id {
            self.damaged += 1;
            return Vec::new();
        }
        let columns = table.columns_called(columns);
        let scanned = self.database.scan(table, &columns, |found: &mut Vec<V>, row| found.extend(visit(row)));
        self.damaged += scanned.damaged;
        self.offset = self.offset.or(scanned.first_damage);
        scanned.parts.into_iter().flatten().collect()
    }

    fn texts(&mut self, table: &str, columns: [&str; 2]) -> FxHashMap<i64, String> {
        let text = |row: &Row<'_>| Some((row.int(0)?, row.text(1)?.into_owned()));
        self.collect(table, &columns, text).into_iter().collect()
    }

    fn numbers(&mut self, table: &str, columns: [&str; 2]) -> FxHashMap<i64, i64> {
        self.collect(table, &columns, |row| Some((row.int(0)?, row.int(1)?))).into_iter().collect()
    }

    fn known(&mut self) -> Known {
        let events = self.collect("event", &["id", "stack_id", "category_id"], |row| {
            Some((row.int(0)?, (whole(row.int(1)), row.int(2))))
        });
        let columns = ["id", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"];
        let tracks = self.collect("track", &columns, |row| {
            let [process, thread, agent, queue, stream, name] = [1, 2, 3, 4, 5, 6].map(|at| row.int(at));
            Some((row.int(0)?, Where { process, thread, agent, queue, stream, name }))
        });
        Known {
            texts: self.texts("string", ["id", "string"]),
            events: events.into_iter().collect(),
            categories: self.texts("info_category", ["id", "name"]),
            tracks: tracks.into_iter().collect(),
            times: self.numbers("timestamp", ["id", "value"]),
            processes: self.numbers("info_process", ["id", "pid"]),
            threads: self.numbers("info_thread", ["id", "tid"]),
        }
    }

    fn take(&mut self, records: &mut Records, import: &mut Import) {
        let known = self.known();
        self.agents(records);
        let begins = self.collect("info_process", &["init", "start"], |row| row.int(0).or(row.int(1)));
        records.begin_ns = begins.into_iter().filter(|begin| *begin > 0).min().map(|begin| begin as u64);
        let tags = self.collect("metadata", &["tag", "value"], |row| {
            row.text(0).filter(|tag| tag == "schema_version").and_then(|_| Some(row.text(1)?.into_owned()))
        });
        records.facts.extend(tags.into_iter().map(|version| ("rocpd schema".to_owned(), version)));
        self.kernels(&known, records, import);
        self.copies(&known, records, import);
        self.regions(&known, records, import);
        self.allocations(&known, records);
    }

    fn agents(&mut self, records: &mut Records) {
        /// Product, generic name of 4.1, name, type, number among the GPUs, vendor, and what else is known, as JSON.
        const COLUMNS: [&str; 8] =
            ["id", "type", "type_index", "vendor_name", "product_name", "generic_name", "name", "extdata"];
        let agents = self.collect("info_agent", &COLUMNS, |row| {
            let text = |at: usize| row.text(at).map(|text| text.into_owned()).filter(|text| !text.is_empty());
            let more: serde_json::Value =
                row.text(7).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            let clock = more["max_engine_clk_fcompute"].as_u64().map(|megahertz| megahertz.saturating_mul(1000));
            let agent = Agent {
                is_gpu: row.text(1).as_deref() == Some("GPU"),
                number: row.int(2).map_or_else(|| whole(row.int(0)), |number| whole(Some(number))),
                vendor: text(3),
                product: text(4),
                architecture: text(5).or_else(|| text(6)),
                cores: more["cu_count"].as_u64().filter(|count| *count > 0),
                clock_khz: clock.filter(|clock| *clock > 0),
                wave_size: more["wave_front_size"].as_u64().filter(|size| *size > 0),
            };
            Some((whole(row.int(0)), agent))
        });
        records.agents.extend(agents);
    }

    fn kernels(&mut self, known: &Known, records: &mut Records, import: &mut Import) {
        const SYMBOL: [&str; 6] =
            ["id", "display_name", "kernel_name", "group_segment_size", "arch_vgpr_count", "accum_vgpr_count"];
        let symbols: FxHashMap<i64, (String, u64, u64)> = self
            .collect("info_kernel_symbol", &SYMBOL, |row| {
                let name = [1, 2].into_iter().find_map(|at| row.text(at).filter(|name| !name.is_empty()));
                let registers = whole(row.int(4)).saturating_add(whole(row.int(5)));
                Some((row.int(0)?, (name?.into_owned(), whole(row.int(3)), registers)))
            })
            .into_iter()
            .collect();
        let mut columns = SPOT.to_vec();
        columns.extend(["kernel_id", "group_segment_size"]);
        columns.extend(["workgroup_size_x", "workgroup_size_y", "workgroup_size_z"]);
        columns.extend(["grid_size_x", "grid_size_y", "grid_size_z"]);
        let mut counted = self.counters(records, import);
        let rows = self.collect("kernel_dispatch", &columns, |row| {
            let three = |first: usize| [0, 1, 2].map(|axis| whole(row.int(first + axis)));
            Some((Spot::of(row), row.int(11)?, whole(row.int(12)), three(13), three(16)))
        });
        for (spot, kernel, local_bytes, group, items) in rows {
            let Some((start_ns, end_ns)) = known.times(&spot) else { continue };
            let at = known.place(&spot);
            let symbol = symbols.get(&kernel);
            let of_kernel = symbol.map_or(0, |(_, bytes, _)| *bytes);
            let registers = symbol.map(|(_, _, registers)| *registers);
            let detail = records.shape((items, group, of_kernel, local_bytes, registers), import);
            let name = match symbol {
                Some((name, ..)) => import.builder.strings.intern(name),
                None => import.builder.strings.intern(&format!("(kernel {kernel})")),
            };
            if let Some(values) = spot.event.and_then(|event| counted.remove(&event)) {
                records.counted.push(Counted {
                    process: whole(at.process),
                    agent: whole(at.agent),
                    stream: whole(at.stream),
                    name,
                    start_ns,
                    end_ns,
                    items,
                    group,
                    values,
                });
            }
            records.work.push(Work {
                process: whole(at.process),
                agent: whole(at.agent),
                queue: Some(whole(at.queue)),
                stream: whole(at.stream),
                start_ns,
                end_ns,
                name,
                kind: EventKind::Kernel,
                detail,
                cause: known.cause(&spot),
            });
        }
    }

    /// What was counted, by the event that it belongs to: a kernel's, but for values that were sampled.
    fn counters(&mut self, records: &mut Records, import: &mut Import) -> FxHashMap<i64, Vec<(StringId, f64)>> {
        let names = self.collect("info_pmc", &["id", "name", "symbol"], |row| {
            let name = [1, 2].into_iter().find_map(|at| row.text(at).filter(|name| !name.is_empty()));
            Some((row.int(0)?, name?.into_owned()))
        });
        let names: FxHashMap<i64, StringId> =
            names.into_iter().map(|(id, name)| (id, import.builder.strings.intern(&name))).collect();
        let rows = self.collect("pmc_event", &["event_id", "pmc_id", "value", "sample_id"], |row| {
            Some((row.int(0), row.int(1)?, row.real(2), row.int(3)))
        });
        let mut found: FxHashMap<i64, Vec<(StringId, f64)>> = FxHashMap::default();
        let mut sampled = 0;
        for (event, counter, value, sample) in rows {
            let (Some(event), None) = (event, sample) else {
                sampled += 1;
                continue;
            };
            let unknown = || import.builder.strings.intern(&format!("(counter {counter})"));
            let name = names.get(&counter).copied().unwrap_or_else(unknown);
            found.entry(event).or_default().extend(value.map(|value| (name, value)));
        }
        records.leave_out("samples of hardware counters", sampled);
        found
    }

    fn copies(&mut self, known: &Known, records: &mut Records, import: &mut Import) {
        let mut columns = SPOT.to_vec();
        columns.extend(["name_id", "src_agent_id", "dst_agent_id", "size"]);
        let rows = self.collect("memory_copy", &columns, |row| {
            Some((Spot::of(row), row.int(11), whole(row.int(12)), whole(row.int(13)), whole(row.int(14))))
        });
        for (spot, name, source, destination, bytes) in rows {
            let Some((start_ns, end_ns)) = known.times(&spot) else { continue };
            let (at, text) = (known.place(&spot), known.text(name));
            let (process, name) = (whole(at.process), import.builder.strings.intern(text));
            match records.copy(text, (source, destination), bytes, import) {
                Some((kind, agent, detail)) => records.work.push(Work {
                    process,
                    agent,
                    queue: None,
                    stream: whole(at.stream),
                    start_ns,
                    end_ns,
                    name,
                    kind,
                    detail,
                    cause: known.cause(&spot),
                }),
                None => records.calls.push(Call {
                    process,
                    thread: whole(at.thread),
                    start_ns,
                    end_ns,
                    name,
                    kind: EventKind::HostRange,
                    number: 0,
                }),
            }
        }
    }

    fn regions(&mut self, known: &Known, records: &mut Records, import: &mut Import) {
        let messages: FxHashMap<i64, String> = self
            .collect("event", &["id", "extdata"], |row| {
                let text = row.text(1).filter(|text| text.contains("\"message\""))?;
                let more: serde_json::Value = serde_json::from_str(&text).ok()?;
                Some((row.int(0)?, more["message"].as_str().filter(|text| !text.is_empty())?.to_owned()))
            })
            .into_iter()
            .collect();
        let mut columns = SPOT.to_vec();
        columns.push("name_id");
        let mut rows = self.collect("region", &columns, |row| Some((Spot::of(row), row.int(11), false)));
        // A mark of roctx takes no time and is a sample, as values of counters are.
        columns[0] = "timestamp";
        rows.extend(self.collect("sample", &columns, |row| Some((Spot::of(row), row.int(11), true))));
        for (spot, name, is_sample) in rows {
            let Some((start_ns, end_ns)) = known.times(&spot) else { continue };
            let at = known.place(&spot);
            let operation = known.text(name.or(at.name));
            let kind = kind_of_call(known.category(&spot), operation);
            if is_sample && kind != EventKind::Instant {
                continue;
            }
            let is_marker = matches!(kind, EventKind::Annotation | EventKind::Instant);
            let message = spot.event.and_then(|event| messages.get(&event)).filter(|_| is_marker);
            let name = import.builder.strings.intern(message.map_or(operation, String::as_str));
            records.calls.push(Call {
                process: whole(at.process),
                thread: whole(at.thread),
                start_ns,
                end_ns,
                name,
                kind,
                number: known.cause(&spot),
            });
        }
    }

    fn allocations(&mut self, known: &Known, records: &mut Records) {
        let mut columns = SPOT.to_vec();
        columns.extend(["type", "level", "address", "size"]);
        let mut rows = self.collect("memory_allocate", &columns, |row| {
            let is_real = row.text(12).is_none_or(|level| level == "REAL");
            let is_free = row.text(11).as_deref() == Some("FREE");
            is_real.then(|| (Spot::of(row), is_free, whole(row.int(13)), whole(row.int(14))))
        });
        rows.sort_by_key(|(spot, ..)| known.times(spot));
        let mut sizes: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
        for (spot, is_free, address, size) in rows {
            let Some((time_ns, _)) = known.times(&spot) else { continue };
            let at = known.place(&spot);
            let (agent, delta) = if is_free {
                // Releases say an address alone.
                let Some((agent, size)) = sizes.remove(&address) else { continue };
                (agent, i64::try_from(size).unwrap_or(i64::MAX).saturating_neg())
            } else {
                sizes.insert(address, (whole(at.agent), size));
                (whole(at.agent), i64::try_from(size).unwrap_or(i64::MAX))
            };
            if records.agents.get(&agent).is_some_and(|agent| agent.is_gpu) {
                let process = whole(at.process);
                records.allocations.push(Allocation { process, agent, time_ns, address, delta_bytes: delta });
            }
        }
    }
}
