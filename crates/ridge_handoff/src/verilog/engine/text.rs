//! The Verilog of an engine: what runs when, its memories, and its streams.

use super::super::stream::REGISTER_PORTS;
use super::element::wires;
use super::plan::{Moved, Plan};
use super::stage::Timed;
use crate::arithmetic::Fixed;
use ridge_hlo::ElementType;
use std::fmt::Write as _;

/// Clocks from the address of a result to its arrival at the queue, and the places there, as a power of two.
const CLOCKS: usize = 2;
const QUEUE_BITS: usize = 3;

/// An engine in the making.
pub(super) struct Engine<'a> {
    pub(super) plan: &'a Plan,
    pub(super) stages: Vec<Timed<'a>>,
    pub(super) format: Fixed,
}

impl Engine<'_> {
    /// Bits of an element in a stream: whole bytes.
    fn field(&self, ty: ElementType) -> usize {
        wires(ty, self.format).width.div_ceil(8) * 8
    }

    fn widest(&self, moved: &[Moved]) -> usize {
        moved.iter().map(|one| self.field(one.ty)).max().unwrap_or(8)
    }

    /// Bits of an item and of a result.
    pub(super) fn bits(&self) -> [usize; 2] {
        [self.widest(&self.plan.inputs), self.widest(&self.plan.outputs)]
    }

    /// Clocks from the first item of a frame to that of the next while nothing waits.
    pub(super) fn period(&self) -> u64 {
        let plan = self.plan;
        let moved = plan.inputs.iter().chain(&plan.outputs).map(|one| one.words as u64 + 1).sum::<u64>();
        let stages = self.stages.iter().enumerate().map(|(number, stage)| {
            let around = plan.loops.iter().filter(|(first, last, _)| (*first..=*last).contains(&number));
            let runs = around.fold(1_u64, |runs, (.., trips)| runs.saturating_mul(*trips as u64));
            runs.saturating_mul(stage.steps() as u64 + stage.latency() as u64 + 1)
        });
        stages.fold(moved, u64::saturating_add)
    }

    /// Clocks from the first item of a frame to its last result while nothing waits.
    pub(super) fn to_last(&self) -> u64 {
        self.period() + CLOCKS as u64
    }

    /// How often each memory is read at once.
    pub(super) fn copies(&self, memory: usize) -> usize {
        let of = |stage: &Timed<'_>| stage.loads.iter().filter(|(of, _)| *of == memory).count();
        let gives = self.plan.outputs.iter().any(|one| one.memory == memory);
        self.stages.iter().map(of).max().unwrap_or(0).max(usize::from(gives))
    }

    /// Bits of memory.
    pub(super) fn memory_bits(&self) -> usize {
        let one = |(at, memory): (usize, &super::plan::Memory)| {
            memory.width.saturating_mul(memory.words).saturating_mul(self.copies(at))
        };
        self.plan.memories.iter().enumerate().map(one).fold(0, usize::saturating_add)
    }

    /// Block RAMs of 36 Kbit that hold the memories, by their shapes; what is small lies in look-up tables.
    pub(super) fn blocks(&self) -> usize {
        const SHAPES: [(usize, usize); 7] =
            [(72, 512), (36, 1024), (18, 2048), (9, 4096), (4, 8192), (2, 16384), (1, 32768)];
        const SMALL: usize = 1024;
        let one = |(at, memory): (usize, &super::plan::Memory)| {
            let shaped =
                |(width, words): &(usize, usize)| memory.width.div_ceil(*width) * memory.words.div_ceil(*words);
            let each = SHAPES.iter().map(shaped).min().unwrap_or(0);
            if memory.width * memory.words <= SMALL { 0 } else { each * self.copies(at) }
        };
        self.plan.memories.iter().enumerate().map(one).sum()
    }

    /// Bits of an address of a memory.
    fn address_bits(&self, memory: usize) -> usize {
        (usize::BITS - (self.plan.memories[memory].words - 1).leading_zeros()).max(1) as usize
    }

    /// The stages.
    pub(super) fn parts(&self) -> String {
        let mut text = String::from(
            "// The stages of the engine: each makes one array in memory from others, an element a clock while it is on. Its reads go out\n// as addresses a0, a1 and come back as words q0, q1 a clock later; its writes are we, wa and wd.\n",
        );
        for (number, stage) in self.stages.iter().enumerate() {
            let width = |memory: usize| self.plan.memories[memory].width;
            text.push_str(&stage.module(&format!("stage{number}"), |memory| self.address_bits(memory), width));
        }
        text
    }

    /// Their memories.
    pub(super) fn memories(&self) -> String {
        let mut text = include_str!("memory.v").to_owned();
        for (at, memory) in self.plan.memories.iter().enumerate() {
            if let Some((name, _)) = &memory.table {
                let (bits, top, last) = (self.address_bits(at) - 1, memory.width - 1, memory.words - 1);
                let _ = write!(
                    text,
                    "\n// {}: a table that is never written.\nmodule rom{at}(input wire clk, input wire [{bits}:0] ra, output reg [{top}:0] q);\n  reg [{top}:0] cells [0:{last}];\n  initial $readmemh(\"../rtl/{name}.hex\", cells);\n  always @(posedge clk) q <= cells[ra];\nendmodule\n",
                    memory.about.replace(|letter: char| letter.is_control(), " "),
                );
            }
        }
        text
    }

    /// The core.
    pub(super) fn module(&self) -> String {
        let plan = self.plan;
        let (inputs, stages) = (plan.inputs.len(), self.stages.len());
        let steps = inputs + stages + plan.outputs.len();
        let [item, result] = self.bits();
        let mut text = String::from(
            "// Takes the inputs of a call one after the other into memories on the chip, runs its stages, and gives the outputs, by\n// AXI4-Stream, an element a beat in array order, last dimension fastest; tlast is the last of a call.\n",
        );
        for (number, one) in plan.inputs.iter().enumerate() {
            let top = wires(one.ty, self.format).width - 1;
            let _ =
                writeln!(text, "// Input {number}: {} items, s_axis_tdata[{top}:0] is {}.", one.words, one.ty.name());
        }
        for (number, one) in plan.outputs.iter().enumerate() {
            let top = wires(one.ty, self.format).width - 1;
            let _ =
                writeln!(text, "// Output {number}: {} items, m_axis_tdata[{top}:0] is {}.", one.words, one.ty.name());
        }
        let _ = write!(
            text,
            "// Real numbers are {}.\nmodule core(\n  input wire aclk,\n  input wire aresetn,\n  input wire [{}:0] s_axis_tdata,\n  input wire s_axis_tlast,\n  input wire s_axis_tvalid,\n  output wire s_axis_tready,\n  output wire [{}:0] m_axis_tdata,\n  output wire m_axis_tlast,\n  output wire m_axis_tvalid,\n  input wire m_axis_tready,\n{REGISTER_PORTS}",
            self.format,
            item - 1,
            result - 1
        );
        let _ = write!(
            text,
            "  localparam STEPS = {steps}, FIRST_STAGE = {inputs}, FIRST_GIVE = {};\n{CONTROL}",
            inputs + stages
        );
        text.push_str(&self.order(steps));
        text.push_str(&self.wired());
        let (items, results) = (words(&plan.inputs), words(&plan.outputs));
        text.push_str(
            &TAIL
                .replace("OUT_BITS", &result.to_string())
                .replace("ON_THE_WAY", &CLOCKS.to_string())
                .replace("QUEUE_BITS", &QUEUE_BITS.to_string())
                .replace("FRAME_IN", &items.to_string())
                .replace("FRAME_OUT", &results.to_string()),
        );
        text
    }

    /// Which step follows which, and how many words come or go in one.
    fn order(&self, steps: usize) -> String {
        let plan = self.plan;
        let (inputs, stages) = (plan.inputs.len(), self.stages.len());
        let (mut choice, mut trips, mut reset, mut declared) =
            (String::new(), String::new(), String::new(), String::new());
        for (number, (_, last, count)) in plan.loops.iter().enumerate() {
            let _ = writeln!(declared, "  reg [31:0] trip{number};");
            let _ = writeln!(reset, "      trip{number} <= 0;");
            // A loop goes on where all those inside that end with it are at their last trip.
            let inside = plan.loops[..number].iter().enumerate().filter(|(_, (_, other, _))| other == last);
            let ends: String = inside.map(|(other, (.., count))| format!(" && trip{other} == {}", count - 1)).collect();
            let _ = writeln!(
                trips,
                "      if (pc == {}{ends}) trip{number} <= trip{number} == {} ? 0 : trip{number} + 1;",
                inputs + last,
                count - 1
            );
        }
        for last in 0..stages {
            let here: Vec<String> = plan
                .loops
                .iter()
                .enumerate()
                .filter(|(_, (_, other, _))| *other == last)
                .map(|(number, (first, _, count))| format!("trip{number} != {} ? {} : ", count - 1, inputs + first))
                .collect();
            if !here.is_empty() {
                let at = inputs + last;
                let _ = writeln!(choice, "    {at}: next = {}{};", here.concat(), at + 1);
            }
        }
        let mut drains = String::new();
        for (number, stage) in self.stages.iter().enumerate() {
            let _ = writeln!(drains, "    {}: drains = {};", inputs + number, stage.latency());
        }
        let mut counts = String::new();
        let first_give = inputs + stages;
        let moved = plan.inputs.iter().enumerate().chain((first_give..).zip(&plan.outputs));
        for (at, one) in moved {
            let _ = writeln!(counts, "    {at}: words = {};", one.words);
        }
        format!(
            "{declared}  reg [31:0] next, drains, words;
  always @* case (pc)
{choice}    default: next = pc == STEPS - 1 ? 0 : pc + 1;
  endcase
  always @* case (pc)
{drains}    default: drains = 0;
  endcase
  always @* case (pc)
{counts}    default: words = 1;
  endcase
  wire moves_on = !issuing && drain == 0;
  always @(posedge aclk)
    if (reset) begin
      pc <= 0;
      issuing <= 1;
      drain <= 0;
      count <= 0;
{reset}    end else if (issuing) begin
      if (go && (is_load || is_give)) count <= is_end ? 0 : count + 1;
      if (go && is_end) begin
        issuing <= 0;
        drain <= drains;
      end
    end else if (drain != 0) drain <= drain - 1;
    else begin
      pc <= next;
      issuing <= 1;
{trips}    end
  wire is_last_word = count == words - 1;
  wire is_last_item = is_last_word && pc == {};
  wire is_last_result = is_last_word && pc == {};
",
            inputs - 1,
            steps - 1,
        )
    }

    /// Memories and stages, and the wires between them.
    fn wired(&self) -> String {
        let plan = self.plan;
        let (inputs, stages) = (plan.inputs.len(), self.stages.len());
        let first_give = inputs + stages;
        let mut text = String::from("\n  // Memories, each once for every word that is read at a time.\n");
        let mut ends = String::new();
        // Who reads a copy of a memory and who writes a memory: when, and what.
        let mut readers: Vec<Vec<Vec<(String, String)>>> =
            (0..plan.memories.len()).map(|at| vec![Vec::new(); self.copies(at)]).collect();
        let mut writers: Vec<Vec<[String; 3]>> = vec![Vec::new(); plan.memories.len()];
        let mut modules = String::new();
        for (at, one) in plan.inputs.iter().enumerate() {
            let (bits, width) = (self.address_bits(one.memory), plan.memories[one.memory].width);
            let address = format!("count[{}:0]", bits - 1);
            writers[one.memory].push([
                format!("takes && pc == {at}"),
                address,
                format!("s_axis_tdata[{}:0]", width - 1),
            ]);
        }
        let mut given = String::new();
        let [_, result] = self.bits();
        for (number, one) in plan.outputs.iter().enumerate() {
            let bits = self.address_bits(one.memory);
            if let Some(reads) = readers[one.memory].first_mut() {
                reads.push((format!("pc == {}", first_give + number), format!("count[{}:0]", bits - 1)));
            }
            let wires = wires(one.ty, self.format);
            let word = format!("m{}_q0", one.memory);
            let sign = if wires.is_signed { format!("{word}[{}]", wires.width - 1) } else { "1'b0".to_owned() };
            let whole = match result - wires.width {
                0 => word,
                more => format!("{{{{{more}{{{sign}}}}}, {word}}}"),
            };
            let _ = writeln!(given, "    {}: d <= {whole};", first_give + number);
        }
        for (number, stage) in self.stages.iter().enumerate() {
            let (pc, target) = (inputs + number, stage.stage.target);
            let _ = writeln!(ends, "    {pc}: stage_end = s{number}_end;");
            let mut ports = String::new();
            let mut used = vec![0; plan.memories.len()];
            for (load, (memory, _)) in stage.loads.iter().enumerate() {
                let copy = used[*memory];
                used[*memory] += 1;
                let _ = writeln!(modules, "  wire [{}:0] s{number}_a{load};", self.address_bits(*memory) - 1);
                let _ = write!(ports, " .a{load}(s{number}_a{load}), .q{load}(m{memory}_q{copy}),");
                readers[*memory][copy].push((format!("pc == {pc}"), format!("s{number}_a{load}")));
            }
            let _ = writeln!(
                modules,
                "  wire s{number}_end, s{number}_we;\n  wire [{}:0] s{number}_wa;\n  wire [{}:0] s{number}_wd;\n  stage{number} s{number}(.clk(aclk), .reset(reset), .on(pc == {pc}), .go(go && pc == {pc}), .is_end(s{number}_end),{ports} .we(s{number}_we), .wa(s{number}_wa), .wd(s{number}_wd));",
                self.address_bits(target) - 1,
                stage.word().width - 1,
            );
            writers[target].push([format!("s{number}_we"), format!("s{number}_wa"), format!("s{number}_wd")]);
        }
        for (at, memory) in plan.memories.iter().enumerate() {
            let (bits, width) = (self.address_bits(at), memory.width);
            let _ = writeln!(text, "  // m{at}: {}", memory.about.replace(|letter: char| letter.is_control(), " "));
            let mut writes = String::new();
            if memory.table.is_none() {
                let any: Vec<&str> = writers[at].iter().map(|one| one[0].as_str()).collect();
                let any: Vec<String> = any.iter().map(|one| format!("({one})")).collect();
                let _ = writeln!(
                    text,
                    "  wire m{at}_we = {};\n  wire [{}:0] m{at}_wa = {};\n  wire [{}:0] m{at}_wd = {};",
                    if any.is_empty() { "1'b0".to_owned() } else { any.join(" || ") },
                    bits - 1,
                    chosen(writers[at].iter().map(|one| (one[0].as_str(), one[1].as_str()))),
                    width - 1,
                    chosen(writers[at].iter().map(|one| (one[0].as_str(), one[2].as_str()))),
                );
                let _ = write!(writes, ".we(m{at}_we), .wa(m{at}_wa), .wd(m{at}_wd), ");
            }
            for (copy, reads) in readers[at].iter().enumerate() {
                let _ = writeln!(
                    text,
                    "  wire [{}:0] m{at}_a{copy} = {};\n  wire [{}:0] m{at}_q{copy};",
                    bits - 1,
                    chosen(reads.iter().map(|one| (one.0.as_str(), one.1.as_str()))),
                    width - 1,
                );
                let kind = match &memory.table {
                    Some(_) => format!("rom{at}"),
                    None => format!("bank #(.WIDTH({width}), .WORDS({}), .BITS({bits}))", memory.words),
                };
                let _ = writeln!(
                    text,
                    "  {kind} m{at}_{copy}(.clk(aclk), {writes}.ra(m{at}_a{copy}), .q(m{at}_q{copy}));",
                );
            }
        }
        format!(
            "  reg stage_end;
  always @* case (pc)
{ends}    default: stage_end = is_last_word;
  endcase
  assign is_end = stage_end;
{modules}{text}
  reg [15:0] given;
  reg [{}:0] d;
  always @(posedge aclk) begin
    given <= pc;
    case (given)
{given}    default: d <= 0;
    endcase
  end
",
            result - 1
        )
    }
}

/// The words of all arrays.
pub(super) fn words(moved: &[Moved]) -> usize {
    moved.iter().map(|one| one.words).sum()
}

/// What belongs to the first condition that holds; the last is taken where none does.
fn chosen<'a>(all: impl DoubleEndedIterator<Item = (&'a str, &'a str)>) -> String {
    let mut all = all.rev();
    let Some((_, last)) = all.next() else { return "0".to_owned() };
    all.fold(last.to_owned(), |text, (when, what)| format!("{when} ? {what} : {text}"))
}

const CONTROL: &str = "
  wire reset = !aresetn;
  wire may, may_begin, is_empty, is_end;

  // The step that runs: those that take an input, the stages, those that give an output. A step begins an element a clock, or
  // waits for an item or for room; when its last has begun it drains, and the next begins.
  reg [15:0] pc;
  reg issuing;
  reg [15:0] drain;
  reg [31:0] count;
  wire is_load = pc < FIRST_STAGE, is_give = pc >= FIRST_GIVE;
  wire is_home = pc == 0 && count == 0 && issuing;
  assign s_axis_tready = issuing && is_load && (!is_home || may_begin);
  wire takes = s_axis_tvalid && s_axis_tready;
  wire go = issuing && (is_load ? takes : is_give ? may : 1'b1);
";

const TAIL: &str = "  results #(.WIDTH(OUT_BITS), .CLOCKS(ON_THE_WAY), .BITS(QUEUE_BITS)) results(
    .clk(aclk), .reset(reset), .may(may), .sets_out(go && is_give), .is_last(is_last_result), .d(d), .is_empty(is_empty),
    .m_tvalid(m_axis_tvalid), .m_tready(m_axis_tready), .m_tdata(m_axis_tdata), .m_tlast(m_axis_tlast)
  );
  registers #(.VERSION(1), .ITEMS_IN(FRAME_IN), .ITEMS_OUT(FRAME_OUT)) registers(
    .clk(aclk), .reset(reset),
    .awaddr(s_axil_awaddr), .awvalid(s_axil_awvalid), .awready(s_axil_awready),
    .wdata(s_axil_wdata), .wstrb(s_axil_wstrb), .wvalid(s_axil_wvalid), .wready(s_axil_wready),
    .bresp(s_axil_bresp), .bvalid(s_axil_bvalid), .bready(s_axil_bready),
    .araddr(s_axil_araddr), .arvalid(s_axil_arvalid), .arready(s_axil_arready),
    .rdata(s_axil_rdata), .rresp(s_axil_rresp), .rvalid(s_axil_rvalid), .rready(s_axil_rready),
    .may_begin(may_begin), .begins(takes && is_home), .is_still(is_home && is_empty),
    .takes_item(takes), .wants_item(s_axis_tready), .gives_item(m_axis_tvalid && m_axis_tready),
    .waits_for_receiver(m_axis_tvalid && !m_axis_tready), .is_tlast_wrong(takes && s_axis_tlast != is_last_item)
  );
endmodule
";
