//! The files of a core: its Verilog, what it is tried with, and the proof of its way out.

use super::super::{Design, hexadecimal};
use super::bench::{Frame, Trial};
use super::text::Core;
use super::{card, refused, stream};
use crate::arithmetic::{Cell, wrapped};
use crate::bundle::Files;
use crate::cone::{Places, WindowCode};
use crate::program::Program;
use crate::{Refusal, vectors};
use serde_json::json;
use std::fmt::Write as _;

/// Steps of the largest frame that is simulated, of all frames of the pass without stalls, and of those of another pass.
const MOST_STEPS: usize = 1 << 21;
const STEPS: usize = 1 << 17;
const STALLED_STEPS: usize = 1 << 15;

/// Steps times operations that Icarus Verilog does in one pass; the others are Verilator's.
const ICARUS: usize = 1 << 22;

/// The core of a window, or why there is none.
///
/// # Errors
/// [`Refusal`] where the inputs are no stream of windows, or a frame is too large to be tried.
pub(in crate::verilog) fn files(
    program: &Program,
    code: &WindowCode,
    design: &Design<'_>,
    golden: &Files,
) -> Result<Files, Refusal> {
    let places = Places::new(program, design.numbers.reals(), &code.cone)?;
    let width = |input: usize| design.width(program.inputs[input].element_type);
    let stream = stream(program, code, &places, width)?;
    let steps = stream.steps();
    if steps > MOST_STEPS {
        return refused(format!(
            "a frame takes {steps} clocks, too long to simulate: generate the bundle at a smaller size"
        ));
    }
    if steps == 1 {
        return refused("its input is one element");
    }
    let types = stream.inputs.iter().map(|input| program.inputs[*input].element_type).collect();
    let core = Core { stream: &stream, design, types };
    let sets = vectors::sets(program);
    let frames = (STEPS / steps).clamp(1, sets.len());
    let (mut items, mut results) = (String::new(), String::new());
    for set in &sets[..frames] {
        let inputs = vectors::inputs_of(program, &set.inputs).map_err(|error| Refusal(error.to_string()))?;
        let outputs = design.numbers.outputs(program, &set.name, &inputs, golden)?;
        played(&core, program, &inputs, &mut items);
        expected(&core, program, &outputs, &mut results);
    }
    let (_, bits) = core.fields();
    let icarus = |most: usize| (most / steps).clamp(1, frames);
    let per_pass = ICARUS / design.cone.nodes.len().max(1);
    let frame =
        Frame { items: stream.items(), results: stream.results(), item_bits: bits, result_bits: core.out_bits() };
    let trial = Trial {
        frame,
        frames,
        stalled: (STALLED_STEPS / steps).clamp(1, frames),
        icarus: [icarus(per_pass), icarus(per_pass / 4)],
        period: steps,
        to_last: core.predicted(1),
        stuck: 1000 + 32 * (stream.to_last() + core.clocks()),
        watched: 64 + 4 * core.clocks(),
        reset_within: (2 * stream.to_last() + 64).min(stream.items() + stream.results()),
    };
    let folder = design.numbers.folder();
    let mut files = trial.files(folder);
    let mut put = |path: &str, text: String| files.insert(format!("{folder}/{path}"), text.into_bytes());
    put("core.v", core.module());
    put("core_x.hex", items);
    put("core_y.hex", results);
    let layout = card::Layout::of(frame);
    let about = json!({
        "kind": "window",
        "number_format": design.numbers.format().map(|format| format.to_string()),
        "predicted": {
            "items_a_clock": stream.items() as f64 / steps as f64,
            "results_a_clock": stream.results() as f64 / steps as f64,
            "clocks_of_a_frame": core.predicted(1),
            "clocks_of_each_further_frame": steps,
        },
        "inputs": stream.inputs,
        "items": stream.dims.iter().map(|one| one.items).collect::<Vec<_>>(),
        "results": stream.dims.iter().map(|one| one.results).collect::<Vec<_>>(),
        "item_bits": bits,
        "result_bits": core.out_bits(),
        "steps_before_the_first_result": stream.lag,
        "bits_of_earlier_items": core.kept_bits(),
        "places_of_the_queue": 1_usize << core.queue_bits(),
        "frames_simulated": frames,
        "memory": layout.map(|layout| layout.document(frame)),
    });
    put("core.json", crate::bundle::laid_out(&about));
    if let Some(layout) = layout {
        files.extend(card::files(frame, layout, frames, trial.stuck, &["kernel.v"]));
    }
    Ok(files)
}

/// The items of a frame, a line each.
fn played(core: &Core<'_>, program: &Program, inputs: &[Vec<Cell<f64>>], text: &mut String) {
    let (fields, bits) = core.fields();
    let of = |at: usize, input: usize| inputs[input][at];
    for at in 0..core.stream.items() {
        let mut word = vec![0_u8; bits];
        for ((input, ty), first) in core.stream.inputs.iter().zip(&core.types).zip(&fields) {
            let value = match of(at, *input) {
                Cell::Real(value) => core.design.numbers.bits(value),
                Cell::Whole(value, _) => wrapped(value, program.inputs[*input].element_type),
            };
            (0..core.design.width(*ty)).for_each(|bit| word[first + bit] = (value >> bit.min(63) & 1) as u8);
        }
        let _ = writeln!(text, "{}", hexadecimal(&word));
    }
}

/// The results of a frame, a line each.
fn expected(core: &Core<'_>, program: &Program, outputs: &[u8], text: &mut String) {
    let ty = program.nodes[program.outputs[0]].element_type;
    let bytes = if ty.is_float() { 4 } else { vectors::width(ty) };
    let (width, out) = (core.design.width(ty), core.out_bits());
    for one in outputs.chunks_exact(bytes) {
        let mut raw = [0_u8; 8];
        raw[..bytes].copy_from_slice(one);
        let raw = u64::from_le_bytes(raw);
        let top = if core.design.is_signed(ty) { raw >> (width - 1) & 1 } else { 0 };
        let word: Vec<u8> = (0..out).map(|bit| if bit < width { (raw >> bit & 1) as u8 } else { top as u8 }).collect();
        let _ = writeln!(text, "{}", hexadecimal(&word));
    }
}
