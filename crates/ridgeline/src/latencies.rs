//! How long each instruction of a compiled module takes, as XLA takes it back for its next schedule.
//!
//! XLA finds the costs of a module by `FINGERPRINT::INSTRUCTION`, the fingerprint being the one that its own scheduler left in the
//! module (`xla/service/gpu/gpu_hlo_schedule.cc`, `profiled_instructions.proto`).

use crate::error::{Details, OpenError};
use crate::session::Session;
use ridge_analysis::{Analysis, Ops};
use ridge_hlo::HloModule;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where XLA's scheduler leaves a module's fingerprint.
const FINGERPRINT: &str = "fingerprint_before_lhs";

/// Time and executions of an instruction.
#[derive(Debug, Default)]
struct Taken {
    total_ns: i64,
    executions: u64,
}

impl Session {
    /// The mean time of each instruction as the text of a `ProfiledInstructionsProto`.
    ///
    /// # Errors
    /// [`OpenError`] where no instruction that ran is of a module with a fingerprint.
    pub fn latencies(&self) -> Result<String, OpenError> {
        let costs = self.with_analysis(costs);
        if costs.is_empty() {
            let why = "no operation that ran belongs to a module with XLA's fingerprint, which modules for GPUs have";
            let hint = "record the program on a GPU, with its modules: `ridgeline record --hlo text,proto -- …`";
            return Err(OpenError::NotRecorded(Details::new(why)).hint(hint));
        }
        let mut text = String::new();
        for (name, taken) in costs {
            let us = taken.total_ns as f64 / taken.executions as f64 / 1e3;
            let name = name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = writeln!(text, "costs {{ name: \"{name}\" cost_us: {us:.3} }}");
        }
        Ok(text)
    }
}

fn costs(analysis: &Analysis<'_>) -> BTreeMap<String, Taken> {
    let mut costs: BTreeMap<String, Taken> = BTreeMap::new();
    let Ops(rows) = analysis.get();
    for row in rows {
        let Some(op) = row.key.op else { continue };
        let Some((module, instruction)) = analysis.instruction(op.0) else { continue };
        let Some(fingerprint) = fingerprint(module) else { continue };
        let name = &module.instruction(instruction).name;
        let taken = costs.entry(format!("{fingerprint}::{name}")).or_default();
        taken.total_ns = taken.total_ns.saturating_add(row.time.total_ns);
        // Where the kernels of one execution are known in several ways, it counts once.
        taken.executions += analysis.executions().with_work(op.0, row.key.attribution);
    }
    costs.retain(|_, taken| taken.executions > 0);
    costs
}

fn fingerprint(module: &HloModule) -> Option<&str> {
    let mut attributes = module.frontend_attributes.iter();
    attributes.find(|(key, _)| key == FINGERPRINT).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}
