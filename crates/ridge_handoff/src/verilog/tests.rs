//! Each operation by itself: thousands of bit patterns, all pairs of special ones among them, through Icarus Verilog and the
//! interpreter.

use super::{Design, Numbers};
use crate::arithmetic::{Arithmetic, Cell, Fixed, Strict, wrapped};
use crate::cone::window;
use crate::interpret::apply;
use crate::program::{Each, Node, Op, Port, Program, Relation};
use crate::verify::tools::run;
use ridge_hlo::ElementType;
use std::fmt::Write as _;
use std::fs;

const RELATIONS: [Relation; 6] = [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// Bit patterns besides pairs of special ones.
const DRAWN: usize = 3000;

/// An operation with the types of its operands and of its result.
type Case = (Each, Vec<ElementType>, ElementType);

fn program((each, from, ty): &Case) -> Program {
    let mut nodes = Vec::new();
    let mut inputs = Vec::new();
    let node = |op, of, element_type| Node {
        name: "n".to_owned(),
        op,
        of,
        element_type,
        dims: vec![1],
        source: String::new(),
    };
    for (number, from) in from.iter().enumerate() {
        inputs.push(Port { name: "x".to_owned(), element_type: *from, dims: vec![1] });
        nodes.push(node(Op::Input(number), Vec::new(), *from));
    }
    nodes.push(node(Op::Each(*each), (0..from.len()).collect(), *ty));
    Program { name: "one".to_owned(), inputs, outputs: vec![from.len()], nodes }
}

/// Bit patterns for three operands each: all pairs of special ones, and many that are drawn.
fn patterns(special: &[u64]) -> Vec<[u64; 3]> {
    let mut all = Vec::new();
    for (at, a) in special.iter().enumerate() {
        all.extend(special.iter().enumerate().map(|(to, b)| [*a, *b, special[(at * 7 + to * 3) % special.len()]]));
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    for count in 0..DRAWN {
        let [a, b, c] = [next(), next(), next()];
        // Every other one has an exponent near that of the first: those cancel, and round.
        let near = a & 0x7f80_0000 | b & 0x80ff_ffff;
        all.push(if count % 2 == 0 { [a, b, c] } else { [a, near, c] });
    }
    all
}

/// Names of the operations whose design gives other bits than the interpreter, with how many; `None` without Icarus Verilog.
fn wrong<A: Arithmetic>(
    numbers: Numbers,
    by: &A,
    cases: &[Case],
    special: &[u64],
    cell: impl Fn(u64, ElementType) -> Cell<A::Real>,
    raw: impl Fn(Cell<A::Real>) -> u64,
) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let patterns = patterns(special);
    let count = patterns.len();
    let (mut kernels, mut declared, mut read, mut fed, mut held, mut said) =
        <(String, String, String, String, String, String)>::default();
    for (at, case) in cases.iter().enumerate() {
        let program = program(case);
        let code = window(&program, numbers.reals()).expect("a window");
        let design = Design::new(&code.cone, numbers).unwrap_or_else(|why| panic!("{case:?}: {why}"));
        kernels += &design.module(&code).replace("module kernel(", &format!("module kernel_{at}("));
        let out = design.width(case.2);
        let mask = |bits: usize| if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let (mut stimuli, mut expected) = (String::new(), String::new());
        for pattern in &patterns {
            let (mut bus, mut first) = (0_u128, 0);
            let mut cells = Vec::new();
            let mut high = 0_u64;
            for (operand, ty) in pattern.iter().zip(&case.1) {
                let bits = operand & mask(design.width(*ty));
                cells.push(cell(bits, *ty));
                if first < 128 {
                    bus |= u128::from(bits) << first;
                } else {
                    high = bits;
                }
                first += design.width(*ty);
            }
            let digits = if first > 128 { format!("{high:x}{bus:032x}") } else { format!("{bus:x}") };
            let _ = writeln!(stimuli, "{digits}");
            let found = apply(case.0, &cells, case.1[0], case.2, by).expect("computed");
            let _ = writeln!(expected, "{:x}", raw(found) & mask(out));
        }
        fs::write(folder.path().join(format!("x{at}.hex")), stimuli).expect("written");
        fs::write(folder.path().join(format!("y{at}.hex")), expected).expect("written");
        let (bus, out, last, latency) = (design.bus - 1, out - 1, count - 1, design.latency());
        let _ = writeln!(
            declared,
            "  reg [{bus}:0] s{at} [0:{last}];\n  reg [{out}:0] e{at} [0:{last}];\n  reg [{bus}:0] x{at};\n  wire [{out}:0] y{at};\n  integer w{at};\n  kernel_{at} k{at}(.clk(clk), .x(x{at}), .y(y{at}));"
        );
        let _ = writeln!(
            read,
            "    w{at} = 0;\n    $readmemh(\"x{at}.hex\", s{at});\n    $readmemh(\"y{at}.hex\", e{at});"
        );
        let _ = writeln!(fed, "      x{at} = s{at}[at % {count}];");
        let same = match case.2 == ElementType::F32 && numbers.is_single() {
            true => format!(
                "y{at} !== e{at}[at + 1 - {latency}] && !(is_nan(y{at}) === 1 && is_nan(e{at}[at + 1 - {latency}]))"
            ),
            false => format!("y{at} !== e{at}[at + 1 - {latency}]"),
        };
        let _ = writeln!(
            held,
            "      if (at + 1 >= {latency} && at + 1 - {latency} < {count} && {same}) w{at} = w{at} + 1;"
        );
        let from: Vec<&str> = case.1.iter().map(|ty| ty.name()).collect();
        let _ = writeln!(said, "    $display(\"%0d {} {} {}\", w{at});", case.0.name(), from.join(","), case.2.name());
    }
    let is_nan = "  function is_nan(input [31:0] a);\n    is_nan = a[30:23] == 8'hff && a[22:0] != 0;\n  endfunction\n";
    let bench = format!(
        "`timescale 1ns/1ps\nmodule tb;\n  reg clk = 0;\n  integer at;\n{is_nan}{declared}  always #1 clk = ~clk;\n  initial begin\n{read}    for (at = 0; at < {count} + 4; at = at + 1) begin\n{fed}      @(posedge clk); #0.5;\n{held}    end\n{said}    $display(\"done\");\n    $finish;\n  end\nendmodule\n"
    );
    fs::write(folder.path().join("all.v"), kernels + &bench).expect("written");
    let built = run(folder.path(), &["iverilog", "-g2005", "-o", "tb.vvp", "all.v"]);
    if built.said.contains("No such file or directory") && !built.is_success {
        return None;
    }
    assert!(built.is_success, "{}", built.said);
    let ran = run(folder.path(), &["sh", "-c", "vvp tb.vvp > said.txt"]);
    assert!(ran.is_success, "{}", ran.said);
    let text = fs::read_to_string(folder.path().join("said.txt")).expect("read");
    assert!(text.lines().count() == cases.len() + 1 && text.ends_with("done\n"), "{text}");
    Some(text.lines().filter(|line| !line.starts_with("0 ") && *line != "done").map(str::to_owned).collect())
}

fn held(test: &str, found: Option<Vec<String>>) {
    match found {
        Some(found) => assert_eq!(found, Vec::<String>::new()),
        None => println!("skipped: {test}: no iverilog"),
    }
}

use ElementType::{F32, Pred, S8, S16, S32, S64, U8, U16, U32, U64};

/// Zeros, denormals, ends, infinities, what is no number, whole ones and halves, and what does not fit other types, of both signs.
fn special() -> Vec<u64> {
    let reals = [
        0.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        1.0,
        0.5,
        1.5,
        2.5,
        3.0,
        0.1,
        127.5,
        255.0,
        256.0,
        65536.0,
        8_388_607.5,
        8_388_608.0,
        16_777_216.0,
        2_147_483_648.0,
        4_294_967_296.0,
        9.223_372e18,
        1.844_674_4e19,
        1e-20,
        1e20,
    ];
    let bits = [
        1,
        2,
        0x007f_ffff,
        0x0080_0001,
        0x3f7f_ffff,
        0x3eff_ffff,
        0x4f7f_ffff,
        0x5eff_ffff,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    let all = reals.iter().map(|value| value.to_bits()).chain(bits);
    all.flat_map(|bits| [u64::from(bits), u64::from(bits | 0x8000_0000)]).collect()
}

#[test]
fn single_precision_is_that_of_ieee_754() {
    let one = |each| (each, vec![F32], F32);
    let two = |each| (each, vec![F32, F32], F32);
    let mut cases: Vec<Case> = Vec::new();
    cases.extend([Each::Abs, Each::Negate, Each::Sign, Each::Sqrt, Each::Rsqrt].map(one));
    cases.extend([Each::Floor, Each::Ceil, Each::RoundEven, Each::RoundAway].map(one));
    cases.extend([Each::Add, Each::Subtract, Each::Multiply, Each::Divide, Each::Minimum, Each::Maximum].map(two));
    cases.extend(RELATIONS.map(|relation| (Each::Compare(relation), vec![F32, F32], Pred)));
    cases.push((Each::IsFinite, vec![F32], Pred));
    cases.push((Each::Clamp, vec![F32; 3], F32));
    cases.push((Each::Select, vec![Pred, F32, F32], F32));
    for ty in [Pred, S8, S16, S32, S64, U8, U16, U32, U64] {
        cases.extend([(Each::Convert, vec![F32], ty), (Each::Convert, vec![ty], F32)]);
    }
    let cell = |bits: u64, ty: ElementType| match ty {
        F32 => Cell::Real(f64::from(f32::from_bits(bits as u32))),
        ty => Cell::Whole(wrapped(bits.cast_signed(), ty), true),
    };
    let raw = |cell: Cell<f64>| match cell {
        Cell::Real(value) => u64::from((value as f32).to_bits()),
        Cell::Whole(value, _) => value.cast_unsigned(),
    };
    let found = wrong(Numbers::Single, &Strict::default(), &cases, &special(), cell, raw);
    held("single_precision_is_that_of_ieee_754", found);
}

/// The ends of whole numbers and of formats, and what is near to nothing.
fn ends() -> Vec<u64> {
    let bits = [0_u32, 7, 8, 11, 15, 16, 31, 32, 62, 63];
    let near = |bit: u32| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1];
    bits.iter().flat_map(|bit| near(*bit)).flat_map(|value| [value, value.wrapping_neg()]).collect()
}

#[test]
fn fixed_point_is_that_of_the_interpreter() {
    for text in ["fixed<16,8>", "fixed<32,16>", "fixed<8,8>", "fixed<12,1>"] {
        let format: Fixed = text.parse().expect("a format");
        let mut cases: Vec<Case> = Vec::new();
        cases.extend([Each::Abs, Each::Negate, Each::Sign, Each::Floor, Each::Ceil].map(|each| (each, vec![F32], F32)));
        let two = [Each::Add, Each::Subtract, Each::Multiply, Each::Divide, Each::Minimum, Each::Maximum];
        cases.extend(two.map(|each| (each, vec![F32, F32], F32)));
        cases.extend(RELATIONS.map(|relation| (Each::Compare(relation), vec![F32, F32], Pred)));
        cases.push((Each::Clamp, vec![F32; 3], F32));
        cases.push((Each::Select, vec![Pred, F32, F32], F32));
        for ty in [Pred, S8, S32, S64, U8, U32, U64] {
            cases.extend([(Each::Convert, vec![F32], ty), (Each::Convert, vec![ty], F32)]);
        }
        let unused = 64 - format.width;
        let cell = |bits: u64, ty: ElementType| match ty {
            F32 => Cell::Real((bits << unused).cast_signed() >> unused),
            ty => Cell::Whole(wrapped(bits.cast_signed(), ty), true),
        };
        let raw = |cell: Cell<i64>| match cell {
            Cell::Real(value) | Cell::Whole(value, _) => value.cast_unsigned(),
        };
        held(text, wrong(Numbers::Fixed(format), &format, &cases, &ends(), cell, raw));
    }
}

#[test]
fn whole_numbers_are_those_of_the_interpreter() {
    let mut cases: Vec<Case> = Vec::new();
    for ty in [S8, S32, S64, U8, U32, U64] {
        cases.extend([Each::Negate, Each::Sign, Each::Not, Each::Abs].map(|each| (each, vec![ty], ty)));
        let two = [
            Each::Add,
            Each::Subtract,
            Each::Multiply,
            Each::Divide,
            Each::Remainder,
            Each::Minimum,
            Each::Maximum,
            Each::And,
            Each::Or,
            Each::Xor,
            Each::ShiftLeft,
            Each::ShiftRightLogical,
        ];
        cases.extend(two.map(|each| (each, vec![ty, ty], ty)));
        if matches!(ty, S8 | S32 | S64) {
            cases.push((Each::ShiftRight, vec![ty, ty], ty));
        }
        cases.extend(RELATIONS.map(|relation| (Each::Compare(relation), vec![ty, ty], Pred)));
        cases.push((Each::Clamp, vec![ty; 3], ty));
        cases.extend([Pred, S16, U16, S64, U64].map(|to| (Each::Convert, vec![ty], to)));
        cases.push((Each::Convert, vec![Pred], ty));
    }
    let cell = |bits: u64, ty: ElementType| Cell::Whole(wrapped(bits.cast_signed(), ty), true);
    let raw = |cell: Cell<f64>| match cell {
        Cell::Real(value) => value.to_bits(),
        Cell::Whole(value, _) => value.cast_unsigned(),
    };
    let found = wrong(Numbers::Single, &Strict::default(), &cases, &ends(), cell, raw);
    held("whole_numbers_are_those_of_the_interpreter", found);
}
