//! Verilog of a window in fixed point or of whole numbers: one result a clock, a register behind every operation.
//!
//! The kernel takes the taps of one place beside each other; line buffers that bring them there are the designer's.

use crate::arithmetic::{Cell, Fixed, wrapped};
use crate::bundle::Files;
use crate::cone::{At, Cone, Scalar, WindowCode, window};
use crate::program::{Each, Program, Relation};
use crate::{Refusal, vectors};
use ridge_hlo::ElementType;
use std::fmt::Write as _;

/// Vectors of the test bench.
const MOST_VECTORS: usize = 2048;

/// Adds Verilog, test benches and their vectors to the files of a bundle.
///
/// # Errors
/// [`Refusal`] where the region is no window of operations that are built here.
pub(crate) fn add(program: &Program, format: Fixed, files: &mut Files) -> Result<(), Refusal> {
    let code = window(program)?;
    let design = Design::new(&code.cone, format)?;
    let (stimuli, expected) = stimuli(program, &code, format, &design, files)?;
    if expected.is_empty() {
        return Err(Refusal("it has no place where the code of its middle holds".to_owned()));
    }
    let mut put = |path: &str, text: String| files.insert(path.to_owned(), text.into_bytes());
    put("rtl/kernel.v", design.module(&code, format));
    put("rtl/tb.v", design.test_bench(expected.len()));
    put("rtl/sim.cpp", design.simulation(expected.len()));
    put("rtl/x.hex", stimuli);
    put("rtl/y.hex", expected.iter().map(|value| format!("{value:x}\n")).collect());
    Ok(())
}

/// A cone with the width and the clock of every value.
struct Design<'a> {
    cone: &'a Cone,
    format: Fixed,
    /// Clocks after the taps.
    level: Vec<usize>,
    /// The last clock at which somebody reads it.
    until: Vec<usize>,
    /// First bit of each tap in the bus.
    first_bit: Vec<usize>,
    bus: usize,
}

impl<'a> Design<'a> {
    fn new(cone: &'a Cone, format: Fixed) -> Result<Design<'a>, Refusal> {
        let mut level = vec![0; cone.nodes.len()];
        for (at, (scalar, ty)) in cone.nodes.iter().enumerate() {
            if let Scalar::Each(each, of) = scalar {
                let from: Vec<ElementType> = of.iter().map(|operand| cone.nodes[*operand].1).collect();
                if !can_build(*each, &from, *ty) {
                    return Err(Refusal(format!("{} has no design here", each.name().trim_end_matches('_'))));
                }
                level[at] = 1 + of.iter().map(|operand| level[*operand]).max().unwrap_or(0);
            }
        }
        let mut until = level.clone();
        for (at, (scalar, _)) in cone.nodes.iter().enumerate() {
            if let Scalar::Each(_, of) = scalar {
                of.iter().for_each(|operand| until[*operand] = until[*operand].max(level[at] - 1));
            }
        }
        let mut design = Design { cone, format, level, until, first_bit: Vec::new(), bus: 0 };
        for (scalar, ty) in &cone.nodes {
            if let Scalar::Tap(..) = scalar {
                design.first_bit.push(design.bus);
                design.bus += design.width(*ty);
            }
        }
        Ok(design)
    }

    fn width(&self, ty: ElementType) -> usize {
        match ty {
            ty if ty.is_float() => self.format.width as usize,
            ElementType::Pred => 1,
            ty => ty.bits().unwrap_or(64) as usize,
        }
    }

    fn is_signed(&self, ty: ElementType) -> bool {
        ty.is_float() || crate::arithmetic::is_signed(ty)
    }

    fn latency(&self) -> usize {
        self.level[self.cone.root]
    }

    fn declared(&self, ty: ElementType) -> String {
        let sign = if self.is_signed(ty) { " signed" } else { "" };
        format!("{sign} [{}:0]", self.width(ty) - 1)
    }

    /// A value as it is at a clock.
    fn name(&self, at: At, clock: usize) -> String {
        let (scalar, ty) = &self.cone.nodes[at];
        let width = self.width(*ty);
        let sign = if self.is_signed(*ty) { "s" } else { "" };
        let literal = |value: i64| {
            let mask = if width >= 64 { u64::MAX } else { (1_u64 << width) - 1 };
            format!("{width}'{sign}h{:x}", value.cast_unsigned() & mask)
        };
        match scalar {
            Scalar::Real(bits) => literal(self.format.of(f64::from_bits(*bits))),
            Scalar::Whole(value) => literal(*value),
            _ if clock <= self.level[at] => format!("n{at}"),
            _ => format!("n{at}_{}", clock - self.level[at]),
        }
    }

    fn module(&self, code: &WindowCode, format: Fixed) -> String {
        let (_, ty) = self.cone.nodes[self.cone.root];
        let mut text = format!(
            "// One element of the result from the {} elements of the inputs that it is made of; real numbers are {format},\n// rounded to the nearest and held within the range.\n// One result a clock, {} clocks after its inputs. The code is that of {} of {} places that were looked at{}.\n",
            self.cone.taps.len(),
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
                Scalar::Each(each, of) => {
                    let clock = self.level[at] - 1;
                    let operands: Vec<String> = of.iter().map(|operand| self.name(*operand, clock)).collect();
                    let from = self.cone.nodes[of[0]].1;
                    let (wires, value) = self.operation(at, *each, &operands, from, *ty);
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
    fn operation(&self, at: At, each: Each, of: &[String], from: ElementType, ty: ElementType) -> (String, String) {
        let width = self.width(ty);
        let (a, b) = (of[0].as_str(), of.get(1).map_or("", String::as_str));
        let is_fixed = ty.is_float();
        let held = |bits: usize, value: String| {
            let most = (1_u64 << (width - 1)) - 1;
            let wires = format!("  wire signed [{}:0] w{at} = {value};\n", bits - 1);
            let chosen = format!(
                "w{at} > {bits}'sh{most:x} ? {width}'sh{most:x} : w{at} < -{bits}'sh{:x} ? {width}'sh{:x} : w{at}[{}:0]",
                most + 1,
                most + 1,
                width - 1
            );
            (wires, chosen)
        };
        let plain = |value: String| (String::new(), value);
        match each {
            Each::Add if is_fixed => held(width + 2, format!("$signed({a}) + $signed({b})")),
            Each::Subtract if is_fixed => held(width + 2, format!("$signed({a}) - $signed({b})")),
            Each::Negate if is_fixed => held(width + 2, format!("-$signed({a})")),
            Each::Abs if is_fixed => held(width + 2, format!("$signed({a}) < 0 ? -$signed({a}) : $signed({a})")),
            Each::Multiply if is_fixed => {
                let bits = 2 * width + 2;
                let fraction = self.format.fraction();
                let half = if fraction == 0 { 0 } else { 1_u64 << (fraction - 1) };
                let product = format!("  wire signed [{}:0] p{at} = $signed({a}) * $signed({b});\n", bits - 1);
                let (wires, value) = held(bits, format!("(p{at} + {bits}'sh{half:x}) >>> {fraction}"));
                (product + &wires, value)
            }
            Each::Add => plain(if ty == ElementType::Pred { format!("{a} | {b}") } else { format!("{a} + {b}") }),
            Each::Subtract => plain(format!("{a} - {b}")),
            Each::Multiply => plain(if ty == ElementType::Pred { format!("{a} & {b}") } else { format!("{a} * {b}") }),
            Each::Negate => plain(format!("-{a}")),
            Each::Abs => {
                plain(if self.is_signed(ty) { format!("$signed({a}) < 0 ? -{a} : {a}") } else { a.to_owned() })
            }
            Each::Minimum => plain(format!("{b} < {a} ? {b} : {a}")),
            Each::Maximum => plain(format!("{a} < {b} ? {b} : {a}")),
            Each::And => plain(format!("{a} & {b}")),
            Each::Or => plain(format!("{a} | {b}")),
            Each::Xor => plain(format!("{a} ^ {b}")),
            Each::Not => plain(format!("~{a}")),
            Each::Select => plain(format!("{a} ? {b} : {}", of.get(2).map_or("", String::as_str))),
            Each::Compare(relation) => plain(format!(
                "{a} {} {b}",
                match relation {
                    Relation::Eq => "==",
                    Relation::Ne => "!=",
                    Relation::Lt => "<",
                    Relation::Le => "<=",
                    Relation::Gt => ">",
                    Relation::Ge => ">=",
                }
            )),
            _ => {
                let own = self.width(from);
                plain(if own >= width { format!("{a}[{}:0]", width - 1) } else { a.to_owned() })
            }
        }
    }

    fn test_bench(&self, vectors: usize) -> String {
        let (_, ty) = self.cone.nodes[self.cone.root];
        format!(
            "// Feeds one vector a clock and compares what comes out after {latency} clocks.\n`timescale 1ns/1ps\nmodule tb;\n  reg clk = 0;\n  reg [{bus}:0] stimuli [0:{last}];\n  reg [{out}:0] expected [0:{last}];\n  reg [{bus}:0] x;\n  wire [{out}:0] y;\n  integer at, wrong;\n  kernel dut(.clk(clk), .x(x), .y(y));\n  always #1 clk = ~clk;\n  initial begin\n    $readmemh(\"x.hex\", stimuli);\n    $readmemh(\"y.hex\", expected);\n    wrong = 0;\n    for (at = 0; at < {vectors} + {latency}; at = at + 1) begin\n      x = at < {vectors} ? stimuli[at] : stimuli[0];\n      @(posedge clk); #0.5;\n      if (at + 1 >= {latency} && at + 1 - {latency} < {vectors} && y !== expected[at + 1 - {latency}]) wrong = wrong + 1;\n    end\n    $display(\"%0d differ of {vectors} values, one a clock, {latency} clocks late\", wrong);\n    $finish;\n  end\nendmodule\n",
            latency = self.latency(),
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

/// Whether there is a design for an operation.
fn can_build(each: Each, from: &[ElementType], ty: ElementType) -> bool {
    use Each::{Abs, Add, And, Compare, Convert, Maximum, Minimum, Multiply, Negate, Not, Or, Select, Subtract, Xor};
    match each {
        Abs | Negate | Add | Subtract | Multiply | Maximum | Minimum | Compare(_) | Select | And | Or | Xor | Not => {
            true
        }
        // Whole numbers by their low bits, or longer by their sign; a truth is 0 or 1.
        Convert => !ty.is_float() && ty != ElementType::Pred && from.iter().all(|from| !from.is_float()),
        _ => false,
    }
}

/// The taps of many places as words of the bus, and what comes out there by the interpreter.
fn stimuli(
    program: &Program,
    code: &WindowCode,
    format: Fixed,
    design: &Design<'_>,
    files: &Files,
) -> Result<(String, Vec<u64>), Refusal> {
    let refused = |error: crate::CannotCompute| Refusal(error.to_string());
    let ty = program.nodes[program.outputs[0]].element_type;
    let out_width = design.width(ty);
    let mask = |width: usize| if width >= 64 { u64::MAX } else { (1_u64 << width) - 1 };
    let (mut text, mut expected) = (String::new(), Vec::new());
    let sets = vectors::sets(program);
    let each = MOST_VECTORS / sets.len().max(1);
    for set in &sets {
        let inputs = vectors::inputs_of(program, &set.inputs).map_err(refused)?;
        let path = format!("golden/{}/{}.out0.bin", set.name, format.slug());
        let Some(outputs) = files.get(&path) else { return Err(Refusal(format!("there are no vectors of {format}"))) };
        let bytes = if ty.is_float() { 4 } else { vectors::width(ty) };
        let step = code.places.len().div_ceil(each).max(1);
        for (place, taps) in code.places.iter().step_by(step) {
            let mut bits = vec![0_u8; design.bus];
            for (number, (input, at)) in taps.iter().enumerate() {
                let port = program.inputs[*input].element_type;
                let value = match inputs[*input][*at] {
                    Cell::Real(value) => format.of(value),
                    Cell::Whole(value, _) => wrapped(value, port),
                };
                let width = design.width(port);
                (0..width).for_each(|bit| bits[design.first_bit[number] + bit] = (value >> bit.min(63) & 1) as u8);
            }
            let _ = writeln!(text, "{}", hexadecimal(&bits));
            let mut raw = [0_u8; 8];
            raw[..bytes].copy_from_slice(&outputs[place * bytes..(place + 1) * bytes]);
            expected.push(u64::from_le_bytes(raw) & mask(out_width));
        }
    }
    Ok((text, expected))
}

/// Bits, the lowest first, as a number.
fn hexadecimal(bits: &[u8]) -> String {
    let digits =
        bits.chunks(4).map(|four| four.iter().enumerate().fold(0, |digit, (at, bit)| digit | u32::from(*bit) << at));
    let text: Vec<char> = digits.filter_map(|digit| char::from_digit(digit, 16)).collect();
    text.into_iter().rev().collect()
}
