//! The time of a workload on a board.
//!
//! ```text
//! T        = T_in + T_launch + n · T_fill + max(T_compute, T_memory, T_onchip) + T_out
//! T_in     = buffers · α + bytes / (β · link)                         α, β fitted to a published log
//! T_fill   = depth · path / f,   and once line buffers / B            path: latencies of the longest path
//! T_compute= max over DSP, LUT: Σ count · cost / (u · R · f) / busy   and items / (lanes · f) where lanes are decided
//! T_memory = bytes / B,   B = channels · min(η · peak / channels, port · f)
//! T_onchip = max over tables on the chip: accesses / (2 · banks · f · (1 − conflict))
//! ```
//!
//! Sources of each part are in `docs/offload.md`.

use crate::draw::Draw;
use crate::parameter::Parameter;
use crate::workload::{Contraction, Stencil, Table, Workload};
use crate::{Board, Constants, Memory, MemoryKind};

/// What takes longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BoundBy {
    /// Bytes to the board and back.
    Link,
    /// Starting the kernel.
    Launch,
    /// Filling the pipeline, again in each iteration.
    Fill,
    /// DSP slices.
    Dsp,
    /// Look-up tables.
    Lut,
    /// How many items the design begins each clock.
    Lanes,
    /// The clocks of a generated core.
    Clocks,
    /// The board's memory.
    Memory,
    /// The ports to the board's memory, at the kernel's clock.
    Port,
    /// Accesses to the board's memory in an order that data decide.
    Gather,
    /// Tables on the chip.
    Tables,
    /// The last merger of a sort.
    Merge,
}

impl BoundBy {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            BoundBy::Link => "link",
            BoundBy::Launch => "launch",
            BoundBy::Fill => "fill",
            BoundBy::Dsp => "DSP",
            BoundBy::Lut => "LUT",
            BoundBy::Lanes => "lanes",
            BoundBy::Clocks => "clocks",
            BoundBy::Memory => "memory",
            BoundBy::Port => "port clock",
            BoundBy::Gather => "gather",
            BoundBy::Tables => "on-chip tables",
            BoundBy::Merge => "merger",
        }
    }
}

/// What the time of one call is made of, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Bytes to the board.
    pub input_s: f64,
    /// Starting the kernel.
    pub launch_s: f64,
    /// Filling the pipeline, over all iterations.
    pub fill_s: f64,
    /// Arithmetic.
    pub compute_s: f64,
    /// The board's memory.
    pub memory_s: f64,
    /// Tables on the chip.
    pub onchip_s: f64,
    /// Bytes back.
    pub output_s: f64,
    compute_by: BoundBy,
    memory_by: BoundBy,
}

impl Parts {
    /// The kernel alone, with data on the board.
    pub fn resident_s(&self) -> f64 {
        self.fill_s + self.compute_s.max(self.memory_s).max(self.onchip_s)
    }

    /// What is paid once, however many iterations stay on the board: transfers and launch.
    pub fn tax_s(&self) -> f64 {
        self.input_s + self.launch_s + self.output_s
    }

    /// One whole call.
    pub fn total_s(&self) -> f64 {
        self.tax_s() + self.resident_s()
    }

    /// What takes longest.
    pub fn bound(&self) -> BoundBy {
        let parts = [
            (self.input_s + self.output_s, BoundBy::Link),
            (self.launch_s, BoundBy::Launch),
            (self.fill_s, BoundBy::Fill),
            (self.compute_s, self.compute_by),
            (self.memory_s, self.memory_by),
            (self.onchip_s, BoundBy::Tables),
        ];
        parts.into_iter().max_by(|one, other| one.0.total_cmp(&other.0)).map_or(BoundBy::Launch, |(_, by)| by)
    }

    /// What takes longest with data on the board.
    pub fn resident_bound(&self) -> BoundBy {
        Parts { input_s: 0.0, output_s: 0.0, launch_s: 0.0, ..*self }.bound()
    }
}

/// The time of one call of `workload` on `board`; `None` where the board has no memory, or no cost of an operator is known.
pub fn time(workload: &Workload, board: &Board, draw: &Draw, constants: &Constants) -> Option<Parts> {
    let memory = board.memory(workload.limits.memory)?;
    let on = On { board, memory, draw, constants };
    let room = draw.get(Parameter::OnchipUse) * board.onchip_bytes.value;
    let (bandwidth, memory_by) = on.bandwidth(workload.limits.channels);
    let fits = workload.kept_bytes + workload.line_buffer_bytes <= room;
    let mut bytes = workload.bytes + if fits { 0.0 } else { workload.spilled_bytes };
    let mut fold = 1.0;
    if let Some(stencil) = &workload.stencil {
        let chained = chained(stencil, room, workload.limits.chained, bandwidth, |fold| {
            on.compute(workload, fold).map_or(0.0, |(secs, _)| secs)
        });
        bytes += chained.bytes;
        fold = chained.redundancy;
    }
    bytes += workload.contractions.iter().map(|contraction| reloaded(contraction, room)).sum::<f64>();
    let (compute_s, compute_by) = on.compute(workload, fold)?;
    let tables = on.tables(&workload.tables, room - if fits { workload.kept_bytes } else { 0.0 }, bandwidth);
    let mut parts = Parts {
        input_s: on.transfer(workload.sent(), "to_board_setup", "to_board_rate"),
        launch_s: draw.get(Parameter::Launch),
        fill_s: on.fill(workload) + workload.line_buffer_bytes.min(room) / bandwidth,
        compute_s,
        memory_s: (bytes + tables.loaded_bytes) / bandwidth,
        onchip_s: tables.onchip_s,
        output_s: on.transfer(workload.sent_back(), "from_board_setup", "from_board_rate"),
        compute_by,
        memory_by,
    };
    if tables.gather_s > parts.memory_s {
        parts.memory_by = BoundBy::Gather;
    }
    parts.memory_s = parts.memory_s.max(tables.gather_s);
    if let Some(sort) = workload.merge_sort {
        let merge = on.merge(sort, bandwidth);
        if merge > parts.compute_s {
            (parts.compute_s, parts.compute_by) = (merge, BoundBy::Merge);
        }
    }
    Some(parts)
}

/// What a call of a generated core does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CoreRun {
    /// Clocks of one iteration, while nothing waits.
    pub(crate) clocks: f64,
    /// Iterations; the host starts each of them.
    pub(crate) iterations: f64,
    /// Bytes that an iteration reads from the board's memory and writes there.
    pub(crate) moved_bytes: f64,
    /// Bytes over the link to the board, and in how many buffers.
    pub(crate) input: (f64, f64),
    /// Bytes back.
    pub(crate) output: (f64, f64),
}

/// The time of one call of a generated core on `board`, which uses one channel of its memory; `None` where it has none.
pub(crate) fn time_of_core(run: &CoreRun, board: &Board, draw: &Draw, constants: &Constants) -> Option<Parts> {
    let on = On { board, memory: board.memory(None)?, draw, constants };
    let (bandwidth, memory_by) = on.bandwidth(Some(1.0));
    let launch_s = draw.get(Parameter::Launch);
    Some(Parts {
        input_s: on.transfer(run.input, "to_board_setup", "to_board_rate"),
        launch_s,
        fill_s: (run.iterations - 1.0).max(0.0) * launch_s,
        compute_s: run.iterations * run.clocks / draw.get(Parameter::Clock),
        memory_s: run.iterations * run.moved_bytes / bandwidth,
        onchip_s: 0.0,
        output_s: on.transfer(run.output, "from_board_setup", "from_board_rate"),
        compute_by: BoundBy::Clocks,
        memory_by,
    })
}

/// A board with one draw.
struct On<'a> {
    board: &'a Board,
    memory: &'a Memory,
    draw: &'a Draw,
    constants: &'a Constants,
}

/// What tables take.
#[derive(Default)]
struct Tables {
    onchip_s: f64,
    gather_s: f64,
    /// Bytes that fill tables on the chip once.
    loaded_bytes: f64,
}

impl On<'_> {
    fn get(&self, parameter: Parameter) -> f64 {
        self.draw.get(parameter)
    }

    /// Bytes per second of `channels` channels: what the memory gives or what its ports carry at this clock.
    fn bandwidth(&self, channels: Option<f64>) -> (f64, BoundBy) {
        let channels = channels.unwrap_or(self.memory.channels).min(self.memory.channels);
        let reached = match self.memory.kind {
            MemoryKind::Hbm => Parameter::HbmRate,
            MemoryKind::Ddr => Parameter::DdrRate,
        };
        let array = self.get(reached) * self.memory.bytes_per_s.value / self.memory.channels;
        let port = self.memory.port_bytes * self.get(Parameter::Clock);
        let by = if port < array { BoundBy::Port } else { BoundBy::Memory };
        (channels * array.min(port), by)
    }

    /// Arithmetic by the scarcest resource, `fold` times over.
    fn compute(&self, workload: &Workload, fold: f64) -> Option<(f64, BoundBy)> {
        let (mut dsp, mut lut) = (0.0, 0.0);
        for operations in &workload.operations {
            let cost = self.constants.operator(self.board.family, operations.format, operations.operator)?;
            dsp += operations.count * cost.dsp;
            lut += operations.count * cost.lut;
        }
        let clock = self.get(Parameter::Clock) * self.get(Parameter::Pipeline);
        let dsp_s = fold * dsp / (self.get(Parameter::DspUse) * self.board.dsp.value * clock);
        let lut_s = fold * lut / (self.get(Parameter::LutUse) * self.board.lut.value * clock);
        let lanes_s = workload.limits.lanes.map_or(0.0, |(lanes, items)| fold * items / (lanes * clock));
        let all = [(dsp_s, BoundBy::Dsp), (lut_s, BoundBy::Lut), (lanes_s, BoundBy::Lanes)];
        all.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// Each iteration begins when the one before it has ended.
    fn fill(&self, workload: &Workload) -> f64 {
        workload.iterations * workload.path_clocks * self.get(Parameter::Depth) / self.get(Parameter::Clock)
    }

    fn transfer(&self, (bytes, buffers): (f64, f64), setup: &str, rate: &str) -> f64 {
        let alpha = self.constants.fixed(setup).value * 1e-6;
        let beta = self.constants.fixed(rate).value * 1e9 * self.board.link.times_gen3x16();
        buffers * alpha + bytes / (beta * self.get(Parameter::LinkRate))
    }

    /// The smallest tables stay on the chip as long as there is room.
    fn tables(&self, tables: &[Table], room: f64, bandwidth: f64) -> Tables {
        let mut sorted: Vec<&Table> = tables.iter().collect();
        sorted.sort_by(|one, other| one.bytes.total_cmp(&other.bytes));
        let mut room = room;
        let mut found = Tables::default();
        let ports =
            2.0 * self.get(Parameter::Banks) * self.get(Parameter::Clock) * (1.0 - self.get(Parameter::Conflict));
        for table in sorted {
            let touches = table.accesses * if table.is_updated { 2.0 } else { 1.0 };
            if table.bytes <= room {
                room -= table.bytes;
                found.loaded_bytes += table.bytes;
                found.onchip_s = found.onchip_s.max(touches * (table.access_bytes / 8.0).max(1.0) / ports);
                continue;
            }
            let granule = self.constants.fixed("granule").value;
            let moved = touches * (table.access_bytes / granule).ceil().max(1.0) * granule / bandwidth;
            let latency = match self.memory.kind {
                MemoryKind::Hbm => Parameter::HbmLatency,
                MemoryKind::Ddr => Parameter::DdrLatency,
            };
            let in_flight = self.memory.channels * self.get(Parameter::Outstanding);
            found.gather_s += moved.max(touches * self.get(latency) / in_flight);
        }
        found
    }

    /// Two phases: as many mergers as memory feeds, then one over all of it.
    fn merge(&self, sort: crate::MergeSort, bandwidth: f64) -> f64 {
        let passed = 2.0 * sort.records * sort.record_bytes / bandwidth;
        let merged = sort.records / (self.get(Parameter::MergeWidth) * self.get(Parameter::Clock));
        passed + merged.max(passed)
    }
}

/// Bytes more than each operand once, where the tiles that fit on the chip are smaller than the operands.
///
/// De Fine Licht, Kwasniewski and Hoefler, FPGA 2020: an x by y tile of the result on the chip needs MN(1 + K(1/x + 1/y))
/// words, which is least for x = y.
fn reloaded(contraction: &Contraction, room: f64) -> f64 {
    let Contraction { m, n, k, batch, element_bytes } = *contraction;
    let edge = (room / element_bytes).sqrt();
    let (x, y) = (edge.min(m), edge.min(n));
    if x <= 0.0 || y <= 0.0 {
        return 0.0;
    }
    let words = m * n * (1.0 + k * (1.0 / x + 1.0 / y));
    let once = m * n + m * k + k * n;
    (words - once).max(0.0) * batch * element_bytes
}

/// Sweeps chained on the chip.
struct Chained {
    bytes: f64,
    /// Work over that without overlapping blocks.
    redundancy: f64,
}

/// Sweeps that are tried.
const CHAINS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The best number of sweeps to chain, and the largest block whose lines fit on the chip.
///
/// Zohouri, Podobas and Matsuoka, FPGA 2018: blocks of edge b overlap by 2·r·t, so that work and traffic grow by
/// Π b / (b − 2·r·t), and each of t sweeps needs 2·r lines of a block.
fn chained(
    stencil: &Stencil,
    room: f64,
    decided: Option<f64>,
    bandwidth: f64,
    compute_s: impl Fn(f64) -> f64,
) -> Chained {
    let cells: f64 = stencil.extents.iter().product();
    let once = cells * stencil.moved_bytes * stencil.sweeps;
    let inner = stencil.extents.get(1..).unwrap_or_default();
    let try_chain = |sweeps: f64| -> Option<Chained> {
        let lines = |edge: f64| {
            let block: f64 = inner.iter().map(|extent| extent.min(edge)).product();
            2.0 * stencil.radius * sweeps * block * stencil.cell_bytes
        };
        let mut edge = inner.iter().copied().fold(1.0, f64::max);
        while lines(edge) > room && edge > 1.0 {
            edge /= 2.0;
        }
        let overlap = 2.0 * stencil.radius * sweeps;
        let grows = |extent: &f64| match edge < *extent {
            true if edge <= overlap => f64::INFINITY,
            true => edge / (edge - overlap),
            false => 1.0,
        };
        let redundancy: f64 = inner.iter().map(grows).product();
        (lines(edge) <= room && redundancy.is_finite())
            .then(|| Chained { bytes: once * redundancy / sweeps, redundancy })
    };
    let secs = |chained: &Chained| (chained.bytes / bandwidth).max(compute_s(chained.redundancy));
    let candidates = decided.into_iter().chain(CHAINS.into_iter().filter(|_| decided.is_none()));
    let possible = candidates.filter(|sweeps| *sweeps <= stencil.sweeps).filter_map(try_chain);
    let best = possible.min_by(|one, other| secs(one).total_cmp(&secs(other)));
    // Where not even one sweep's lines fit, every neighbor is read anew.
    best.unwrap_or(Chained { bytes: once * (2.0 * stencil.radius + 1.0), redundancy: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::{Format, Operator};
    use crate::workload::{MergeSort, Operations};
    use crate::{Class, constants};

    /// A draw without losses: 300 MHz, 80% of what there is, all of every rate.
    fn draw() -> Draw {
        let sure = [
            (Parameter::Clock, 300e6),
            (Parameter::DspUse, 0.8),
            (Parameter::LutUse, 0.7),
            (Parameter::OnchipUse, 0.8),
            (Parameter::Pipeline, 1.0),
            (Parameter::HbmRate, 0.92),
            (Parameter::Launch, 12e-6),
            (Parameter::LinkRate, 1.0),
            (Parameter::Depth, 1.0),
            (Parameter::Banks, 64.0),
            (Parameter::Conflict, 0.0),
            (Parameter::Outstanding, 1.0),
            (Parameter::HbmLatency, 200e-9),
            (Parameter::MergeWidth, 16.0),
        ];
        sure.into_iter().fold(Draw::at(constants(), 0.5), |draw, (parameter, value)| draw.with(parameter, value))
    }

    fn on(board: &str, workload: &Workload, draw: &Draw) -> Parts {
        time(workload, Board::named(board).expect("a board"), draw, constants()).expect("a time")
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 0.005, "{found} is not {expected}");
    }

    #[test]
    fn transfers_launch_and_fill() {
        // A volume of 256³ numbers of 4 bytes each way: 13.3 µs + 67.1 MB / 7.7 GB/s, and 12.6 µs + 67.1 MB / 12.2 GB/s.
        let volume = 256_f64.powi(3) * 4.0;
        let workload = Workload {
            input: (volume, 1.0),
            output: (volume, 1.0),
            iterations: 100.0,
            path_clocks: 60.0,
            ..Workload::default()
        };
        let parts = on("u55c", &workload, &draw());
        near(parts.input_s, 13.3e-6 + volume / 7.7e9);
        near(parts.output_s, 12.6e-6 + volume / 12.2e9);
        near(parts.input_s + parts.output_s, 14.24e-3);
        near(parts.fill_s, 100.0 * 60.0 / 300e6);
        assert_eq!(parts.launch_s, 12e-6);
        assert_eq!(parts.bound(), BoundBy::Link);
        // PCI Express 4.0 with as many lanes carries twice as much.
        near(on("v80", &workload, &draw()).input_s, 13.3e-6 + volume / 15.4e9);
    }

    #[test]
    fn memory_is_what_the_array_gives_or_the_ports_carry() {
        // 32 ports of 32 bytes: at 370 MHz 378.88 GB/s, as STREAM measured; at 300 MHz 307.2; at 450 the array's 423.2.
        let workload = Workload { bytes: 1e9, ..Workload::default() };
        for (clock, rate, by) in
            [(370e6, 378.88e9, BoundBy::Port), (300e6, 307.2e9, BoundBy::Port), (450e6, 423.2e9, BoundBy::Memory)]
        {
            let parts = on("u280", &workload, &draw().with(Parameter::Clock, clock));
            near(parts.memory_s, 1e9 / rate);
            assert_eq!(parts.resident_bound(), by, "{clock}");
        }
        let half = Workload { limits: crate::Limits { channels: Some(16.0), ..Default::default() }, ..workload };
        near(on("u280", &half, &draw()).memory_s, 1e9 / 153.6e9);
    }

    #[test]
    fn arithmetic_takes_the_scarcest_resource() {
        // 5 slices a multiply-add: 0.8 · 9020 / 5 = 1443 of them, 433 G each second at 300 MHz.
        let macs = |format| Workload {
            class: Class::Contraction,
            operations: vec![Operations { operator: Operator::MultiplyAdd, format, count: 1e9 }],
            ..Workload::default()
        };
        let parts = on("u280", &macs(Format::F32), &draw());
        near(parts.compute_s, 1e9 / (0.8 * 9020.0 / 5.0 * 300e6));
        assert_eq!(parts.resident_bound(), BoundBy::Dsp);
        near(on("u280", &macs(Format::I16), &draw()).compute_s, 1e9 / (0.8 * 9020.0 * 300e6));
        near(on("s10mx", &macs(Format::F32), &draw()).compute_s, 1e9 / (0.8 * 3960.0 * 300e6));
        // The median of 27 in 126 compare-exchanges: 10 k look-up tables a voxel and clock.
        let median = Workload {
            class: Class::Sort,
            operations: vec![Operations {
                operator: Operator::Exchange,
                format: Format::F32,
                count: 126.0 * 256_f64.powi(3),
            }],
            ..Workload::default()
        };
        let parts = on("u55c", &median, &draw());
        near(parts.compute_s, 256_f64.powi(3) * 126.0 * 79.0 / (0.7 * 1_163_520.0 * 300e6));
        assert_eq!(parts.resident_bound(), BoundBy::Lut);
    }

    #[test]
    fn tables_on_the_chip_and_off_it() {
        let table = |bytes, is_updated| Workload {
            class: Class::Gather,
            tables: vec![Table { accesses: 1e9, access_bytes: 4.0, bytes, is_updated }],
            ..Workload::default()
        };
        near(on("u280", &table(1e6, false), &draw()).onchip_s, 1e9 / (2.0 * 64.0 * 300e6));
        // 4 GB do not fit: each access waits 200 ns, 32 channels one each; updates read and write.
        let off = on("u280", &table(4e9, false), &draw());
        near(off.memory_s, 1e9 * 200e-9 / 32.0);
        assert_eq!(off.resident_bound(), BoundBy::Gather);
        near(on("u280", &table(4e9, true), &draw()).memory_s, 2e9 * 200e-9 / 32.0);
        // Many in flight: 64 bytes for 4 asked for.
        let many = draw().with(Parameter::Outstanding, 64.0);
        near(on("u280", &table(4e9, false), &many).memory_s, 64e9 / 307.2e9);
    }

    #[test]
    fn tiles_of_a_product_reload_its_operands() {
        let product = Contraction { m: 8192.0, n: 8192.0, k: 8192.0, batch: 1.0, element_bytes: 4.0 };
        // 16 MB hold a tile of 2000 by 2000: 8192² · (1 + 8192/1000) − 3 · 8192² words more than each operand once.
        near(reloaded(&product, 16e6), 4.0 * 8192_f64.powi(2) * (8192.0 / 1000.0 - 2.0));
        assert_eq!(reloaded(&product, 1e12), 0.0);
    }

    #[test]
    fn sweeps_are_chained_where_lines_fit() {
        let stencil = |extents: &[f64]| Stencil {
            radius: 1.0,
            extents: extents.to_vec(),
            cell_bytes: 4.0,
            moved_bytes: 8.0,
            sweeps: 1024.0,
        };
        // Lines of 4096 cells: 30 sweeps take 30 · 2 · 16 KiB; all of it fits, so there are no blocks.
        let plane = chained(&stencil(&[32768.0, 4096.0]), 5e6, Some(30.0), 1e9, |_| 0.0);
        near(plane.bytes, 32768.0 * 4096.0 * 8.0 * 1024.0 / 30.0);
        assert_eq!(plane.redundancy, 1.0);
        // Planes of 512²: 8 sweeps need 8 · 2 MiB; blocks of 256² need 4.2 MB and overlap by 16: (256/240)².
        let cube = chained(&stencil(&[512.0, 512.0, 512.0]), 5e6, Some(8.0), 1e9, |_| 0.0);
        near(cube.redundancy, (256_f64 / 240.0).powi(2));
        near(cube.bytes, 512_f64.powi(3) * 8.0 * 1024.0 / 8.0 * cube.redundancy);
    }

    #[test]
    fn a_sort_ends_with_one_merger() {
        let sort = MergeSort { records: 1e9, record_bytes: 4.0 };
        let workload = Workload { class: Class::Sort, merge_sort: Some(sort), ..Workload::default() };
        let parts = on("u280", &workload, &draw());
        near(parts.compute_s, 8e9 / 307.2e9 + 1e9 / (16.0 * 300e6));
        assert_eq!(parts.resident_bound(), BoundBy::Merge);
    }

    #[test]
    fn another_format_takes_other_bytes_and_operators() {
        let workload = Workload {
            operations: vec![Operations { operator: Operator::MultiplyAdd, format: Format::F32, count: 1e9 }],
            bytes: 1e9,
            ..Workload::default()
        };
        let short = workload.in_format(Format::I16);
        assert_eq!(short.bytes, 0.5e9);
        assert_eq!(short.operations[0].format, Format::I16);
        near(on("u55c", &workload, &draw()).compute_s / on("u55c", &short, &draw()).compute_s, 5.0);
    }
}
