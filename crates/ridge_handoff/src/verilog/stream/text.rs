//! The Verilog of a core.

use super::super::{Design, Scalar, Wires};
use super::{Along, Stream, Taken};
use ridge_hlo::ElementType;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Delays of fewer steps are registers, one behind the other.
const SHORTEST_RING: usize = 4;

/// A core around a design.
pub(super) struct Core<'a> {
    pub(super) stream: &'a Stream,
    pub(super) design: &'a Design<'a>,
    /// The type of each streamed input's items, in the order of [`Stream::inputs`].
    pub(super) types: Vec<ElementType>,
}

impl Core<'_> {
    /// Bits of a field of the stream: whole bytes.
    fn field(&self, ty: ElementType) -> usize {
        self.design.width(ty).div_ceil(8) * 8
    }

    /// First bit of each input's field in an item, and the bits of an item.
    pub(super) fn fields(&self) -> (Vec<usize>, usize) {
        let mut first = 0;
        let mut starts = Vec::with_capacity(self.types.len());
        for ty in &self.types {
            starts.push(first);
            first += self.field(*ty);
        }
        (starts, first)
    }

    fn result(&self) -> ElementType {
        self.design.cone.nodes[self.design.cone.root].1
    }

    /// Bits of a result in the stream.
    pub(super) fn out_bits(&self) -> usize {
        self.field(self.result())
    }

    /// Clocks from a step to the arrival of its result at the queue.
    pub(super) fn clocks(&self) -> usize {
        self.design.latency() + 2
    }

    /// The queue has 2 to the power of this many places: one for each result that is under way while nothing waits.
    pub(super) fn queue_bits(&self) -> usize {
        (self.clocks() + 2).next_power_of_two().trailing_zeros() as usize
    }

    /// Clocks of so many frames, from the first item to the last result, while nothing waits.
    pub(super) fn predicted(&self, frames: usize) -> usize {
        (frames - 1) * self.stream.steps() + self.stream.to_last() + self.clocks() + 2
    }

    /// Bits that are kept of earlier items.
    pub(super) fn kept_bits(&self) -> usize {
        let one = |(input, ty): (&usize, &ElementType)| {
            let steps = self.stream.kept.get(input).and_then(|steps| steps.last()).unwrap_or(&0);
            steps * self.design.width(*ty)
        };
        self.stream.inputs.iter().zip(&self.types).map(one).sum()
    }

    /// The module.
    pub(super) fn module(&self) -> String {
        let mut text = self.head();
        text.push_str(&self.walk());
        text.push_str(&self.items());
        text.push_str(&self.window());
        text.push_str(&self.tail());
        text
    }

    fn head(&self) -> String {
        let (fields, bits) = self.fields();
        let stream = self.stream;
        let mut text = String::from(
            "// Items come and results leave by AXI4-Stream, one a clock where nothing waits, in the order of the arrays, last dimension\n// fastest; tlast is the last of a frame, which is one call of the region. Whatever waits, none is lost.\n",
        );
        for ((input, ty), first) in stream.inputs.iter().zip(&self.types).zip(fields) {
            let last = first + self.design.width(*ty) - 1;
            let _ = writeln!(text, "// s_axis_tdata[{last}:{first}] is an element of input {input}, {}.", ty.name());
        }
        for (dim, one) in stream.dims.iter().enumerate() {
            let _ = writeln!(
                text,
                "// Dimension {dim}: {} items, {} results, {} items from one to the next.",
                one.items, one.results, one.stride
            );
        }
        let _ = write!(
            text,
            "module core(\n  input wire aclk,\n  input wire aresetn,\n  input wire [{}:0] s_axis_tdata,\n  input wire s_axis_tlast,\n  input wire s_axis_tvalid,\n  output wire s_axis_tready,\n  output wire [{}:0] m_axis_tdata,\n  output wire m_axis_tlast,\n  output wire m_axis_tvalid,\n  input wire m_axis_tready,\n{REGISTER_PORTS}",
            bits - 1,
            self.out_bits() - 1
        );
        for (dim, one) in stream.dims.iter().enumerate() {
            let _ = writeln!(
                text,
                "  localparam ITEMS{dim} = {}, RESULTS{dim} = {}, STRIDE{dim} = {}, STEPS{dim} = {}, LAST{dim} = {};",
                one.items,
                one.results,
                one.stride,
                one.steps(),
                one.last()
            );
        }
        let _ = write!(text, "  localparam LAG = {};\n{CONTROL}", stream.lag);
        text
    }

    /// Dimensions along which the walk moves.
    fn moving(&self) -> impl DoubleEndedIterator<Item = (usize, &Along)> {
        self.stream.dims.iter().enumerate().filter(|(_, one)| one.steps() > 1)
    }

    /// All of these, joined; a truth where there are none.
    fn all(&self, one: impl Fn(usize, &Along) -> Option<String>) -> String {
        let all: Vec<String> = self.moving().filter_map(|(dim, along)| one(dim, along)).collect();
        if all.is_empty() { "1'b1".to_owned() } else { all.join(" && ") }
    }

    /// The two places of the walk, and what is known of them.
    fn walk(&self) -> String {
        let mut text = String::new();
        for (dim, one) in self.moving() {
            let top = usize::BITS - one.steps().leading_zeros() - 1;
            let _ = writeln!(text, "  reg [{top}:0] c{dim}, b{dim};");
            if one.stride > 1 {
                let _ = writeln!(text, "  reg [{top}:0] phase{dim};");
            }
        }
        let more = |along: &Along| along.steps() > along.items;
        let wants = self.all(|dim, along| more(along).then(|| format!("c{dim} < ITEMS{dim}")));
        let is_end = self.all(|dim, _| Some(format!("c{dim} == ITEMS{dim} - 1")));
        let is_result = self.all(|dim, along| {
            let inside = (along.last() + 1 < along.steps()).then(|| format!("b{dim} <= LAST{dim}"));
            let phase = (along.stride > 1).then(|| format!("phase{dim} == 0"));
            let both: Vec<String> = inside.into_iter().chain(phase).collect();
            (!both.is_empty()).then(|| both.join(" && "))
        });
        let is_home = self.all(|dim, _| Some(format!("c{dim} == 0")));
        let is_final = self.all(|dim, _| Some(format!("b{dim} == LAST{dim}")));
        let _ = write!(
            text,
            "  assign is_home = {is_home};\n  assign wants = {wants};\n  wire is_end = {is_end};\n  assign is_result = due && {is_result};\n  assign is_final = {is_final};\n"
        );
        let (mut reset, mut item, mut result, mut done) = (String::new(), String::new(), String::new(), String::new());
        // A dimension moves on where all that are faster are at their ends.
        let (mut full_c, mut full_b) = (Vec::new(), Vec::new());
        for (dim, one) in self.moving().collect::<Vec<_>>().into_iter().rev() {
            let when =
                |full: &[String]| if full.is_empty() { String::new() } else { format!("if ({}) ", full.join(" && ")) };
            let _ = writeln!(reset, "      c{dim} <= 0;\n      b{dim} <= 0;");
            let _ = writeln!(done, "          b{dim} <= 0;");
            let _ = writeln!(item, "        {}c{dim} <= c{dim} == STEPS{dim} - 1 ? 0 : c{dim} + 1;", when(&full_c));
            let _ = writeln!(result, "        {}b{dim} <= b{dim} == STEPS{dim} - 1 ? 0 : b{dim} + 1;", when(&full_b));
            if one.stride > 1 {
                let _ = writeln!(reset, "      phase{dim} <= 0;");
                let _ = writeln!(done, "          phase{dim} <= 0;");
                let _ = writeln!(
                    result,
                    "        {}phase{dim} <= b{dim} == STEPS{dim} - 1 || phase{dim} == STRIDE{dim} - 1 ? 0 : phase{dim} + 1;",
                    when(&full_b)
                );
            }
            full_c.push(format!("c{dim} == STEPS{dim} - 1"));
            full_b.push(format!("b{dim} == STEPS{dim} - 1"));
        }
        let _ = write!(
            text,
            "  always @(posedge aclk)\n    if (reset) begin\n{reset}      left <= 0;\n      is_due <= 0;\n    end else if (step) begin\n      if (takes || !wants) begin\n{item}      end\n      if (begins) left <= LAG;\n      else if (left != 0) left <= left - 1;\n      if (due) begin\n        is_due <= !is_final;\n{result}        if (is_final) begin\n{done}        end\n      end\n    end\n"
        );
        text
    }

    /// Earlier items by how many steps ago they came.
    fn items(&self) -> String {
        let (mut text, mut clocked, mut rings) = (String::new(), String::new(), String::new());
        let (fields, _) = self.fields();
        for ((input, ty), first) in self.stream.inputs.iter().zip(&self.types).zip(fields) {
            let width = self.design.width(*ty);
            let name = |steps: usize| format!("i{input}_{steps}");
            let mut before = 0;
            let _ = writeln!(text, "  reg [{}:0] {};", width - 1, name(0));
            let _ = writeln!(clocked, "    {} <= s_axis_tdata[{}:{first}];", name(0), first + width - 1);
            for &steps in self.stream.kept.get(input).into_iter().flatten() {
                if steps - before >= SHORTEST_RING {
                    let (d, q) = (name(before), name(steps));
                    let _ = writeln!(text, "  wire [{}:0] {q};", width - 1);
                    let _ = writeln!(
                        rings,
                        "  delayed #(.WIDTH({width}), .DELAY({})) to_{q}(.clk(aclk), .reset(reset), .step(step), .d({d}), .q({q}));",
                        steps - before
                    );
                } else {
                    for steps in before + 1..=steps {
                        let _ = writeln!(text, "  reg [{}:0] {};", width - 1, name(steps));
                        let _ = writeln!(clocked, "    {} <= {};", name(steps), name(steps - 1));
                    }
                }
                before = steps;
            }
        }
        format!(
            "\n  // The last items: i0_7 is that of input 0 that came 7 steps before the newest.\n{text}  always @(posedge aclk) if (step) begin\n{clocked}  end\n{rings}"
        )
    }

    /// What each tap takes, by the borders at which the result lies.
    fn window(&self) -> String {
        let (mut text, mut clocked) = (String::new(), String::new());
        let mut named: Vec<String> = Vec::new();
        for (dim, kind, step) in self.stream.named() {
            let _ = writeln!(clocked, "    at{dim}_{kind} <= b{dim} == {step};");
            named.push(format!("at{dim}_{kind}"));
        }
        if !named.is_empty() {
            let _ = write!(
                text,
                "\n  // Whether the result lies at this border: at0_1 is the second kind of place along dimension 0.\n  reg {};\n  always @(posedge aclk) if (step) begin\n{clocked}  end\n",
                named.join(", ")
            );
        }
        let mut taken = String::new();
        let taps = self.design.cone.nodes.iter().filter_map(|(scalar, ty)| match scalar {
            Scalar::Tap(number, _) => Some((*number, *ty)),
            _ => None,
        });
        for (place, (number, ty)) in taps.enumerate() {
            let first = self.design.first_bit[place];
            let last = first + self.design.width(ty) - 1;
            let port = self.design.port(ty);
            let mut choice = String::new();
            let all = &self.stream.taps[number];
            for (from, kinds) in all.iter().skip(1) {
                let _ = write!(choice, "{} ? {} : ", self.condition(kinds), self.source(from, port));
            }
            let usual = all.first().map_or_else(|| port.literal(0), |(from, _)| self.source(from, port));
            let _ = writeln!(taken, "    x[{last}:{first}] <= {choice}{usual};");
        }
        let _ = write!(
            text,
            "\n  // The window of the datapath.\n  reg [{}:0] x;\n  always @(posedge aclk) begin\n{taken}  end\n",
            self.design.bus - 1
        );
        text
    }

    fn source(&self, taken: &Taken, port: Wires) -> String {
        match taken {
            Taken::Item(input, steps) => format!("i{input}_{}", self.stream.lag as i64 - steps),
            Taken::Real(bits) => port.literal(self.design.numbers.bits(f64::from_bits(*bits))),
            Taken::Whole(value) => port.literal(*value),
        }
    }

    /// Whether the result is of one of these kinds.
    fn condition(&self, kinds: &BTreeSet<Vec<usize>>) -> String {
        let dims = &self.stream.dims;
        let mut terms: BTreeSet<Vec<Option<usize>>> =
            kinds.iter().map(|kind| kind.iter().map(|one| Some(*one)).collect()).collect();
        // Where a term holds at every kind along a dimension, it does not ask for it.
        for (dim, along) in dims.iter().enumerate() {
            for term in terms.clone() {
                let with = |kind: Option<usize>| {
                    let mut term = term.clone();
                    term[dim] = kind;
                    term
                };
                if (0..along.kinds()).all(|kind| terms.contains(&with(Some(kind)))) {
                    terms.retain(|other| (0..along.kinds()).all(|kind| *other != with(Some(kind))));
                    terms.insert(with(None));
                }
            }
        }
        let asked = |(dim, kind): (usize, Option<usize>)| {
            let (kind, (low, _)) = (kind?, dims[dim].borders);
            if kind != low {
                return Some(format!("at{dim}_{kind}"));
            }
            let others = self.stream.named().filter(|(other, ..)| *other == dim);
            let none: Vec<String> = others.map(|(_, kind, _)| format!("!at{dim}_{kind}")).collect();
            (!none.is_empty()).then(|| none.join(" && "))
        };
        let words: Vec<String> = terms
            .iter()
            .map(|term| {
                let all: Vec<String> = term.iter().copied().enumerate().filter_map(asked).collect();
                if all.is_empty() { "1'b1".to_owned() } else { all.join(" && ") }
            })
            .collect();
        if words.len() == 1 { words.concat() } else { format!("({})", words.join(" || ")) }
    }

    fn tail(&self) -> String {
        let width = self.design.width(self.result());
        let sign = if self.design.is_signed(self.result()) { format!("y[{}]", width - 1) } else { "1'b0".to_owned() };
        let out = self.out_bits();
        let whole = if out == width { "y".to_owned() } else { format!("{{{{{}{{{sign}}}}}, y}}", out - width) };
        let stream = self.stream;
        TAIL.replace("Y_TOP", &(width - 1).to_string())
            .replace("OUT_BITS", &out.to_string())
            .replace("ON_THE_WAY", &self.clocks().to_string())
            .replace("QUEUE_BITS", &self.queue_bits().to_string())
            .replace("WHOLE_Y", &whole)
            .replace("FRAME_IN", &stream.items().to_string())
            .replace("FRAME_OUT", &stream.results().to_string())
    }
}

pub(in crate::verilog) const REGISTER_PORTS: &str = "  input wire [7:0] s_axil_awaddr,
  input wire s_axil_awvalid,
  output wire s_axil_awready,
  input wire [31:0] s_axil_wdata,
  input wire [3:0] s_axil_wstrb,
  input wire s_axil_wvalid,
  output wire s_axil_wready,
  output wire [1:0] s_axil_bresp,
  output wire s_axil_bvalid,
  input wire s_axil_bready,
  input wire [7:0] s_axil_araddr,
  input wire s_axil_arvalid,
  output wire s_axil_arready,
  output wire [31:0] s_axil_rdata,
  output wire [1:0] s_axil_rresp,
  output wire s_axil_rvalid,
  input wire s_axil_rready
);
";

const CONTROL: &str = "
  wire reset = !aresetn;
  wire may, may_begin, is_empty, is_home, wants, is_result, is_final;

  // c is the item that comes next, b the result whose window is whole LAG steps later. Between frames the walk goes on without
  // items, so that the last results do not wait for the next frame.
  reg [31:0] left;
  reg is_due;
  assign s_axis_tready = may && wants && (!is_home || may_begin);
  wire takes = s_axis_tvalid && s_axis_tready;
  wire begins = takes && is_home;
  wire is_drained = !is_due && left == 0;
  wire step = may && (wants ? takes || is_home && !is_drained : 1'b1);
  wire due = is_due || (begins ? LAG == 0 : left == 1);
";

const TAIL: &str = "  wire [Y_TOP:0] y;
  kernel kernel(.clk(aclk), .x(x), .y(y));
  results #(.WIDTH(OUT_BITS), .CLOCKS(ON_THE_WAY), .BITS(QUEUE_BITS)) results(
    .clk(aclk), .reset(reset), .may(may), .sets_out(step && is_result), .is_last(is_final), .d(WHOLE_Y), .is_empty(is_empty),
    .m_tvalid(m_axis_tvalid), .m_tready(m_axis_tready), .m_tdata(m_axis_tdata), .m_tlast(m_axis_tlast)
  );
  registers #(.VERSION(1), .ITEMS_IN(FRAME_IN), .ITEMS_OUT(FRAME_OUT)) registers(
    .clk(aclk), .reset(reset),
    .awaddr(s_axil_awaddr), .awvalid(s_axil_awvalid), .awready(s_axil_awready),
    .wdata(s_axil_wdata), .wstrb(s_axil_wstrb), .wvalid(s_axil_wvalid), .wready(s_axil_wready),
    .bresp(s_axil_bresp), .bvalid(s_axil_bvalid), .bready(s_axil_bready),
    .araddr(s_axil_araddr), .arvalid(s_axil_arvalid), .arready(s_axil_arready),
    .rdata(s_axil_rdata), .rresp(s_axil_rresp), .rvalid(s_axil_rvalid), .rready(s_axil_rready),
    .may_begin(may_begin), .begins(begins), .is_still(is_home && is_drained && is_empty),
    .takes_item(takes), .wants_item(s_axis_tready), .gives_item(m_axis_tvalid && m_axis_tready),
    .waits_for_receiver(m_axis_tvalid && !m_axis_tready), .is_tlast_wrong(takes && s_axis_tlast != is_end)
  );
endmodule
";
