//! A stage as a module of Verilog.

use super::super::{Numbers, Wires, operation};
use super::path::{At, Item, Ix};
use super::plan::{Kind, Stage};
use crate::Refusal;
use crate::arithmetic::Fixed;
use std::fmt::Write as _;

/// A stage with the clock of every value.
pub(super) struct Timed<'a> {
    pub(super) stage: &'a Stage,
    format: Fixed,
    /// Clocks after the counters.
    level: Vec<usize>,
    /// The last clock at which somebody reads it.
    until: Vec<usize>,
    /// The clock at which value and place meet.
    meet: usize,
    /// Reads of memories: the memory, and the address.
    pub(super) loads: Vec<(usize, At)>,
}

impl<'a> Timed<'a> {
    pub(super) fn new(stage: &'a Stage, format: Fixed) -> Result<Timed<'a>, Refusal> {
        let nodes = &stage.path.nodes;
        let mut level = vec![0; nodes.len()];
        let mut loads = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Item::Load(memory, address) = node.item {
                loads.push((memory, address));
            }
            if !matches!(node.item, Item::Counter(_) | Item::Literal(_)) {
                level[at] = 1 + node.item.reads().iter().map(|operand| level[*operand]).max().unwrap_or(0);
            }
        }
        let mut until = level.clone();
        for (at, node) in nodes.iter().enumerate() {
            for operand in node.item.reads() {
                until[operand] = until[operand].max(level[at] - 1);
            }
        }
        let mut keep = |at: At, clock: usize| until[at] = until[at].max(clock);
        let (value, place) = (stage.value, stage.place);
        let meet = match &stage.kind {
            Kind::Write { inside, joined } => {
                let early = usize::from(joined.is_some());
                let before = level[value].saturating_sub(early).max(level[place]);
                let meet = inside.map_or(before, |at| before.max(level[at]));
                keep(value, meet + early);
                keep(place, meet + early);
                if let Some(at) = inside {
                    keep(*at, meet + early);
                }
                if joined.is_some() {
                    loads.push((stage.target, place));
                }
                meet
            }
            Kind::Fold { first, last, begin, inside, .. } => {
                let all = [Some(value), Some(place), Some(*first), Some(*last), Some(*begin), *inside];
                let meet = all.iter().flatten().map(|at| level[*at]).max().unwrap_or(0);
                all.iter().flatten().for_each(|at| keep(*at, meet));
                keep(place, meet + 1);
                keep(*last, meet + 1);
                meet
            }
        };
        let timed = Timed { stage, format, level, until, meet, loads };
        for at in 0..timed.stage.path.nodes.len() {
            timed.operation(at)?;
        }
        if let Kind::Write { joined: Some(each), .. } | Kind::Fold { each, .. } = &timed.stage.kind {
            timed.joining(*each, "a", "b")?;
        }
        Ok(timed)
    }

    /// Clocks from a step to the write of its value.
    pub(super) fn latency(&self) -> usize {
        match self.stage.kind {
            Kind::Write { joined: None, .. } => self.meet,
            _ => self.meet + 1,
        }
    }

    /// Steps of a run.
    pub(super) fn steps(&self) -> usize {
        self.stage.dims.iter().product()
    }

    /// The type of a target's word.
    pub(super) fn word(&self) -> Wires {
        super::element::wires(self.stage.ty, self.format)
    }

    /// A value as it is at a clock.
    fn name(&self, at: At, clock: usize) -> String {
        let node = &self.stage.path.nodes[at];
        match node.item {
            Item::Literal(bits) => node.wires.literal(bits),
            _ if clock <= self.level[at] => format!("n{at}"),
            _ => format!("n{at}_{}", clock - self.level[at]),
        }
    }

    /// The bits of an address that a memory has.
    fn address(&self, at: At, clock: usize, bits: usize) -> String {
        let node = &self.stage.path.nodes[at];
        match node.item {
            Item::Literal(place) => Wires { width: bits, is_signed: false }.literal(place),
            _ if node.wires.width >= bits => format!("{}[{}:0]", self.name(at, clock), bits - 1),
            _ => self.name(at, clock),
        }
    }

    fn sum(&self, ix: &Ix, at: At) -> String {
        // What wraps meanwhile is right in the end: the sum fits.
        let (clock, wide) = (self.level[at] - 1, self.stage.path.nodes[at].wires.width);
        let cut = |value: u64| value & (u64::MAX >> (64 - wide.min(64)));
        let mut text = format!("{wide}'sh{:x}", cut(ix.offset().unsigned_abs()));
        if ix.offset() < 0 {
            text = format!("-{text}");
        }
        for (by, of) in ix.terms() {
            let name = self.name(*of, clock);
            let sign = if *by < 0 { '-' } else { '+' };
            let factor = match by.unsigned_abs() {
                1 => String::new(),
                by => format!(" * {wide}'sh{:x}", cut(by)),
            };
            let _ = write!(text, " {sign} {name}{factor}");
        }
        text
    }

    /// Wires that an operation needs, and its value.
    fn operation(&self, at: At) -> Result<(String, String), Refusal> {
        let node = &self.stage.path.nodes[at];
        let of = node.item.reads();
        let clock = self.level[at].saturating_sub(1);
        let name = |of: &At| self.name(*of, clock);
        let plain = |text: String| Ok((String::new(), text));
        let from = |of: At| &self.stage.path.nodes[of];
        match &node.item {
            Item::Counter(_) | Item::Literal(_) | Item::Load(..) => plain(String::new()),
            Item::Sum(ix) => plain(self.sum(ix, at)),
            Item::Divide(a, by) | Item::Modulo(a, by) => {
                // By a multiplication where no power of two divides: exact for all that the position can be.
                let bits = from(*a).wires.width - 1;
                let (factor, shift) = reciprocal(*by, bits);
                let wide = bits + shift + 4;
                let wires =
                    format!("  wire signed [{}:0] d{at} = ({} * {wide}'sd{factor}) >>> {shift};\n", wide - 1, name(a));
                match node.item {
                    Item::Divide(..) => Ok((wires, format!("d{at}"))),
                    _ => Ok((wires, format!("{} - d{at} * {wide}'sd{by}", name(a)))),
                }
            }
            Item::Within(a, least, most) => {
                let (low, high) = self.stage.path.range_of(*a);
                let wires = Wires { width: from(*a).wires.width, is_signed: true };
                let a = name(a);
                // Ends beyond all that the position can be are not asked for.
                let above = (low < *least).then(|| format!("{a} >= {}", wires.literal(*least)));
                let below = (high > *most).then(|| format!("{a} <= {}", wires.literal(*most)));
                plain(above.into_iter().chain(below).collect::<Vec<_>>().join(" && "))
            }
            Item::All(_) => plain(of.iter().map(name).collect::<Vec<_>>().join(" && ")),
            Item::Clamp(a, most) | Item::Inside(a, most) => {
                let wires = from(*a).wires;
                let wide = wires.width.max(65 - most.leading_zeros() as usize) + 1;
                let a = name(a);
                let a = if wires.is_signed { a } else { format!("$signed({{1'b0, {a}}})") };
                let held = format!("  wire signed [{}:0] h{at} = {a};\n", wide - 1);
                let (zero, most) = (format!("{wide}'sd0"), format!("{wide}'sd{most}"));
                Ok((
                    held,
                    match node.item {
                        Item::Inside(..) => format!("h{at} >= {zero} && h{at} <= {most}"),
                        _ => format!("h{at} < {zero} ? {zero} : h{at} > {most} ? {most} : h{at}"),
                    },
                ))
            }
            Item::Number(a) => plain(name(a)),
            Item::Each(each, of) => {
                let names: Vec<String> = of.iter().map(name).collect();
                let from = from(of[0]);
                let made = operation(
                    Numbers::Fixed(self.format),
                    at,
                    *each,
                    &names,
                    (from.ty, from.wires),
                    (node.ty, node.wires),
                );
                made.ok_or_else(|| Refusal(format!("{} has no design here", each.name().trim_end_matches('_'))))
            }
        }
    }

    /// Two values of the target joined.
    fn joining(&self, each: crate::program::Each, a: &str, b: &str) -> Result<(String, String), Refusal> {
        let of = [a.to_owned(), b.to_owned()];
        let port = (self.stage.ty, self.word());
        let at = self.stage.path.nodes.len();
        operation(Numbers::Fixed(self.format), at, each, &of, port, port)
            .ok_or_else(|| Refusal(format!("{} has no design here", each.name().trim_end_matches('_'))))
    }

    /// Whether a step is under way at a clock.
    fn valid(clock: usize) -> String {
        if clock == 0 { "go".to_owned() } else { format!("v[{}]", clock - 1) }
    }

    /// The module; `address_bits` gives the bits of a memory's address.
    pub(super) fn module(
        &self,
        name: &str,
        address_bits: impl Fn(usize) -> usize,
        width: impl Fn(usize) -> usize,
    ) -> String {
        let stage = self.stage;
        let clocks = self.latency().max(1);
        let (bits, word) = (address_bits(stage.target), self.word());
        let mut text = format!(
            "\n// {}\nmodule {name}(\n  input wire clk,\n  input wire reset,\n  input wire on,\n  input wire go,\n  output wire is_end,\n",
            one_line(&stage.about)
        );
        for (number, (memory, _)) in self.loads.iter().enumerate() {
            let _ = writeln!(text, "  output wire [{}:0] a{number},", address_bits(*memory) - 1);
            let _ = writeln!(text, "  input wire [{}:0] q{number},", width(*memory) - 1);
        }
        let _ = writeln!(
            text,
            "  output wire we,\n  output wire [{}:0] wa,\n  output wire [{}:0] wd\n);",
            bits - 1,
            word.width - 1
        );
        text.push_str(&self.counters());
        let _ = writeln!(text, "  reg [{}:0] v;\n  always @(posedge clk) v <= reset ? 0 : {{v, go}};", clocks - 1);
        let (mut clocked, mut load) = (String::new(), 0);
        for (at, node) in stage.path.nodes.iter().enumerate() {
            let declared =
                format!("{} [{}:0]", if node.wires.is_signed { " signed" } else { "" }, node.wires.width - 1);
            match &node.item {
                Item::Literal(_) => continue,
                Item::Counter(dim) => {
                    let _ = writeln!(text, "  wire{declared} n{at} = c{dim};");
                }
                Item::Load(memory, address) => {
                    let clock = self.level[at] - 1;
                    let _ =
                        writeln!(text, "  assign a{load} = {};", self.address(*address, clock, address_bits(*memory)));
                    let _ = writeln!(text, "  wire{declared} n{at} = q{load};");
                    load += 1;
                }
                _ => {
                    // What cannot be built was refused before.
                    let (wires, value) = self.operation(at).unwrap_or_default();
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
        let _ = writeln!(text, "  always @(posedge clk) if (on) begin\n{clocked}  end");
        text.push_str(&self.store(bits, load));
        text.push_str("endmodule\n");
        text
    }

    /// The counters of the loops, which wrap at their ends.
    fn counters(&self) -> String {
        let mut text = String::new();
        let (mut reset, mut step, mut ends) = (String::new(), String::new(), Vec::new());
        for (dim, extent) in self.stage.dims.iter().enumerate().rev().filter(|(_, extent)| **extent > 1) {
            let top = usize::BITS - (extent - 1).leading_zeros();
            let _ = writeln!(text, "  reg signed [{top}:0] c{dim};");
            let _ = writeln!(reset, "      c{dim} <= 0;");
            let when = if ends.is_empty() { String::new() } else { format!("if ({}) ", ends.join(" && ")) };
            let _ = writeln!(step, "      {when}c{dim} <= c{dim} == {} ? 0 : c{dim} + 1;", extent - 1);
            ends.push(format!("c{dim} == {}", extent - 1));
        }
        if ends.is_empty() {
            return "  assign is_end = 1'b1;\n".to_owned();
        }
        let _ = write!(
            text,
            "  assign is_end = {};\n  always @(posedge clk)\n    if (reset) begin\n{reset}    end else if (go) begin\n{step}    end\n",
            ends.join(" && ")
        );
        text
    }

    /// How values get into the memory.
    fn store(&self, bits: usize, load: usize) -> String {
        let stage = self.stage;
        let (meet, word) = (self.meet, self.word());
        let declared = format!("{} [{}:0]", if word.is_signed { " signed" } else { "" }, word.width - 1);
        match &stage.kind {
            Kind::Write { inside, joined: None } => {
                let inside = inside.map_or_else(String::new, |at| format!(" && {}", self.name(at, meet)));
                format!(
                    "  assign we = {}{inside};\n  assign wa = {};\n  assign wd = {};\n",
                    Timed::valid(meet),
                    self.address(stage.place, meet, bits),
                    self.name(stage.value, meet)
                )
            }
            Kind::Write { inside, joined: Some(each) } => {
                let late = meet + 1;
                let inside = inside.map_or_else(String::new, |at| format!(" && {}", self.name(at, late)));
                // The memory gives what was there a clock ago: what was written since comes from here.
                let (more, value) = self.joining(*each, "was", "more").unwrap_or_default();
                format!(
                    "  assign a{load} = {};\n  reg has_last;\n  reg [{}:0] last_wa;\n  reg{declared} last_wd;\n  wire{declared} was = has_last && last_wa == wa ? last_wd : q{load};\n  wire{declared} more = {};\n{more}  wire{declared} joined = {value};\n  assign we = {}{inside};\n  assign wa = {};\n  assign wd = joined;\n  always @(posedge clk) begin\n    has_last <= we && !reset;\n    last_wa <= wa;\n    last_wd <= joined;\n  end\n",
                    self.address(stage.place, meet, bits),
                    bits - 1,
                    self.name(stage.value, late),
                    Timed::valid(late),
                    self.address(stage.place, late, bits),
                )
            }
            Kind::Fold { first, last, begin, inside, each } => {
                let (more, value) = self.joining(*each, "was", "more").unwrap_or_default();
                let kept = match inside {
                    Some(at) => format!("{} ? joined : was", self.name(*at, meet)),
                    None => "joined".to_owned(),
                };
                format!(
                    "  reg{declared} all;\n  wire{declared} was = {} ? {} : all;\n  wire{declared} more = {};\n{more}  wire{declared} joined = {value};\n  always @(posedge clk) if (on) all <= {kept};\n  assign we = {} && {};\n  assign wa = {};\n  assign wd = all;\n",
                    self.name(*first, meet),
                    self.name(*begin, meet),
                    self.name(stage.value, meet),
                    Timed::valid(meet + 1),
                    self.name(*last, meet + 1),
                    self.address(stage.place, meet + 1, bits),
                )
            }
        }
    }
}

/// A factor and a shift that divide all numbers of so many bits.
fn reciprocal(by: i64, bits: usize) -> (i64, usize) {
    if by.count_ones() == 1 {
        return (1, by.trailing_zeros() as usize);
    }
    let shift = bits + 64 - by.leading_zeros() as usize;
    (((1_i128 << shift) / i128::from(by) + 1) as i64, shift)
}

/// Text that cannot leave its comment.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() || letter == '\\' { ' ' } else { letter }).take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiplication_divides_every_number() {
        for by in [3, 5, 6, 7, 9, 10, 11, 13, 24, 31, 33, 63, 100, 127, 641, 1000] {
            for bits in [1, 4, 9, 12] {
                let (factor, shift) = reciprocal(by, bits);
                for value in 0..1_i64 << bits {
                    assert_eq!((value * factor) >> shift, value / by, "{value} / {by}");
                }
            }
        }
    }
}
