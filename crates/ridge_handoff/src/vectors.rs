//! Inputs that a region is tried on, and what comes out: made from a fixed seed, so that anybody makes the same.

use crate::arithmetic::{Arithmetic, Bounded, Cell, Fixed, Strict};
use crate::interpret::{CannotCompute, interpret};
use crate::program::{Op, Port, Program};
use ridge_hlo::ElementType;

/// Files of one output in double precision: the values, and the bound of each.
pub type Bounds = (Vec<u8>, Vec<u8>);

/// One output in a number format: the file, and what its numbers stand for.
pub type InFormat = (Vec<u8>, Vec<f64>);

/// A set of inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// Its name, that of its folder.
    pub name: String,
    /// Bytes of each input, little-endian, in logical order.
    pub inputs: Vec<Vec<u8>>,
}

/// What numbers a set holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Real numbers from -1 to 1, whole ones from 0 to 1023.
    Random,
    /// Real numbers over many magnitudes, whole ones of all bits.
    Wide,
    /// Zeros of both signs, ends of the range, denormals, infinities, what is no number, among usual ones.
    Corners,
    /// Nothing but zeros and a one in the middle.
    Impulse,
    /// Real numbers from -1 to 1, whole ones that are places in the arrays: from one before the first to one behind the
    /// last of the longest dimension.
    Places,
}

/// Sets for this program.
pub fn sets(program: &Program) -> Vec<Vectors> {
    let kinds =
        [("random", Kind::Random), ("wide", Kind::Wide), ("corners", Kind::Corners), ("impulse", Kind::Impulse)];
    // Nearly all places of the others lie outside, and then nothing is scattered.
    let takes_places = scatters(program) && program.inputs.iter().any(|port| port.element_type.is_integer());
    let longest = program.nodes.iter().flat_map(|node| &node.dims).copied().max().unwrap_or(0);
    kinds
        .into_iter()
        .chain(takes_places.then_some(("places", Kind::Places)))
        .map(|(name, kind)| Vectors {
            name: name.to_owned(),
            inputs: (1..).zip(&program.inputs).map(|(seed, port)| input(port, kind, seed, longest)).collect(),
        })
        .collect()
}

fn scatters(program: &Program) -> bool {
    program.nodes.iter().any(|node| match &node.op {
        Op::Scatter(..) => true,
        Op::Loop(inner) => scatters(&inner.body),
        _ => false,
    })
}

/// Marsaglia's xorshift with a multiplication (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn input(port: &Port, kind: Kind, seed: u64, longest: usize) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..20).for_each(|_| {
        random.next();
    });
    let count: usize = port.dims.iter().product();
    let mut bytes = Vec::new();
    for at in 0..count {
        if port.element_type.is_float() {
            push_real(&mut bytes, real(kind, at, count, port.element_type, &mut random), port.element_type);
        } else {
            push_whole(&mut bytes, whole(kind, at, count, longest, &mut random), port.element_type);
        }
    }
    bytes
}

fn real(kind: Kind, at: usize, count: usize, ty: ElementType, random: &mut Random) -> f64 {
    let usual = random.part() * 2.0 - 1.0;
    let single = ty == ElementType::F32;
    let (most, least) =
        if single { (f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)) } else { (f64::MAX, f64::MIN_POSITIVE) };
    match kind {
        Kind::Random | Kind::Places => usual,
        Kind::Wide => usual * (random.part() * 40.0 - 20.0).exp2(),
        Kind::Impulse => f64::from(u8::from(at == count / 2)),
        Kind::Corners => {
            let corners = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                most,
                -most,
                least,
                least / 4.0,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                0.5,
            ];
            if random.next().is_multiple_of(4) {
                corners[(random.next() % corners.len() as u64) as usize]
            } else {
                usual
            }
        }
    }
}

fn whole(kind: Kind, at: usize, count: usize, longest: usize, random: &mut Random) -> i64 {
    let any = random.next();
    match kind {
        Kind::Random => (any % 1024) as i64,
        Kind::Wide => any.cast_signed(),
        Kind::Impulse => i64::from(at == count / 2),
        Kind::Places => (any % (longest as u64 + 2)) as i64 - 1,
        Kind::Corners => [0, 1, -1, i64::MAX, i64::MIN, 127, -128, 31][(any >> 8 & 7) as usize],
    }
}

fn push_real(bytes: &mut Vec<u8>, value: f64, ty: ElementType) {
    match ty {
        ElementType::F32 => bytes.extend_from_slice(&(value as f32).to_le_bytes()),
        _ => bytes.extend_from_slice(&value.to_le_bytes()),
    }
}

fn push_whole(bytes: &mut Vec<u8>, value: i64, ty: ElementType) {
    let width = width(ty);
    let value = if ty == ElementType::Pred { value & 1 } else { value };
    bytes.extend_from_slice(&value.to_le_bytes()[..width]);
}

/// Bytes of an element in a file.
pub(crate) fn width(ty: ElementType) -> usize {
    ty.bits().map_or(8, |bits| bits.div_ceil(8) as usize)
}

/// The numbers in a file; `None` where it is of another length.
pub(crate) fn numbers(bytes: &[u8], ty: ElementType, count: usize) -> Option<Vec<Cell<f64>>> {
    let width = width(ty);
    if bytes.len() != count.checked_mul(width)? {
        return None;
    }
    let one = |chunk: &[u8]| {
        let mut all = [0; 8];
        all[..width].copy_from_slice(chunk);
        let raw = i64::from_le_bytes(all);
        match ty {
            ElementType::F32 => Cell::Real(f64::from(f32::from_bits(raw as u32))),
            ElementType::F64 => Cell::Real(f64::from_bits(raw.cast_unsigned())),
            ElementType::Pred => Cell::Whole(i64::from(raw != 0), true),
            ty => Cell::Whole(crate::arithmetic::wrapped(raw, ty), true),
        }
    };
    Some(bytes.chunks_exact(width).map(one).collect())
}

/// The inputs of a set as numbers.
///
/// # Errors
/// [`CannotCompute`] where a file is of another length than the port.
pub fn inputs_of(program: &Program, files: &[Vec<u8>]) -> Result<Vec<Vec<Cell<f64>>>, CannotCompute> {
    let pairs = program.inputs.iter().zip(files);
    pairs
        .map(|(port, bytes)| {
            let found = numbers(bytes, port.element_type, port.dims.iter().product());
            found.ok_or_else(|| CannotCompute(format!("the vector of `{}` has a different length", port.name)))
        })
        .collect()
}

fn mapped<R>(inputs: &[Vec<Cell<f64>>], real: impl Fn(f64) -> R) -> Vec<Vec<Cell<R>>> {
    let one = |cell: &Cell<f64>| match cell {
        Cell::Real(value) => Cell::Real(real(*value)),
        Cell::Whole(value, sure) => Cell::Whole(*value, *sure),
    };
    inputs.iter().map(|cells| cells.iter().map(one).collect()).collect()
}

/// Output files of the engine that rounds every operation.
///
/// # Errors
/// [`CannotCompute`] where an operation has no meaning.
pub fn strict(program: &Program, inputs: &[Vec<Cell<f64>>]) -> Result<Vec<Vec<u8>>, CannotCompute> {
    by(program, inputs, &Strict::default())
}

/// Output files of an engine whose numbers are doubles.
pub(crate) fn by(
    program: &Program,
    inputs: &[Vec<Cell<f64>>],
    engine: &impl Arithmetic<Real = f64>,
) -> Result<Vec<Vec<u8>>, CannotCompute> {
    let outputs = interpret(program, inputs, engine)?;
    let bytes = outputs.iter().zip(&program.outputs).map(|(cells, node)| {
        let ty = program.nodes[*node].element_type;
        let mut bytes = Vec::new();
        for cell in cells {
            match cell {
                Cell::Real(value) => push_real(&mut bytes, *value, ty),
                Cell::Whole(value, _) => push_whole(&mut bytes, *value, ty),
            }
        }
        bytes
    });
    Ok(bytes.collect())
}

/// Output files in double precision: of each output the values, and how far off an engine may be, infinite where
/// rounding decides; whole numbers as doubles, too.
///
/// # Errors
/// [`CannotCompute`] where an operation has no meaning.
pub fn bounded(program: &Program, inputs: &[Vec<Cell<f64>>]) -> Result<Vec<Bounds>, CannotCompute> {
    let by = Bounded;
    let inputs = mapped(inputs, |value| crate::arithmetic::Arithmetic::real(&by, value, ElementType::F64));
    let outputs = interpret(program, &inputs, &by)?;
    let files = |cells: &Vec<Cell<_>>| {
        let (mut values, mut errors) = (Vec::new(), Vec::new());
        for cell in cells {
            let (value, error) = match cell {
                Cell::Real(crate::arithmetic::Bound { value, error }) => (*value, *error),
                Cell::Whole(value, true) => (*value as f64, 0.0),
                Cell::Whole(value, false) => (*value as f64, f64::INFINITY),
            };
            push_real(&mut values, value, ElementType::F64);
            push_real(&mut errors, error, ElementType::F64);
        }
        (values, errors)
    };
    Ok(outputs.iter().map(files).collect())
}

/// Output files in fixed point: the bits of real numbers in 32 bits, whole numbers as they are; and what the
/// real numbers stand for.
///
/// # Errors
/// [`CannotCompute`] where an operation has no meaning in fixed point.
pub fn fixed(program: &Program, inputs: &[Vec<Cell<f64>>], format: Fixed) -> Result<Vec<InFormat>, CannotCompute> {
    let outputs = interpret(program, &mapped(inputs, |value| format.of(value)), &format)?;
    let files = outputs.iter().zip(&program.outputs).map(|(cells, node)| {
        let ty = program.nodes[*node].element_type;
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        for cell in cells {
            match cell {
                Cell::Real(raw) => {
                    bytes.extend_from_slice(&(*raw as i32).to_le_bytes());
                    values.push(crate::arithmetic::Arithmetic::value(&format, *raw));
                }
                Cell::Whole(value, _) => push_whole(&mut bytes, *value, ty),
            }
        }
        (bytes, values)
    });
    Ok(files.collect())
}
