//! The changes that the harness can make, each with what it changes, how equal results are held, and when it does not apply.

use ridge_diagnose::{Group, Rule};

/// What a change tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The program computes the same in another way, as an edit would have it.
    Real,
    /// Work is left out, so results may differ: what removing it would save.
    LeftOut,
    /// Work is done twice, so the program is slower by what the work costs.
    Doubled,
}

impl ChangeKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Real => "real",
            ChangeKind::LeftOut => "left out",
            ChangeKind::Doubled => "doubled",
        }
    }
}

/// A change that is made from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExperimentChange {
    /// Its name, for `--change`.
    pub name: &'static str,
    /// What it changes, one sentence without a period.
    pub what: &'static str,
    /// How equal results are held.
    pub results: &'static str,
    /// When it does not apply.
    pub unless: &'static str,
    /// What it tells.
    pub kind: ChangeKind,
    /// Whether it is made only at the lines that findings name.
    pub is_local: bool,
    /// The library: `jax`, `torch`, or empty for both.
    pub library: &'static str,
    /// Rules whose findings it is about.
    pub rules: &'static [&'static str],
    /// Groups whose other findings it may be about.
    pub groups: &'static [Group],
}

use ChangeKind::{Doubled, LeftOut, Real};
use Group::{Compute, Copies, Host, Memory, Structure};

macro_rules! changes {
    ($($name:literal $kind:ident $library:literal $($local:ident)? { $what:literal; $results:literal; $unless:literal; [$($rule:literal)*] [$($group:ident)*] })*) => {
        /// Every change.
        pub static CHANGES: &[ExperimentChange] = &[$(ExperimentChange {
            name: $name, what: $what, results: $results, unless: $unless, kind: $kind, library: $library,
            is_local: changes!(@local $($local)?), rules: &[$($rule),*], groups: &[$($group),*],
        }),*];
    };
    (@local local) => { true };
    (@local) => { false };
}

changes! {
    "donate" Real "jax" {
        "arguments that a statement reassigns are donated to the call";
        "only arrays that no other name has, by their count of references";
        "the call donates already, or something else has the array";
        ["defensive-copies" "missed-donation" "copies-in-loop" "memory-growth" "near-memory-limit"] [Copies Memory]
    }
    "late" Real "" {
        "`float()`, `.item()`, prints and waits are served when their value is used";
        "the values are the same, fetched later";
        "the value controls the program's flow, or goes to code that accepts only a float";
        ["blocking-call" "host-bound-dispatch" "sync-copy" "host-pause" "copies-in-loop"] [Host]
    }
    "device-loop" Real "jax" {
        "a loop that only computes is one `fori_loop` or `while_loop` on the device";
        "the same operations in the same order; results may differ by rounding";
        "the body calls what cannot be traced, or changes anything but names";
        ["host-bound-dispatch" "python-loop-of-eager-ops" "blocking-call" "many-small-kernels"] [Host]
    }
    "jit-function" Real "jax" local {
        "the function around the line is compiled as a whole";
        "traced by JAX from the same code; results may differ by rounding";
        "it cannot be traced: it branches on values, or converts them";
        ["python-loop-of-eager-ops" "host-bound-dispatch" "sequential-updates" "defensive-copies" "many-small-kernels"] [Host]
    }
    "jit-line" Real "jax" {
        "each assignment inside of a loop is compiled as a whole";
        "traced by JAX from the same code; results may differ by rounding";
        "it cannot be traced: it branches on values, or converts them";
        ["python-loop-of-eager-ops" "host-bound-dispatch" "sequential-updates"] [Host]
    }
    "constants-kept" Real "" {
        "values are kept while what they are made from stays the same object";
        "made again and compared at uses number 1, 2, 4, 8, …";
        "the value changes from use to use";
        ["copies-in-loop" "python-loop-of-eager-ops" "host-bound-dispatch" "many-small-copies" "pageable-copy" "sync-copy" "host-pause" "data-loading"] [Host Copies]
    }
    "arrays-kept" Real "jax" {
        "arrays of the host that were put on the device before are not put there again";
        "byte by byte, at every call";
        "the arrays differ from call to call";
        ["copies-in-loop" "many-small-copies" "pageable-copy" "sync-copy" "weights-streamed" "slow-copy"] [Copies]
    }
    "hoist-jit" Real "jax" {
        "`jit` of an equal function returns the one that was compiled before";
        "the code is the same, and all that it closes over is the same or equal";
        "the functions differ in what they close over";
        ["recompilation" "late-warmup" "compile-in-window" "host-bound-dispatch"] []
    }
    "traced-numbers" Real "jax" {
        "static arguments that are numbers and change are traced";
        "the same operations; results may differ by rounding";
        "the number decides a shape or a branch";
        ["recompilation" "late-warmup" "compile-in-window"] []
    }
    "pad" Real "jax" {
        "arrays are padded with zeros to the largest shape so far, results are cut";
        "results are compared: padding changes them where zeros count";
        "shapes do not change";
        ["recompilation" "late-warmup" "compile-in-window"] []
    }
    "compile-free" LeftOut "jax" {
        "compilation inside of loops is left out of the time";
        "nothing of the program is changed";
        "nothing is compiled in a loop";
        ["recompilation" "late-warmup" "compile-in-window" "host-bound-dispatch"] []
    }
    "prefetch" Real "" {
        "a thread makes the next two items of a loop ahead";
        "the same items in the same order";
        "the items are in a list already, or depend on what the loop does";
        ["data-loading" "host-pause" "host-bound-dispatch"] [Host]
    }
    "no-callbacks" LeftOut "jax" {
        "callbacks into Python are not called; their result is an operand or zeros";
        "results differ if a callback returns something";
        "there is no callback";
        ["host-callback"] []
    }
    "single-precision" Real "jax" {
        "64-bit types are off";
        "results differ by the precision";
        "they are off already";
        ["fp64-used" "dtype-round-trips"] []
    }
    "matmul-precision" Real "" {
        "32-bit matrix products may run on tensor cores";
        "results differ by the precision";
        "the device has none";
        ["tf32-off" "tensor-cores-idle"] []
    }
    "no-checkpoint" Real "jax" {
        "`jax.checkpoint` keeps everything instead of computing it again";
        "the same operations; more memory";
        "nothing is checkpointed";
        ["recompute-heavy"] [Structure]
    }
    "batched-map" Real "jax" {
        "`lax.map` is one `vmap`";
        "the same operations on all at once; more memory";
        "there is no `lax.map`";
        ["serial-while-small-body"] [Structure]
    }
    "algebra" Real "jax" {
        "powers, products in another order, short sorts, inverses and one-hot products by a shorter way";
        "the same values but for rounding";
        "none of these forms is there";
        ["sort-for-selection" "transcendental-heavy" "gather-scatter-bound" "below-roof"] [Compute Structure]
    }
    "torch-compile" Real "torch" {
        "models are compiled by `torch.compile`";
        "by PyTorch; results may differ by rounding";
        "the model cannot be compiled";
        ["host-bound-dispatch" "many-small-kernels" "unfused-attention" "decode-without-graphs" "below-roof"] [Host Compute]
    }
    "channels-last" Real "torch" {
        "models with convolutions and their images are channels last";
        "the same values but for rounding";
        "there is no convolution";
        ["layout-copies" "below-roof" "tensor-cores-idle"] [Compute]
    }
    "loader" Real "torch" {
        "`DataLoader` has two workers, pinned memory, and copies do not block";
        "the same items; random augmentation differs";
        "it has workers already";
        ["data-loading" "pageable-copy" "sync-copy"] []
    }
    "set-to-none" Real "torch" {
        "`zero_grad` frees gradients instead of filling them with zeros";
        "the same values";
        "it does so already";
        ["many-small-kernels" "missed-donation"] [Memory]
    }
    "fused-optimizer" Real "torch" {
        "optimizers run as one kernel";
        "the same values but for rounding";
        "the optimizer has no such form";
        ["many-small-kernels" "host-bound-dispatch"] []
    }
    "fused-attention" Real "torch" {
        "attention written as two products and a softmax is `scaled_dot_product_attention`";
        "the same values but for rounding";
        "the scores are used for more";
        ["unfused-attention"] []
    }
    "autocast" Real "torch" {
        "models run in bfloat16 where PyTorch considers it safe";
        "results differ by the precision";
        "the model is in low precision already";
        ["tensor-cores-idle" "fp64-used" "tf32-off"] []
    }
    "cudnn-benchmark" Real "torch" {
        "cuDNN measures its algorithms";
        "the same values but for rounding";
        "there is no CUDA device";
        ["below-roof" "variance-of-kernel"] []
    }
    "twice" Doubled "jax" local {
        "the line is computed twice";
        "the second result is thrown away";
        "the line computes nothing that can be computed again";
        [] [Host Copies Compute Structure Memory]
    }
}

/// The change of that name.
pub fn change_named(name: &str) -> Option<&'static ExperimentChange> {
    CHANGES.iter().find(|change| change.name == name)
}

impl ExperimentChange {
    /// Whether it may be what a finding of `rule` asks for.
    pub(crate) fn is_about(&self, rule: &Rule) -> bool {
        let is_named = |rules: &[&str]| rules.contains(&rule.id);
        let has_own = CHANGES.iter().any(|change| is_named(change.rules));
        is_named(self.rules) || (self.groups.contains(&rule.group) && (!has_own || self.kind == ChangeKind::Doubled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_diagnose::RULES;
    use std::fs;
    use std::path::Path;

    #[test]
    fn changes_are_those_of_the_harness() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ridgeline");
        let files = fs::read_dir(folder).expect("the harness").flatten();
        let is_part = |name: &str| name.starts_with("experiment") && name.ends_with(".py");
        let texts = files.filter(|file| file.file_name().to_str().is_some_and(is_part));
        let text: String = texts.map(|file| fs::read_to_string(file.path()).expect("a file")).collect();
        for change in CHANGES {
            assert!(text.contains(&format!("\"{}\"", change.name)), "the harness does not know {}", change.name);
        }
    }

    #[test]
    fn names_are_unique_and_rules_exist() {
        for (at, change) in CHANGES.iter().enumerate() {
            assert!(CHANGES[..at].iter().all(|other| other.name != change.name), "{}", change.name);
            let unknown = change.rules.iter().find(|id| RULES.iter().all(|rule| rule.id != **id));
            assert_eq!(unknown, None, "{}", change.name);
        }
    }
}
