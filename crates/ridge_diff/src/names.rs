//! What of a name stays the same from one compilation, build or library version to the next.

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, Symbol};
use std::borrow::Cow;
use std::fmt;

/// Letters of a readable name at most: a few letters of a mangled one can stand for any number.
const MOST_READABLE: usize = 16 << 10;
/// Letters of a mangled name that is made readable at most.
const MOST_MANGLED: usize = 8 << 10;

/// A kernel's name as it was written, where the capture has it as the compiler mangled it: `_ZN2at6native…` or, from AMD's
/// code objects, the same with `.kd` behind it.
pub(crate) fn readable(kernel: &str) -> Cow<'_, str> {
    let mangled = kernel.strip_suffix(".kd").unwrap_or(kernel);
    if !mangled.starts_with("_Z") || mangled.len() > MOST_MANGLED {
        return Cow::Borrowed(kernel);
    }
    let mut text = Bounded(String::new());
    let options = DemangleOptions::default().hide_expression_literal_types();
    let made = Symbol::new(mangled).map(|symbol| symbol.structured_demangle(&mut text, &options));
    if matches!(made, Ok(Ok(()))) { Cow::Owned(text.0) } else { Cow::Borrowed(kernel) }
}

/// A text that takes no more than [`MOST_READABLE`] letters.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn push_demangle_node(&mut self, _: DemangleNodeType) {}

    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MOST_READABLE {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }

    fn pop_demangle_node(&mut self) {}
}

/// An HLO instruction's name without what tells it from its likes: `fusion.12` → `fusion`, `add.3.clone.1` → `add`.
pub(crate) fn base(name: &str) -> &str {
    let mut base = name;
    loop {
        let shorter = ["clone", "remat", "cloned", "sunk"].iter().find_map(|word| base.strip_suffix(word));
        let shorter = shorter.or_else(|| Some(base.trim_end_matches(|letter: char| letter.is_ascii_digit())));
        match shorter.and_then(|rest| rest.strip_suffix('.')).filter(|rest| !rest.is_empty()) {
            Some(rest) => base = rest,
            None => return base,
        }
    }
}

/// A kernel's name without the number that a compiler gave it: `loop_add_fusion_12` → `loop_add_fusion`.
///
/// Names with template arguments are libraries', whose last digits mean something.
pub(crate) fn unnumbered(kernel: &str) -> &str {
    if kernel.contains(['<', '(', ':']) || kernel.starts_with("_Z") {
        return kernel;
    }
    let short = base(kernel);
    let stem = short.trim_end_matches(|letter: char| letter.is_ascii_digit());
    stem.strip_suffix('_').filter(|stem| !stem.is_empty()).unwrap_or(short)
}

/// A kernel's own name, without return type, template arguments and parameters:
/// `void at::native::reduce_kernel<512, 1>(Op)` → `at::native::reduce_kernel`.
pub(crate) fn template(kernel: &str) -> String {
    let name = kernel.strip_prefix("void ").unwrap_or(kernel);
    let mut depth = 0_usize;
    let mut kept = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            // The parameters come last; `(anonymous namespace)` does not.
            '(' if depth == 0 && !kept.is_empty() && !kept.ends_with("::") => break,
            letter if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    unnumbered(kept.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_one_compilation_go() {
        for (name, expected) in [
            ("fusion.12", "fusion"),
            ("fusion", "fusion"),
            ("add.3.clone.1", "add"),
            ("loop_add_fusion.7.remat", "loop_add_fusion"),
            ("conv2d", "conv2d"),
            (".1", ".1"),
        ] {
            assert_eq!(base(name), expected, "{name}");
        }
    }

    #[test]
    fn mangled_names_become_readable() {
        for (name, expected) in [
            ("_ZN2at6native13reduce_kernelILi512ELi1EEEvi", "void at::native::reduce_kernel<512, 1>(int)"),
            ("_ZN2at6native13reduce_kernelILi512ELi1EEEvi.kd", "void at::native::reduce_kernel<512, 1>(int)"),
            ("_ZN12_GLOBAL__N_16kernelEPf", "(anonymous namespace)::kernel(float*)"),
            ("Cijk_Ailk_Bljk", "Cijk_Ailk_Bljk"),
            ("_Znonsense", "_Znonsense"),
        ] {
            assert_eq!(readable(name), expected);
        }
        assert_eq!(template(&readable("_ZN2at6native13reduce_kernelILi512ELi1EEEvi")), "at::native::reduce_kernel");
    }

    #[test]
    fn kernels_keep_what_libraries_call_them() {
        for (name, numbered, own) in [
            ("loop_add_fusion_12", "loop_add_fusion", "loop_add_fusion"),
            ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
            (
                "void at::native::reduce_kernel<512, 1, at::Op<float> >(at::Op)",
                "void at::native::reduce_kernel<512, 1, at::Op<float> >(at::Op)",
                "at::native::reduce_kernel",
            ),
            (
                "void (anonymous namespace)::f<3>(int)",
                "void (anonymous namespace)::f<3>(int)",
                "(anonymous namespace)::f",
            ),
            ("wrapped_add", "wrapped_add", "wrapped_add"),
        ] {
            assert_eq!((unnumbered(name), template(name).as_str()), (numbered, own));
        }
    }
}
