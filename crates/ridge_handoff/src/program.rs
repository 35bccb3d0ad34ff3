//! A region as a flat list of operations on arrays: every call and fusion opened, every tuple taken apart.
//!
//! All that follows (the interpreter, the generated code, the graph) is made from this form, and all of it does the
//! same operations in the same order.

use ridge_hlo::ElementType;

/// Position of a node in [`Program::nodes`].
pub type NodeId = usize;

/// A region that can be computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What goes in, in order.
    pub inputs: Vec<Port>,
    /// What comes out, in order: the node of each.
    pub outputs: Vec<NodeId>,
    /// The operations; each reads only nodes before it.
    pub nodes: Vec<Node>,
}

/// Something that goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The parameter's name.
    pub name: String,
    /// The type of its elements.
    pub element_type: ElementType,
    /// Extent of each dimension, in elements.
    pub dims: Vec<usize>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The instruction's name.
    pub name: String,
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub of: Vec<NodeId>,
    /// The type of its elements.
    pub element_type: ElementType,
    /// Extent of each dimension, in elements.
    pub dims: Vec<usize>,
    /// File and line of the program that made it; empty where not known.
    pub source: String,
}

impl Node {
    /// Elements of its value.
    pub fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// What it is, in a few words: `add f32[4,6]`, `while, 10 trips`.
    pub(crate) fn words(&self) -> String {
        if let Op::Loop(inner) = &self.op {
            return format!("{}, {} trips", self.op.name(), inner.trips);
        }
        let dims: Vec<String> = self.dims.iter().map(ToString::to_string).collect();
        format!("{} {}[{}]", self.op.name(), self.element_type.name(), dims.join(","))
    }
}

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "XLA's own operations, defined in its operation semantics")]
pub enum Op {
    /// The input of this number.
    Input(usize),
    /// A value, in logical order; one element stands for all.
    Constant(Vec<Number>),
    Iota(usize),
    /// An operation on each element.
    Each(Each),
    /// Dimension of the result that each dimension of the operand becomes.
    Broadcast(Vec<usize>),
    /// The same elements in the same order.
    Reshape,
    /// Dimension of the operand that each dimension of the result is.
    Transpose(Vec<usize>),
    /// First element and step of each dimension.
    Slice(Vec<(usize, usize)>),
    /// Elements before, and between elements, of each dimension; those before may be negative.
    Pad(Vec<(i64, usize)>),
    Concatenate(usize),
    Reverse(Vec<usize>),
    /// Dimensions that go, and how two values become one; operands are the array and the first value.
    Reduce(Vec<usize>, Reducer),
    /// Size, stride, padding before, dilation of window and base for each dimension.
    ReduceWindow(Vec<WindowOf>, Reducer),
    /// The dimension, and whether the greatest come first.
    Sort(usize, Order),
    /// Contracted and batch dimensions: left, right.
    Dot {
        contract: (Vec<usize>, Vec<usize>),
        batch: (Vec<usize>, Vec<usize>),
    },
    Gather(Gather),
    /// What the elements already there and the updates become, or the update alone; operands are the array, the places, and
    /// the updates, which come in their own order. Its windows lie as those of a gather whose result is the updates, and
    /// one that is not wholly inside is left out.
    Scatter(Gather, Option<Reducer>),
    /// Operands are the array and a start for each dimension.
    DynamicSlice,
    /// Operands are the array, the update and a start for each dimension.
    DynamicUpdateSlice,
    /// Operands are what the state begins with, array by array; the value is all of the state in the end, one array behind
    /// the other.
    Loop(Box<Loop>),
    /// The array of this number of a loop's state.
    State(usize),
}

/// A loop that runs a known number of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// One trip: from the state to the next, array by array.
    pub body: Program,
    /// How often it runs.
    pub trips: usize,
}

impl Loop {
    /// Whether an array of the state stays as it is.
    pub(crate) fn keeps(&self, number: usize) -> bool {
        self.body.nodes[self.body.outputs[number]].op == Op::Input(number)
    }

    /// The arrays of the state that do not stay as they are, with what makes the next of each.
    pub(crate) fn changing(&self) -> impl Iterator<Item = (usize, &Node)> {
        let outputs = self.body.outputs.iter().map(|output| &self.body.nodes[*output]);
        outputs.enumerate().filter(|(number, node)| node.op != Op::Input(*number))
    }

    /// Elements of the state before an array of it.
    pub(crate) fn before(&self, number: usize) -> usize {
        self.body.outputs[..number].iter().map(|output| self.body.nodes[*output].elements()).sum()
    }
}

impl Program {
    /// Without operations that no output needs; inputs stay.
    pub(crate) fn pruned(self) -> Program {
        let mut is_needed = needed(&self.nodes, &self.outputs);
        self.nodes.iter().zip(&mut is_needed).for_each(|(node, keep)| *keep |= matches!(node.op, Op::Input(_)));
        let (nodes, outputs) = only(&self.nodes, &is_needed, &self.outputs);
        Program { nodes, outputs, ..self }
    }
}

/// What makes these of all nodes, as a program of its own, with only the inputs that it reads; and the numbers of those.
pub(crate) fn part(nodes: &[Node], outputs: &[NodeId]) -> (Program, Vec<usize>) {
    let (mut nodes, outputs) = only(nodes, &needed(nodes, outputs), outputs);
    let (mut inputs, mut numbers) = (Vec::new(), Vec::new());
    for node in &mut nodes {
        if let Op::Input(number) = &mut node.op {
            inputs.push(Port { name: node.name.clone(), element_type: node.element_type, dims: node.dims.clone() });
            numbers.push(std::mem::replace(number, numbers.len()));
        }
    }
    (Program { name: String::new(), inputs, outputs, nodes }, numbers)
}

/// Which nodes these need, themselves among them.
fn needed(nodes: &[Node], outputs: &[NodeId]) -> Vec<bool> {
    let mut is_needed = vec![false; nodes.len()];
    outputs.iter().for_each(|output| is_needed[*output] = true);
    for at in (0..nodes.len()).rev() {
        if is_needed[at] {
            nodes[at].of.iter().for_each(|operand| is_needed[*operand] = true);
        }
    }
    is_needed
}

/// The nodes that are kept, which read no others, and where the outputs are among them.
fn only(nodes: &[Node], is_kept: &[bool], outputs: &[NodeId]) -> (Vec<Node>, Vec<NodeId>) {
    let mut places = vec![0; nodes.len()];
    let mut kept: Vec<Node> = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| is_kept[*at]) {
        places[at] = kept.len();
        let of = node.of.iter().map(|operand| places[*operand]).collect();
        kept.push(Node { of, ..node.clone() });
    }
    (kept, outputs.iter().map(|output| places[*output]).collect())
}

/// A constant's element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of a real type.
    Real(f64),
    /// Of an integer type, or 0 and 1; unsigned ones of 64 bits by their bits.
    Whole(i64),
}

/// One dimension of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "XLA's own words")]
pub struct WindowOf {
    pub size: usize,
    pub stride: usize,
    pub low: i64,
    pub dilation: usize,
    pub base: usize,
}

/// The numbers of a gather, or of a scatter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "XLA's own words")]
pub struct Gather {
    pub offset: Vec<usize>,
    pub collapsed: Vec<usize>,
    pub starts: Vec<usize>,
    pub index_dim: usize,
    pub sizes: Vec<usize>,
    pub operand_batch: Vec<usize>,
    pub index_batch: Vec<usize>,
}

/// How two values become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Reducer {
    Add,
    Multiply,
    Maximum,
    Minimum,
    And,
    Or,
}

impl Reducer {
    /// The operation on two values.
    pub fn each(self) -> Each {
        match self {
            Reducer::Add => Each::Add,
            Reducer::Multiply => Each::Multiply,
            Reducer::Maximum => Each::Maximum,
            Reducer::Minimum => Each::Minimum,
            Reducer::And => Each::And,
            Reducer::Or => Each::Or,
        }
    }
}

/// Which of two values comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The lesser; zeros are equal, and what is no number comes last, as `jax.numpy.sort` has it.
    Total,
    /// The lesser by a plain comparison.
    Less,
    /// The greater by a plain comparison.
    Greater,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An operation on each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "XLA's own operations, defined in its operation semantics")]
pub enum Each {
    Abs,
    Negate,
    Not,
    Sign,
    Floor,
    Ceil,
    RoundAway,
    RoundEven,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Expm1,
    Log,
    Log1p,
    Logistic,
    Sine,
    Cosine,
    Tan,
    Tanh,
    IsFinite,
    Convert,
    Bits,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Maximum,
    Minimum,
    Power,
    Atan2,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightLogical,
    Compare(Relation),
    Select,
    Clamp,
}

impl Each {
    /// The operation of this opcode, without those that need attributes.
    pub fn of_opcode(opcode: &str) -> Option<Each> {
        Some(match opcode {
            "abs" => Each::Abs,
            "negate" => Each::Negate,
            "not" => Each::Not,
            "sign" => Each::Sign,
            "floor" => Each::Floor,
            "ceil" => Each::Ceil,
            "round-nearest-afz" => Each::RoundAway,
            "round-nearest-even" => Each::RoundEven,
            "sqrt" => Each::Sqrt,
            "rsqrt" => Each::Rsqrt,
            "cbrt" => Each::Cbrt,
            "exponential" => Each::Exp,
            "exponential-minus-one" => Each::Expm1,
            "log" => Each::Log,
            "log-plus-one" => Each::Log1p,
            "logistic" => Each::Logistic,
            "sine" => Each::Sine,
            "cosine" => Each::Cosine,
            "tan" => Each::Tan,
            "tanh" => Each::Tanh,
            "is-finite" => Each::IsFinite,
            "convert" => Each::Convert,
            "bitcast-convert" => Each::Bits,
            "add" => Each::Add,
            "subtract" => Each::Subtract,
            "multiply" => Each::Multiply,
            "divide" => Each::Divide,
            "remainder" => Each::Remainder,
            "maximum" => Each::Maximum,
            "minimum" => Each::Minimum,
            "power" => Each::Power,
            "atan2" => Each::Atan2,
            "and" => Each::And,
            "or" => Each::Or,
            "xor" => Each::Xor,
            "shift-left" => Each::ShiftLeft,
            "shift-right-arithmetic" => Each::ShiftRight,
            "shift-right-logical" => Each::ShiftRightLogical,
            "select" => Each::Select,
            "clamp" => Each::Clamp,
            _ => return None,
        })
    }

    /// Its name in generated code and in the graph.
    pub fn name(self) -> &'static str {
        match self {
            Each::Abs => "abs",
            Each::Negate => "negate",
            Each::Not => "not_",
            Each::Sign => "sign",
            Each::Floor => "floor",
            Each::Ceil => "ceil",
            Each::RoundAway => "round_away",
            Each::RoundEven => "round_even",
            Each::Sqrt => "sqrt",
            Each::Rsqrt => "rsqrt",
            Each::Cbrt => "cbrt",
            Each::Exp => "exp",
            Each::Expm1 => "expm1",
            Each::Log => "log",
            Each::Log1p => "log1p",
            Each::Logistic => "logistic",
            Each::Sine => "sine",
            Each::Cosine => "cosine",
            Each::Tan => "tan",
            Each::Tanh => "tanh",
            Each::IsFinite => "is_finite",
            Each::Convert => "convert",
            Each::Bits => "bits",
            Each::Add => "add",
            Each::Subtract => "subtract",
            Each::Multiply => "multiply",
            Each::Divide => "divide",
            Each::Remainder => "remainder",
            Each::Maximum => "maximum",
            Each::Minimum => "minimum",
            Each::Power => "power",
            Each::Atan2 => "atan2",
            Each::And => "and_",
            Each::Or => "or_",
            Each::Xor => "xor_",
            Each::ShiftLeft => "shift_left",
            Each::ShiftRight => "shift_right",
            Each::ShiftRightLogical => "shift_right_logical",
            Each::Compare(Relation::Eq) => "eq",
            Each::Compare(Relation::Ne) => "ne",
            Each::Compare(Relation::Lt) => "lt",
            Each::Compare(Relation::Le) => "le",
            Each::Compare(Relation::Gt) => "gt",
            Each::Compare(Relation::Ge) => "ge",
            Each::Select => "select",
            Each::Clamp => "clamp",
        }
    }

    /// Whether a designer has to build a table or a series for it.
    pub fn is_transcendental(self) -> bool {
        use Each::{Atan2, Cbrt, Cosine, Exp, Expm1, Log, Log1p, Logistic, Power, Rsqrt, Sine, Sqrt, Tan, Tanh};
        matches!(
            self,
            Atan2 | Cbrt | Cosine | Exp | Expm1 | Log | Log1p | Logistic | Power | Rsqrt | Sine | Sqrt | Tan | Tanh
        )
    }
}

impl Op {
    /// Its name in the graph.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Input(_) => "input",
            Op::Constant(_) => "constant",
            Op::Iota(_) => "iota",
            Op::Each(each) => each.name().trim_end_matches('_'),
            Op::Broadcast(_) => "broadcast",
            Op::Reshape => "reshape",
            Op::Transpose(_) => "transpose",
            Op::Slice(_) => "slice",
            Op::Pad(_) => "pad",
            Op::Concatenate(_) => "concatenate",
            Op::Reverse(_) => "reverse",
            Op::Reduce(..) => "reduce",
            Op::ReduceWindow(..) => "reduce-window",
            Op::Sort(..) => "sort",
            Op::Dot { .. } => "dot",
            Op::Gather(_) => "gather",
            Op::Scatter(..) => "scatter",
            Op::DynamicSlice => "dynamic-slice",
            Op::DynamicUpdateSlice => "dynamic-update-slice",
            Op::Loop(_) => "while",
            Op::State(_) => "state",
        }
    }
}
