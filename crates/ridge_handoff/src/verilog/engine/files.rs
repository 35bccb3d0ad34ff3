//! The files of an engine: its Verilog, its tables, and what it is tried with.

use super::super::hexadecimal;
use super::super::stream::bench::{Frame, Trial};
use super::super::stream::card;
use super::element::wires;
use super::plan::plan;
use super::stage::Timed;
use super::text::{Engine, words};
use crate::arithmetic::{Cell, Fixed, wrapped};
use crate::bundle::Files;
use crate::program::Program;
use crate::{Refusal, vectors};
use ridge_hlo::ElementType;
use serde_json::json;
use std::fmt::Write as _;

/// Clocks of the largest call that is simulated, of all frames of the pass without stalls, and of those of another pass.
const MOST_CLOCKS: u64 = 1 << 21;
const CLOCKS: u64 = 1 << 20;
const STALLED_CLOCKS: u64 = 1 << 17;

/// Clocks within which resets come: none has to wait for the end of a long call.
const MOST_BEFORE_RESET: usize = 1 << 18;

/// Clocks of all frames for Icarus Verilog, of those of another pass, and the clocks times stages of the largest call that it runs.
const ICARUS: u64 = 1 << 18;
const ICARUS_STALLED: u64 = 1 << 16;
const MOST_ICARUS: u64 = 1 << 21;

/// Bits of memory: more than the boards of `offload` have on a chip.
const MOST_BITS: usize = 1 << 28;

/// The files of an engine, or why there is none.
///
/// # Errors
/// [`Refusal`] where an operation has no design, the arrays do not fit on a chip, or a call is too long to be tried.
pub(in crate::verilog) fn files(program: &Program, format: Fixed, golden: &Files) -> Result<Files, Refusal> {
    let plan = plan(program, format)?;
    let stages = plan.stages.iter().map(|stage| Timed::new(stage, format)).collect::<Result<Vec<_>, _>>()?;
    let engine = Engine { plan: &plan, stages, format };
    let period = engine.period();
    if period > MOST_CLOCKS {
        return Err(Refusal(format!(
            "a call takes {period} clocks of the engine, more than can be simulated in reasonable time: generate the bundle at a smaller size"
        )));
    }
    let memory_bits = engine.memory_bits();
    if memory_bits > MOST_BITS {
        return Err(Refusal(format!("its arrays take {memory_bits} bits, more than fit on a chip")));
    }
    let [item_bits, result_bits] = engine.bits();
    let frame = Frame { items: words(&plan.inputs), results: words(&plan.outputs), item_bits, result_bits };
    let mut sets = vectors::sets(program);
    // Places that lie inside come first: of the others most updates are left out.
    sets.sort_by_key(|set| set.name != "places");
    let frames = |clocks: u64| ((clocks / period).max(1) as usize).min(sets.len());
    let all = frames(CLOCKS);
    let (mut items, mut results) = (String::new(), String::new());
    for set in &sets[..all] {
        let inputs = vectors::inputs_of(program, &set.inputs).map_err(|error| Refusal(error.to_string()))?;
        for (moved, cells) in plan.inputs.iter().zip(&inputs) {
            for cell in cells {
                let value = match *cell {
                    Cell::Real(value) => format.of(value),
                    Cell::Whole(value, _) => wrapped(value, moved.ty),
                };
                push(&mut items, value, moved.ty, format, item_bits);
            }
        }
        for (number, moved) in plan.outputs.iter().enumerate() {
            let path = format!("golden/{}/{}.out{number}.bin", set.name, format.slug());
            let bytes = golden.get(&path).ok_or_else(|| Refusal(format!("there are no vectors of {format}")))?;
            let ty = if moved.ty.is_float() { ElementType::S32 } else { moved.ty };
            let cells = vectors::numbers(bytes, ty, moved.words).unwrap_or_default();
            for cell in cells {
                if let Cell::Whole(value, _) = cell {
                    push(&mut results, value, moved.ty, format, result_bits);
                }
            }
        }
    }
    let trial = Trial {
        frame,
        frames: all,
        stalled: frames(STALLED_CLOCKS),
        icarus: [frames(ICARUS), frames(ICARUS_STALLED)],
        period: period as usize,
        to_last: engine.to_last() as usize,
        stuck: 1000 + 2 * period as usize + 32 * (frame.items + frame.results).min(1000),
        watched: 64,
        reset_within: (period as usize).min(MOST_BEFORE_RESET),
    };
    let mut files = trial.files("rtl");
    let mut put = |path: &str, text: String| files.insert(format!("rtl/{path}"), text.into_bytes());
    put("core.v", engine.module());
    put("engine.v", engine.parts());
    put("memory.v", engine.memories());
    put("core_x.hex", items);
    put("core_y.hex", results);
    for memory in &plan.memories {
        let Some((name, values)) = &memory.table else { continue };
        let mask = if memory.width >= 64 { u64::MAX } else { (1_u64 << memory.width) - 1 };
        let line = |value: &i64| format!("{:x}\n", value.cast_unsigned() & mask);
        put(&format!("{name}.hex"), values.iter().map(line).collect());
    }
    let layout = card::Layout::of(frame);
    let about = json!({
        "kind": "engine",
        "number_format": format.to_string(),
        "predicted": {
            "items_a_clock": frame.items as f64 / period as f64,
            "results_a_clock": frame.results as f64 / period as f64,
            "clocks_of_a_frame": engine.to_last(),
            "clocks_of_each_further_frame": period,
        },
        "stages": plan.stages.iter().map(|stage| json!({ "makes": stage.about, "steps": stage.dims })).collect::<Vec<_>>(),
        "loops": plan.loops.iter().map(|(first, last, trips)| json!({ "first_stage": first, "last_stage": last, "trips": trips })).collect::<Vec<_>>(),
        "bits_of_memory": memory_bits,
        "block_rams": engine.blocks(),
        "item_bits": item_bits,
        "result_bits": result_bits,
        "frames_simulated": all,
        "simulated_in_icarus": period.saturating_mul(plan.stages.len() as u64) <= MOST_ICARUS,
        "memory": layout.map(|layout| layout.document(frame)),
    });
    put("core.json", crate::bundle::laid_out(&about));
    if let Some(layout) = layout {
        files.extend(card::files(frame, layout, all, trial.stuck, &["engine.v", "memory.v"]));
    }
    Ok(files)
}

/// An element as a line, longer by its sign.
fn push(text: &mut String, value: i64, ty: ElementType, format: Fixed, bits: usize) {
    let wires = wires(ty, format);
    let top = if wires.is_signed { value >> (wires.width - 1).min(63) & 1 } else { 0 };
    let bit = |bit: usize| if bit < wires.width { value >> bit.min(63) & 1 } else { top };
    let word: Vec<u8> = (0..bits).map(|at| bit(at) as u8).collect();
    let _ = writeln!(text, "{}", hexadecimal(&word));
}
