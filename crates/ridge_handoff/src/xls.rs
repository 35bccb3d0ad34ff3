//! A window of single precision for XLS: its code in DSLX, and the Verilog that XLS schedules from it, where a Python has it.
//!
//! XLS's own adders and multipliers take denormals for zeros and give zeros for them (`apfloat.x` of its library), so the
//! vectors are those of an interpreter that does the same.

use crate::Refusal;
use crate::bundle::Files;
use crate::cone::{At, Cone, Reals, Scalar, WindowCode, window};
use crate::program::{Each, Program, Relation};
use crate::running::answer;
use crate::verilog::{Design, Numbers};
use ridge_hlo::ElementType;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// The folder in a bundle.
const FOLDER: &str = Numbers::Flushed.folder();

/// Operations of a window for which XLS is asked: its optimizer looks at all of them together.
const MOST: usize = 1000;

/// Clocks for each operation of the longest path, and at most.
const CLOCKS: usize = 2;
const MOST_CLOCKS: usize = 64;

/// What stands before the code: everything that compares does so on the bits, denormals as they are.
const PRELUDE: &str = include_str!("xls/prelude.x");

/// The code in DSLX, the script that has XLS make Verilog of it, a test bench and vectors.
///
/// # Errors
/// [`Refusal`] where the region is no window of operations that are written here.
pub(crate) fn files(program: &Program, golden: &Files) -> Result<Files, Refusal> {
    let code = window(program, Reals::Typed)?;
    if !code.cone.nodes.iter().any(|(_, ty)| *ty == ElementType::F32) {
        return Err(Refusal("it has no single-precision numbers".to_owned()));
    }
    if code.cone.nodes.len() > MOST {
        return Err(Refusal(format!("one element takes {} operations, more than {MOST}", code.cone.nodes.len())));
    }
    let text = dslx(&code)?;
    let clocks = (depth(&code.cone) * CLOCKS).clamp(1, MOST_CLOCKS);
    let design = Design::new(&code.cone, Numbers::Flushed)?;
    let (stimuli, expected) = design.vectors(program, &code, golden)?;
    if expected.is_empty() {
        return Err(Refusal("its inner code applies to none of its elements".to_owned()));
    }
    let mut files = Files::new();
    let mut put = |path: &str, text: String| files.insert(format!("{FOLDER}/{path}"), text.into_bytes());
    put("kernel.x", text);
    put("make.py", include_str!("xls/make.py").replace("CLOCKS", &clocks.to_string()));
    put("tb.v", design.test_bench(expected.len(), clocks));
    put("x.hex", stimuli);
    put("y.hex", expected.iter().map(|value| format!("{value:x}\n")).collect());
    Ok(files)
}

/// The longest path, in operations.
fn depth(cone: &Cone) -> usize {
    let mut level = vec![0; cone.nodes.len()];
    for (at, (scalar, _)) in cone.nodes.iter().enumerate() {
        if !scalar.reads().is_empty() {
            level[at] = 1 + scalar.reads().iter().map(|operand| level[*operand]).max().unwrap_or(0);
        }
    }
    level[cone.root]
}

fn dslx(code: &WindowCode) -> Result<String, Refusal> {
    let cone = &code.cone;
    let refuse = |what: &str| Err(Refusal(format!("{what} is not written in DSLX here")));
    let mut text = String::from(PRELUDE);
    let _ = writeln!(text, "\npub fn kernel(x: bits[{}]) -> u32 {{", 32 * cone.taps.len());
    let mut tap = 0;
    for (at, (scalar, ty)) in cone.nodes.iter().enumerate() {
        if !matches!(ty, ElementType::F32 | ElementType::Pred) {
            return refuse(&format!("type {}", ty.name()));
        }
        let value = match scalar {
            Scalar::Tap(..) if *ty == ElementType::F32 => {
                tap += 1;
                format!("x[{} +: u32]", 32 * (tap - 1))
            }
            Scalar::Tap(..) => return refuse("a Boolean input"),
            Scalar::Real(bits) => format!("u32:0x{:08x}", (f64::from_bits(*bits) as f32).to_bits()),
            Scalar::Whole(value) => (value & 1 == 1).to_string(),
            Scalar::Before([a, b]) => format!("before(n{a}, n{b})"),
            Scalar::Each(each, of) => match operation(*each, of, cone.nodes[of[0]].1.is_float(), *ty) {
                Some(value) => value,
                None => return refuse(each.name().trim_end_matches('_')),
            },
        };
        let kind = if *ty == ElementType::F32 { "u32" } else { "bool" };
        let _ = writeln!(text, "    let n{at}: {kind} = {value};");
    }
    if cone.nodes[cone.root].1 != ElementType::F32 {
        return refuse("a result that is not a number");
    }
    let _ = writeln!(text, "    n{}\n}}", cone.root);
    Ok(text)
}

fn operation(each: Each, of: &[At], from_reals: bool, ty: ElementType) -> Option<String> {
    let named = |name: &str| {
        let words: Vec<String> = of.iter().map(|at| format!("n{at}")).collect();
        format!("{name}({})", words.join(", "))
    };
    let (a, b) = (of[0], of.get(1).copied().unwrap_or(0));
    Some(match (each, ty == ElementType::F32) {
        (Each::Add, true) => named("add"),
        (Each::Subtract, true) => format!("add(n{a}, n{b} ^ u32:0x80000000)"),
        (Each::Multiply, true) => named("mul"),
        (Each::Negate, true) => format!("n{a} ^ u32:0x80000000"),
        (Each::Abs, true) => format!("n{a} & u32:0x7fffffff"),
        (Each::Minimum, true) => named("lesser"),
        (Each::Maximum, true) => named("greater"),
        (Each::Select, _) => format!("if n{a} {{ n{b} }} else {{ n{} }}", of.get(2)?),
        (Each::Compare(relation), false) if from_reals => match relation {
            Relation::Eq => named("equal"),
            Relation::Ne => format!("!equal(n{a}, n{b})"),
            Relation::Lt => named("less"),
            Relation::Gt => format!("less(n{b}, n{a})"),
            Relation::Le => format!("less(n{a}, n{b}) || equal(n{a}, n{b})"),
            Relation::Ge => format!("less(n{b}, n{a}) || equal(n{a}, n{b})"),
        },
        (Each::And, false) => format!("n{a} && n{b}"),
        (Each::Or, false) => format!("n{a} || n{b}"),
        (Each::Xor, false) => format!("n{a} != n{b}"),
        (Each::Not, false) => format!("!n{a}"),
        _ => return None,
    })
}

/// Runs the bundle's `xls/make.py`, which writes `xls/kernel.v`; gives what it says of itself, or why there is none.
pub fn run(python: &Path, folder: &Path) -> Value {
    let script = folder.join(FOLDER).join("make.py");
    let why = |why: String| json!({ "why": why });
    let ran = answer(python, &script, None);
    let said = ran.said.lines().rev().find_map(|line| serde_json::from_str::<Value>(line).ok());
    said.filter(Value::is_object).unwrap_or_else(|| {
        let line = ran.said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it ended without output");
        why(line.trim().chars().take(300).collect())
    })
}
