//! Verilog of a window: one result a clock, a register behind every operation; real numbers in fixed point, or as single
//! precision rounds them, bit by bit.
//!
//! The kernel takes the taps of one place beside each other; where they are a stream of windows, a core brings them there.

mod engine;
mod fixed;
mod single;
mod stream;
#[cfg(test)]
mod tests;
mod whole;
mod wires;

use crate::arithmetic::{Cell, Fixed, Strict, is_signed, wrapped};
use crate::bundle::Files;
use crate::cone::{At, Cone, Reals, Scalar, WindowCode, window};
use crate::program::{Each, Program};
use crate::{Refusal, vectors};
use ridge_hlo::ElementType;
use std::fmt::Write as _;
use wires::{Wires, compared};

/// Cells that have no state, for the proof of a netlist.
pub(crate) const WIRES: &str = include_str!("verilog/wires.v");

/// Vectors of the test bench.
const MOST_VECTORS: usize = 2048;

/// What real numbers are in a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Fixed point.
    Fixed(Fixed),
    /// IEEE single precision with denormals, rounded to the nearest.
    Single,
    /// The same, where sums and products take denormals for zeros, as XLS's do.
    Flushed,
}

impl Numbers {
    /// The folder of the design in a bundle.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Numbers::Fixed(_) => "rtl",
            Numbers::Single => "rtl_f32",
            Numbers::Flushed => "xls",
        }
    }

    /// What the design is, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Numbers::Fixed(_) => "Verilog in fixed point",
            Numbers::Single => "Verilog in single precision",
            Numbers::Flushed => "DSLX",
        }
    }

    /// The file that says why there is no design.
    pub(crate) fn refusal(self) -> &'static str {
        match self {
            Numbers::Fixed(_) => "spec/verilog.txt",
            Numbers::Single => "spec/verilog_f32.txt",
            Numbers::Flushed => "spec/xls.txt",
        }
    }

    fn reals(self) -> Reals {
        match self {
            Numbers::Fixed(_) => Reals::Fixed,
            Numbers::Single | Numbers::Flushed => Reals::Typed,
        }
    }

    /// The fixed-point format, where it is one.
    fn format(self) -> Option<Fixed> {
        match self {
            Numbers::Fixed(format) => Some(format),
            Numbers::Single | Numbers::Flushed => None,
        }
    }

    /// Whether real numbers are of single precision.
    fn is_single(self) -> bool {
        matches!(self, Numbers::Single | Numbers::Flushed)
    }

    /// The first output for these inputs: as the bundle holds it, or as another interpreter gives it.
    fn outputs(
        self,
        program: &Program,
        set: &str,
        inputs: &[Vec<Cell<f64>>],
        files: &Files,
    ) -> Result<Vec<u8>, Refusal> {
        let engine = match self {
            Numbers::Fixed(format) => format.slug(),
            Numbers::Single => "strict".to_owned(),
            Numbers::Flushed => {
                let all = vectors::by(program, inputs, &Strict::XLS).map_err(|error| Refusal(error.to_string()))?;
                return all.into_iter().next().ok_or_else(|| Refusal("it has no result".to_owned()));
            }
        };
        let found = files.get(&format!("golden/{set}/{engine}.out0.bin"));
        found.cloned().ok_or_else(|| Refusal(format!("there are no vectors of {engine}")))
    }

    /// A real number as its bits.
    fn bits(self, value: f64) -> i64 {
        match self {
            Numbers::Fixed(format) => format.of(value),
            Numbers::Single | Numbers::Flushed => i64::from((value as f32).to_bits()),
        }
    }

    /// In words.
    fn words(self) -> String {
        match self {
            Numbers::Fixed(format) => format!("{format},\n// rounded to the nearest and held within the range"),
            Numbers::Single | Numbers::Flushed => {
                "of single precision,\n// rounded to the nearest, denormals kept".to_owned()
            }
        }
    }
}

/// Verilog, test benches and their vectors, from the other files of a bundle.
///
/// # Errors
/// [`Refusal`] where the region is no window of operations that are built here.
pub(crate) fn files(program: &Program, numbers: Numbers, golden: &Files) -> Result<Files, Refusal> {
    let made = windowed(program, numbers, golden);
    let Numbers::Fixed(format) = numbers else { return made };
    if made.as_ref().is_ok_and(|files| !files.contains_key(NO_CORE)) {
        return made;
    }
    match (engine::files(program, format, golden), made) {
        (Ok(mut files), Ok(window)) => {
            files.extend(window.into_iter().filter(|(path, _)| path != NO_CORE));
            Ok(files)
        }
        (Ok(mut files), Err(Refusal(why))) => {
            let why =
                format!("no datapath that gives a result a clock, because {why}; rtl/core.v is an engine instead\n");
            files.insert(numbers.refusal().to_owned(), why.into_bytes());
            Ok(files)
        }
        (Err(Refusal(why)), Ok(mut files)) => {
            if let Some(text) = files.get_mut(NO_CORE) {
                text.truncate(text.trim_ascii_end().len());
                text.extend_from_slice(format!("; and no engine, because {why}\n").as_bytes());
            }
            Ok(files)
        }
        (Err(Refusal(why)), Err(Refusal(first))) => Err(Refusal(format!("{first}; and no engine, because {why}"))),
    }
}

/// The same as a window alone.
fn windowed(program: &Program, numbers: Numbers, golden: &Files) -> Result<Files, Refusal> {
    let code = window(program, numbers.reals())?;
    let has_reals = code.cone.nodes.iter().any(|(_, ty)| ty.is_float());
    if numbers == Numbers::Single && !has_reals {
        return Err(Refusal("it has no real numbers".to_owned()));
    }
    let design = Design::new(&code.cone, numbers)?;
    let (stimuli, expected) = design.vectors(program, &code, golden)?;
    if expected.is_empty() {
        return Err(Refusal("its inner code applies to none of its elements".to_owned()));
    }
    let folder = numbers.folder();
    let mut files = Files::new();
    let mut put = |path: &str, text: String| files.insert(format!("{folder}/{path}"), text.into_bytes());
    put("kernel.v", design.module(&code));
    put("tb.v", design.test_bench(expected.len(), design.latency()));
    if numbers != Numbers::Single {
        put("sim.cpp", design.simulation(expected.len()));
        put("wires.v", WIRES.to_owned());
    }
    put("x.hex", stimuli);
    put("y.hex", expected.iter().map(|value| format!("{value:x}\n")).collect());
    if let Numbers::Fixed(_) = numbers {
        files.extend(stream::files(program, &code, &design, golden).unwrap_or_else(|Refusal(why)| {
            Files::from([(NO_CORE.to_owned(), format!("no core, because {why}\n").into_bytes())])
        }));
    }
    Ok(files)
}

/// The file that says why there is no core around the Verilog.
pub(crate) const NO_CORE: &str = "spec/core.txt";

/// A cone with the width and the clock of every value.
pub(crate) struct Design<'a> {
    cone: &'a Cone,
    numbers: Numbers,
    /// Clocks after the taps.
    level: Vec<usize>,
    /// The last clock at which somebody reads it.
    until: Vec<usize>,
    /// First bit of each tap in the bus.
    first_bit: Vec<usize>,
    bus: usize,
}

impl<'a> Design<'a> {
    pub(crate) fn new(cone: &'a Cone, numbers: Numbers) -> Result<Design<'a>, Refusal> {
        let mut level = vec![0; cone.nodes.len()];
        for (at, (scalar, ty)) in cone.nodes.iter().enumerate() {
            if numbers.is_single() && *ty == ElementType::F64 {
                return Err(Refusal("it has numbers of double precision".to_owned()));
            }
            if !scalar.reads().is_empty() {
                level[at] = 1 + scalar.reads().iter().map(|operand| level[*operand]).max().unwrap_or(0);
            }
        }
        let mut until = level.clone();
        for (at, (scalar, _)) in cone.nodes.iter().enumerate() {
            scalar.reads().iter().for_each(|operand| until[*operand] = until[*operand].max(level[at] - 1));
        }
        let mut design = Design { cone, numbers, level, until, first_bit: Vec::new(), bus: 0 };
        for (scalar, ty) in &cone.nodes {
            if let Scalar::Tap(..) = scalar {
                design.first_bit.push(design.bus);
                design.bus += design.width(*ty);
            }
        }
        for at in 0..cone.nodes.len() {
            design.value(at)?;
        }
        Ok(design)
    }

    fn width(&self, ty: ElementType) -> usize {
        match ty {
            ty if ty.is_float() => match self.numbers {
                Numbers::Fixed(format) => format.width as usize,
                Numbers::Single | Numbers::Flushed => 32,
            },
            ElementType::Pred => 1,
            ty => ty.bits().unwrap_or(64) as usize,
        }
    }

    fn is_signed(&self, ty: ElementType) -> bool {
        if ty.is_float() { !self.numbers.is_single() } else { is_signed(ty) }
    }

    fn latency(&self) -> usize {
        self.level[self.cone.root]
    }

    fn declared(&self, ty: ElementType) -> String {
        let sign = if self.is_signed(ty) { " signed" } else { "" };
        format!("{sign} [{}:0]", self.width(ty) - 1)
    }

    fn port(&self, ty: ElementType) -> Wires {
        Wires { width: self.width(ty), is_signed: self.is_signed(ty) }
    }

    /// A value as it is at a clock.
    fn name(&self, at: At, clock: usize) -> String {
        let (scalar, ty) = &self.cone.nodes[at];
        match scalar {
            Scalar::Real(bits) => self.port(*ty).literal(self.numbers.bits(f64::from_bits(*bits))),
            Scalar::Whole(value) => self.port(*ty).literal(*value),
            _ if clock <= self.level[at] => format!("n{at}"),
            _ => format!("n{at}_{}", clock - self.level[at]),
        }
    }

    fn module(&self, code: &WindowCode) -> String {
        let (_, ty) = self.cone.nodes[self.cone.root];
        let mut text = format!(
            "// One element of the result from the {} elements of the inputs that it is made of; real numbers are {}.\n// One result a clock, {} clocks after its inputs. The code is that of {} of {} places that were looked at{}.\n",
            self.cone.taps.len(),
            self.numbers.words(),
            self.latency(),
            code.places.len(),
            code.looked_at,
            if code.is_stream { "; taps lie alike around each" } else { "; taps do not lie alike around each" },
        );
        let _ = writeln!(
            text,
            "module kernel(\n  input wire clk,\n  input wire [{}:0] x,\n  output wire [{}:0] y\n);",
            self.bus - 1,
            self.width(ty) - 1
        );
        if self.numbers == Numbers::Single {
            text.push_str(single::FUNCTIONS);
        }
        let mut tap = 0;
        let mut clocked = String::new();
        for (at, (scalar, ty)) in self.cone.nodes.iter().enumerate() {
            let declared = self.declared(*ty);
            match scalar {
                Scalar::Real(_) | Scalar::Whole(_) => continue,
                Scalar::Tap(..) => {
                    let first = self.first_bit[tap];
                    let _ = writeln!(text, "  wire{declared} n{at} = x[{}:{first}];", first + self.width(*ty) - 1);
                    tap += 1;
                }
                Scalar::Each(..) | Scalar::Before(_) => {
                    // What cannot be built was refused before.
                    let (wires, value) = self.value(at).unwrap_or_default();
                    text.push_str(&wires);
                    let _ = writeln!(text, "  reg{declared} n{at};");
                    let _ = writeln!(clocked, "    n{at} <= {value};");
                }
            }
            for clock in self.level[at] + 1..=self.until[at] {
                let later = clock - self.level[at];
                let _ = writeln!(text, "  reg{declared} n{at}_{later};");
                let _ = writeln!(clocked, "    n{at}_{later} <= {};", self.name(at, clock - 1));
            }
        }
        let _ = write!(
            text,
            "  always @(posedge clk) begin\n{clocked}  end\n  assign y = {};\nendmodule\n",
            self.name(self.cone.root, self.latency())
        );
        text
    }

    /// Wires that an operation needs, and its value.
    fn value(&self, at: At) -> Result<(String, String), Refusal> {
        let (scalar, ty) = &self.cone.nodes[at];
        let of = scalar.reads();
        let Some(first) = of.first() else { return Ok(<_>::default()) };
        let operands: Vec<String> = of.iter().map(|one| self.name(*one, self.level[at] - 1)).collect();
        let from = self.cone.nodes[*first].1;
        let Scalar::Each(each, _) = scalar else {
            return Ok((String::new(), format!("before({}, {})", operands[0], operands[1])));
        };
        let made = operation(self.numbers, at, *each, &operands, (from, self.port(from)), (*ty, self.port(*ty)));
        made.ok_or_else(|| Refusal(format!("{} has no design here", each.name().trim_end_matches('_'))))
    }

    /// The taps of many places as words of the bus, and what has to come out there.
    pub(crate) fn vectors(
        &self,
        program: &Program,
        code: &WindowCode,
        files: &Files,
    ) -> Result<(String, Vec<u64>), Refusal> {
        let ty = program.nodes[program.outputs[0]].element_type;
        let out_width = self.width(ty);
        let mask = |width: usize| if width >= 64 { u64::MAX } else { (1_u64 << width) - 1 };
        let (mut text, mut expected) = (String::new(), Vec::new());
        let sets = vectors::sets(program);
        let each = MOST_VECTORS / sets.len().max(1);
        for set in &sets {
            let inputs = vectors::inputs_of(program, &set.inputs).map_err(|error| Refusal(error.to_string()))?;
            let outputs = self.numbers.outputs(program, &set.name, &inputs, files)?;
            let bytes = if ty.is_float() { 4 } else { vectors::width(ty) };
            let step = code.places.len().div_ceil(each).max(1);
            for (place, taps) in code.places.iter().step_by(step) {
                let mut bits = vec![0_u8; self.bus];
                for (number, (input, at)) in taps.iter().enumerate() {
                    let port = program.inputs[*input].element_type;
                    let value = match inputs[*input][*at] {
                        Cell::Real(value) => self.numbers.bits(value),
                        Cell::Whole(value, _) => wrapped(value, port),
                    };
                    let width = self.width(port);
                    (0..width).for_each(|bit| bits[self.first_bit[number] + bit] = (value >> bit.min(63) & 1) as u8);
                }
                let _ = writeln!(text, "{}", hexadecimal(&bits));
                let mut raw = [0_u8; 8];
                raw[..bytes].copy_from_slice(&outputs[place * bytes..(place + 1) * bytes]);
                expected.push(u64::from_le_bytes(raw) & mask(out_width));
            }
        }
        Ok((text, expected))
    }

    pub(crate) fn test_bench(&self, vectors: usize, latency: usize) -> String {
        let (_, ty) = self.cone.nodes[self.cone.root];
        // Two values that are both no number are the same.
        let differs = match self.numbers {
            numbers if numbers.is_single() && ty.is_float() => {
                "y !== expected[at + 1 - LATENCY] && !(is_nan(y) === 1 && is_nan(expected[at + 1 - LATENCY]))"
            }
            _ => "y !== expected[at + 1 - LATENCY]",
        };
        let differs = differs.replace("LATENCY", &latency.to_string());
        let is_nan = match differs.contains("is_nan") {
            true => {
                "  function is_nan(input [31:0] a);\n    is_nan = a[30:23] == 8'hff && a[22:0] != 0;\n  endfunction\n"
            }
            false => "",
        };
        format!(
            "// Feeds one vector a clock and compares what comes out after {latency} clocks.\n`timescale 1ns/1ps\nmodule tb;\n  reg clk = 0;\n  reg [{bus}:0] stimuli [0:{last}];\n  reg [{out}:0] expected [0:{last}];\n  reg [{bus}:0] x;\n  wire [{out}:0] y;\n  integer at, wrong;\n{is_nan}  kernel dut(.clk(clk), .x(x), .y(y));\n  always #1 clk = ~clk;\n  initial begin\n    $readmemh(\"x.hex\", stimuli);\n    $readmemh(\"y.hex\", expected);\n    wrong = 0;\n    for (at = 0; at < {vectors} + {latency}; at = at + 1) begin\n      x = at < {vectors} ? stimuli[at] : stimuli[0];\n      @(posedge clk); #0.5;\n      if (at + 1 >= {latency} && at + 1 - {latency} < {vectors} && {differs}) wrong = wrong + 1;\n    end\n    $display(\"%0d differ of {vectors} values, one a clock, {latency} clocks late\", wrong);\n    $finish;\n  end\nendmodule\n",
            bus = self.bus - 1,
            out = self.width(ty) - 1,
            last = vectors - 1,
        )
    }

    fn simulation(&self, vectors: usize) -> String {
        let words = self.bus.div_ceil(32);
        let feed = match self.bus {
            ..=32 => "    top->x = stimuli[k][0];\n".to_owned(),
            33..=64 => "    top->x = static_cast<uint64_t>(stimuli[k][1]) << 32 | stimuli[k][0];\n".to_owned(),
            _ => format!("    for (int w = 0; w < {words}; ++w) top->x[w] = stimuli[k][w];\n"),
        };
        format!(
            "// The same by Verilator: feeds one vector a clock and compares what comes out after {latency} clocks.\n#include \"Vkernel.h\"\n#include \"verilated.h\"\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <fstream>\n#include <string>\n#include <vector>\n\nstatic double now = 0;\ndouble sc_time_stamp() {{ return now; }}\n\nint main() {{\n  std::ifstream x(\"x.hex\"), y(\"y.hex\");\n  std::vector<std::vector<uint32_t>> stimuli;\n  std::vector<uint64_t> expected;\n  std::string line;\n  while (x >> line) {{\n    std::vector<uint32_t> words({words}, 0);\n    for (int w = 0; w < {words}; ++w) {{\n      const long end = static_cast<long>(line.size()) - 8L * w;\n      if (end <= 0) break;\n      const long start = end < 8 ? 0 : end - 8;\n      words[w] = static_cast<uint32_t>(std::strtoul(line.substr(start, end - start).c_str(), nullptr, 16));\n    }}\n    stimuli.push_back(words);\n  }}\n  while (y >> line) expected.push_back(std::strtoull(line.c_str(), nullptr, 16));\n  if (stimuli.size() != {vectors} || expected.size() != {vectors}) {{\n    std::puts(\"the vectors are not whole\");\n    return 2;\n  }}\n  Vkernel* top = new Vkernel;\n  long wrong = 0;\n  for (size_t at = 0; at < {vectors} + {latency}; ++at) {{\n    const size_t k = at < {vectors} ? at : 0;\n{feed}    top->clk = 0;\n    top->eval();\n    top->clk = 1;\n    top->eval();\n    if (at + 1 >= {latency} && at + 1 - {latency} < {vectors}) wrong += static_cast<uint64_t>(top->y) != expected[at + 1 - {latency}];\n  }}\n  delete top;\n  std::printf(\"%ld differ of {vectors} values, one a clock, {latency} clocks late\\n\", wrong);\n  return wrong == 0 ? 0 : 1;\n}}\n",
            latency = self.latency(),
        )
    }
}

/// Wires that an operation needs, and its value; `None` where it has no design.
fn operation(
    numbers: Numbers,
    at: usize,
    each: Each,
    operands: &[String],
    from: (ElementType, Wires),
    to: (ElementType, Wires),
) -> Option<(String, String)> {
    let is_real = (from.0.is_float() || to.0.is_float()) && each != Each::Select;
    match numbers {
        Numbers::Fixed(format) if is_real => fixed::operation(at, each, operands, from, to, format),
        _ if is_real => single::operation(each, operands, from.0, to.0).map(|value| (String::new(), value)),
        _ => whole::operation(at, each, operands, from, to),
    }
}

/// Bits, the lowest first, as a number.
fn hexadecimal(bits: &[u8]) -> String {
    let digits =
        bits.chunks(4).map(|four| four.iter().enumerate().fold(0, |digit, (at, bit)| digit | u32::from(*bit) << at));
    let text: Vec<char> = digits.filter_map(|digit| char::from_digit(digit, 16)).collect();
    text.into_iter().rev().collect()
}
