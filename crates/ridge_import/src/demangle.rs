//! Names of kernels as they were written, where captures have them as the compiler mangled them.

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, Symbol};
use std::fmt;

/// Letters of a readable name at most: a few letters of a mangled one can stand for any number.
const MOST_READABLE: usize = 16 << 10;
/// Letters of a mangled name that is made readable at most.
const MOST_MANGLED: usize = 8 << 10;

/// What `name` was in the source: of `_ZN2at6native…` or, from AMD's code objects, the same with `.kd` behind it; `None`
/// where it is readable already, or no mangled name.
///
/// Of what the demangler does not know, such as the parameters of templates that newer compilers write (`Tn`), the name and
/// what stands in its template arguments are told, and what is left out is `…`.
pub fn readable(name: &str) -> Option<String> {
    let mangled = name.strip_suffix(".kd").unwrap_or(name);
    if !mangled.starts_with("_Z") || mangled.len() > MOST_MANGLED {
        return None;
    }
    let mut text = Bounded(String::new());
    let options = DemangleOptions::default().hide_expression_literal_types();
    let made = Symbol::new(mangled).map(|symbol| symbol.structured_demangle(&mut text, &options));
    if matches!(made, Ok(Ok(()))) { Some(text.0) } else { outline(mangled) }
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

/// The name in `mangled` and the names in its template arguments: `a::b<c, …>`.
///
/// Source names are `<length> <identifier>`, in `N…E` where they are nested (Itanium C++ ABI, 5.1.2 to 5.1.4).
fn outline(mangled: &str) -> Option<String> {
    let mut rest = mangled.strip_prefix("_ZN").or_else(|| mangled.strip_prefix("_Z"))?;
    let mut parts: Vec<&str> = Vec::new();
    while let Some((part, behind)) = source_name(rest) {
        parts.push(if part == "_GLOBAL__N_1" { "(anonymous namespace)" } else { part });
        rest = behind;
    }
    if parts.is_empty() {
        return None;
    }
    let name = parts.join("::");
    let Some(arguments) = rest.strip_prefix('I') else { return Some(name + "…") };
    let said: String = source_names(arguments).map(|part| format!("{part}, ")).collect();
    Some(format!("{name}<{said}…>"))
}

/// The identifiers in `mangled`; digits of literals, and of what stands for something earlier, are none.
fn source_names(mangled: &str) -> impl Iterator<Item = &str> {
    let mut rest = mangled;
    std::iter::from_fn(move || {
        while let Some(letter) = rest.chars().next() {
            if let Some((name, behind)) = source_name(rest) {
                rest = behind;
                return Some(name);
            }
            let skipped = match letter {
                // `S3_`, `T0_`, and `Li64E` but not `L_Z4silu…`, which is the address of something named.
                'S' | 'T' => {
                    rest[1..].find(|c: char| !c.is_ascii_digit() && !c.is_ascii_uppercase()).map_or(1, |at| at + 1)
                }
                'L' if !rest[1..].starts_with('_') => rest.find('E').map_or(rest.len(), |end| end + 1),
                other => other.len_utf8(),
            };
            rest = &rest[skipped..];
        }
        None
    })
}

/// The identifier that `text` begins with, and what follows.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let length: usize = text[..digits].parse().ok()?;
    let name = text[digits..].get(..length).filter(|name| !name.is_empty())?;
    let is_identifier = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_identifier.then(|| (name, &text[digits + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_become_readable() {
        for (name, expected) in [
            ("_ZN2at6native13reduce_kernelILi512ELi1EEEvi", Some("void at::native::reduce_kernel<512, 1>(int)")),
            ("_ZN2at6native13reduce_kernelILi512ELi1EEEvi.kd", Some("void at::native::reduce_kernel<512, 1>(int)")),
            ("_ZN12_GLOBAL__N_16kernelEPf", Some("(anonymous namespace)::kernel(float*)")),
            // Of SGLang on ROCm; the demangler stops at `Tn`.
            (
                "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
                Some("sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16, silu, …>"),
            ),
            ("_ZN12_GLOBAL__N_16kernelITnDaLi64EEvPf", Some("(anonymous namespace)::kernel<…>")),
            ("Cijk_Ailk_Bljk", None),
            ("_Znonsense", None),
            ("_Z", None),
            ("_Z99999999999999999999x", None),
            ("_ZN3é", None),
        ] {
            assert_eq!(readable(name).as_deref(), expected, "{name}");
        }
    }
}
