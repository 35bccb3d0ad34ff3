//! What the code of a kernel holds: accesses by their width, arithmetic by its kind, branches, atomics.
//!
//! Counted are instructions in the code, each once: how often one runs is not in it.

use rustc_hash::FxHashMap;

/// Instructions of one kernel, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Code {
    /// All of them.
    pub instructions: u32,
    /// Loads from global memory by the bytes that a thread takes: 1, 2, 4, 8, 16, and more.
    pub loads: [u32; 6],
    /// Stores to it alike.
    pub stores: [u32; 6],
    /// Accesses to shared memory.
    pub shared: u32,
    /// Atomic operations and reductions on memory.
    pub atomics: u32,
    /// Arithmetic on 64-bit floats.
    pub double: u32,
    /// Products of matrix units.
    pub matrix: u32,
    /// Branches that depend on a predicate.
    pub branches: u32,
    /// Barriers of a block.
    pub barriers: u32,
}

/// Widths of [`Code::loads`] and [`Code::stores`] but the last, bytes.
pub const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// Code by the kernels' names, from the text of one PTX program.
pub fn code(text: &str) -> FxHashMap<String, Code> {
    let mut found: FxHashMap<String, Code> = FxHashMap::default();
    let (mut kernel, mut depth) = (None, 0_u32);
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.split_once(".entry ").map(|(_, rest)| rest) {
            kernel = rest.split(['(', ' ']).next().map(str::to_owned);
            depth = 0;
        }
        let Some(name) = &kernel else { continue };
        match line {
            "{" => depth += 1,
            "}" if depth <= 1 => kernel = None,
            "}" => depth -= 1,
            _ if depth > 0 => take(found.entry(name.clone()).or_default(), line),
            _ => {}
        }
    }
    found
}

fn take(code: &mut Code, line: &str) {
    let (predicate, text) = match line.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or((true, ""), |(_, text)| (true, text.trim_start())),
        None => (false, line),
    };
    let Some(operation) = text.split_whitespace().next().map(|word| word.trim_end_matches(';')) else { return };
    if !operation.starts_with(|c: char| c.is_ascii_lowercase()) || operation.ends_with(':') {
        return;
    }
    code.instructions += 1;
    let parts: Vec<&str> = operation.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    match parts[0] {
        "ld" | "ldu" if has("global") => code.loads[width(&parts)] += 1,
        "st" if has("global") => code.stores[width(&parts)] += 1,
        "ld" | "st" if parts.iter().any(|part| part.starts_with("shared")) => code.shared += 1,
        "ldmatrix" | "stmatrix" => code.shared += 1,
        "cp" if has("async") => code.loads[copied(text)] += 1,
        "atom" | "red" => code.atomics += 1,
        "mma" | "wmma" => code.matrix += 1,
        "wgmma" | "tcgen05" if parts.iter().any(|part| part.starts_with("mma")) => code.matrix += 1,
        "bra" if predicate => code.branches += 1,
        "bar" | "barrier" => code.barriers += 1,
        _ if parts.last() == Some(&"f64") && parts[0] != "mov" => code.double += 1,
        _ => {}
    }
}

/// The place of an access's width: elements times their size.
fn width(parts: &[&str]) -> usize {
    let elements = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    let bits =
        parts.last().and_then(|kind| kind.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse::<u32>().ok());
    place(elements.saturating_mul(bits.unwrap_or(32) / 8))
}

/// The bytes that an asynchronous copy names as its third operand.
fn copied(text: &str) -> usize {
    let bytes = text.split(',').nth(2).and_then(|bytes| bytes.trim().trim_end_matches(';').parse().ok());
    place(bytes.unwrap_or(u32::MAX))
}

fn place(bytes: u32) -> usize {
    WIDTHS.iter().position(|width| *width == bytes).unwrap_or(WIDTHS.len())
}

impl Code {
    /// The part of its accesses to global memory that are as wide as a thread can make them, 16 bytes; `None` without any.
    pub fn wide_share(&self) -> Option<f64> {
        let all: u32 = self.loads.iter().chain(&self.stores).sum();
        (all > 0).then(|| f64::from(self.loads[4] + self.stores[4]) / f64::from(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_by_what_they_do() {
        let text = "\
.version 8.8
.visible .entry first(
	.param .u64 first_param_0
)
.reqntid 128, 1, 1
{
	.reg .pred 	%p<2>;
	ld.param.u64 	%rd1, [first_param_0];
	ld.global.nc.v4.b32 	{%r1, %r2, %r3, %r4}, [%rd1];
	ld.global.b64 	%rd2, [%rd1+8];
	@%p1 ld.global.b8 	%rs1, [%rd1];
	cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 16;
	add.rn.f64 	%fd1, %fd2, %fd3;
	mov.f64 	%fd4, %fd1;
$L__BB0_1:
	@%p1 bra 	$L__BB0_1;
	bar.sync 	0;
	{
	atom.global.add.f32 	%f1, [%rd1], %f2;
	}
	st.global.v2.b32 	[%rd1], {%r1, %r2};
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1};
	ret;
}
.visible .entry second(
)
{
	st.shared.b32 	[%r1], %r2;
	ret;
}
";
        let found = code(text);
        let first = found["first"];
        assert_eq!((first.loads, first.stores), ([1, 0, 0, 1, 2, 0], [0, 0, 0, 1, 0, 0]));
        let rest = (first.double, first.branches, first.barriers, first.atomics, first.matrix, first.instructions);
        assert_eq!(rest, (1, 1, 1, 1, 1, 13));
        assert_eq!((found["second"].shared, found["second"].instructions, found.len()), (1, 2, 2));
        assert_eq!(first.wide_share(), Some(0.4));
        assert_eq!(found["second"].wide_share(), None);
    }

    #[test]
    fn what_is_no_ptx_has_no_kernels() {
        assert!(code("").is_empty() && code("}\n}\n{ .entry \n").values().all(|code| code.instructions == 0));
    }
}
