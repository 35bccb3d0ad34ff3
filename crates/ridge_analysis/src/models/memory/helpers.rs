//! Programs that nobody wrote: what JAX compiles for an operation of its own, which takes no `donate_argnums`.

use crate::context::is_primitive;
use ridge_hlo::HloModule;
use rustc_hash::FxHashSet;

/// Frames of a program that are looked at.
const FRAMES: usize = 1 << 14;

/// Whether a library made the program rather than the user: by its name, or because no line of it is in a function of that
/// name. JAX leaves its own frames out, so a function that is in none of them is JAX's.
pub(super) fn is_of_library(hlo: &HloModule) -> bool {
    let name = hlo.name.split('.').next().unwrap_or_default();
    let Some(function) = name.strip_prefix("jit_") else { return false };
    // `<lambda>` is `_lambda`: any function without a name.
    if function.contains("lambda") || function.contains("unnamed") {
        return false;
    }
    if is_primitive(function) {
        return true;
    }
    let functions: FxHashSet<&str> =
        hlo.frames.functions.iter().take(FRAMES).flat_map(|name| name.split('.')).collect();
    // Without names of functions nothing is known but the program's own.
    functions.iter().any(|name| *name != "main") && !functions.contains(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_or_the_frames_say_whose_program_it_is() {
        let with = |name: &str, functions: &[&str]| {
            let mut hlo = HloModule::from_text(&format!(
                "HloModule {name}\n\nENTRY %main {{\n  ROOT %p = f32[8]{{0}} parameter(0)\n}}\n"
            ))
            .expect("HLO text of the test");
            hlo.frames.functions = functions.iter().map(|function| (*function).to_owned()).collect();
            is_of_library(&hlo)
        };
        assert!(with("jit_sin", &["<module>", "train"]));
        assert!(with("jit__threefry_fold_in", &["<module>", "train"]));
        assert!(!with("jit_step", &["Solver.step", "<module>"]));
        assert!(!with("jit_step", &["make.<locals>.step", "<module>"]));
        assert!(!with("jit_step", &[]));
        assert!(!with("jit__lambda", &["<module>"]));
        assert!(!with("main.7", &["<module>"]));
    }
}
