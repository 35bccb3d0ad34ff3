//! Hand-off bundles whose cores take the place of the model's estimate: opened, held against their hashes, and never run.

use crate::error::{Details, OpenError};
use ridge_handoff::verify::{Opened, open};
use ridge_handoff::{CellCounts, Design};
use ridge_hlo::HloModule;
use ridge_offload::{Bundle, Cells, Core};
use std::path::Path;

/// The core of the bundle in `folder`.
///
/// # Errors
/// [`OpenError`] where it is no bundle, was changed, or has no core.
pub(super) fn bundle(folder: &Path) -> Result<Bundle, OpenError> {
    let opened = open(folder).map_err(|error| {
        let details = Details::new(format!("expected a hand-off bundle: {error}")).at(folder);
        OpenError::NotACapture(details.hint("`ridgeline handoff` makes one; nothing of it was run"))
    })?;
    let none = |why: String| {
        let details = Details::new(format!("the bundle has no core, so it says nothing of time: {why}")).at(folder);
        OpenError::BadInput(details.hint("docs/handoff.md has what a core can be generated of"))
    };
    let design = Design::of(&opened).map_err(none)?;
    let (program, signature) = program(&opened).map_err(none)?;
    let text = |key: &str| opened.manifest["source"][key].as_str().unwrap_or_default().to_owned();
    Ok(Bundle {
        core: core(folder, design),
        region: text("region"),
        location: text("location"),
        scope: text("scope"),
        program,
        signature,
    })
}

/// The program that it specifies, without names, and the shapes of its parameters and results.
fn program(opened: &Opened) -> Result<(String, String), String> {
    let text = opened.files.get("spec/module.hlo.txt").ok_or("spec/module.hlo.txt is missing")?;
    let module = HloModule::from_text(&String::from_utf8_lossy(text)).map_err(|error| error.to_string())?;
    let name = opened.manifest["source"]["computation"].as_str().unwrap_or_default();
    let computation = module.computation_named(name).ok_or("the specification lacks its computation")?;
    Ok((module.nameless_text(computation), module.signature(computation)))
}

fn core(folder: &Path, design: Design) -> Core {
    let name = folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into());
    let counted = design.counted_block_rams.filter(|_| design.is_engine);
    let (cells, not_synthesized) = match (design.is_engine, design.datapath, design.rest) {
        (true, _, Some(rest)) => {
            let block_rams = rest.block_rams + counted.unwrap_or(0.0);
            (Some(CellCounts { block_rams, ..rest }), None)
        }
        (false, Some(datapath), Some(rest)) => (Some(sum(datapath, rest)), None),
        (false, Some(_), None) => (None, Some("the logic around its datapath")),
        (false, None, Some(_)) => (None, Some("its datapath")),
        (_, _, None) => (None, Some("the core")),
    };
    Core {
        bundle: name,
        format: design.format,
        is_engine: design.is_engine,
        call_clocks: design.call_clocks as f64,
        period_clocks: design.period_clocks as f64,
        input_bytes: design.input_bytes as f64,
        output_bytes: design.output_bytes as f64,
        simulated_by: design.simulated_by,
        cells: cells.map(|cells| Cells {
            look_up_tables: cells.look_up_tables,
            registers: cells.registers,
            multipliers: cells.multipliers,
            block_rams: cells.block_rams,
        }),
        counted_block_rams: counted,
        synthesized_by: design.synthesized_by,
        not_synthesized,
        divides_in_one_clock: design.divides_in_one_clock,
    }
}

fn sum(one: CellCounts, other: CellCounts) -> CellCounts {
    CellCounts {
        look_up_tables: one.look_up_tables + other.look_up_tables,
        registers: one.registers + other.registers,
        multipliers: one.multipliers + other.multipliers,
        block_rams: one.block_rams + other.block_rams,
    }
}
