//! What of a name stays the same from one compilation, build or library version to the next.

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
