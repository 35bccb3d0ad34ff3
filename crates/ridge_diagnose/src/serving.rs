//! Steps of servers of language models, as their engines name them.
//!
//! vLLM: `execute_context_1(888_788544)_generation_0(0)` and `execute_32_context_0(…)_generation_32(…)`, from
//! `vllm/v1/worker/gpu_worker.py`; SGLang: `step[DECODE bs=32]`, `step[EXTEND bs=15 toks=15360]`.

use crate::case::Case;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{IdleGaps, Spans, StepRow};

/// What one step of a server did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    /// Requests whose prompts it read.
    pub(crate) prefills: u64,
    /// Requests that it made the next token of.
    pub(crate) decodes: u64,
}

impl Served {
    /// What a step of that name did; `None` where no server named it.
    pub(crate) fn parse(name: &str) -> Option<Served> {
        let number = |after: &str| -> Option<u64> {
            let rest = &name[name.find(after)? + after.len()..];
            rest[..rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
        };
        if name.starts_with("execute_") {
            return Some(Served { prefills: number("context_")?, decodes: number("generation_")? });
        }
        let requests = number("bs=").filter(|_| name.starts_with("step["))?;
        match name["step[".len()..].split([' ', ']']).next()? {
            "DECODE" => Some(Served { prefills: 0, decodes: requests }),
            "EXTEND" | "PREFILL" => Some(Served { prefills: requests, decodes: 0 }),
            _ => None,
        }
    }

    /// Whether it made tokens and read no prompt.
    pub(crate) fn is_decode(&self) -> bool {
        self.prefills == 0 && self.decodes > 0
    }

    /// Whether it did both.
    pub(crate) fn is_mixed(&self) -> bool {
        self.prefills > 0 && self.decodes > 0
    }
}

impl<'a> Case<'a> {
    /// The judged steps of a server in one process, in order; none where no server named them.
    pub(crate) fn served(&self) -> Vec<(&'a StepRow, Served)> {
        let steps = self.steps_of_one_process().into_iter();
        steps.filter_map(|step| Some((step, Served::parse(self.trace().strings.get(step.name))?))).collect()
    }

    /// The idle time within `spans` that `wanted` takes: parts of rows of the breakdown, and nanoseconds.
    pub(crate) fn idle_within(
        &self,
        spans: &Spans,
        wanted: impl Fn(&IdlePart) -> bool + Sync,
    ) -> (Vec<(usize, f32)>, i64) {
        let (trace, idle) = (self.trace(), self.analysis.get::<IdleGaps>());
        let mut held: Vec<(usize, f64)> = Vec::new();
        for (position, device) in idle.devices.iter().map(|device| device.device).enumerate() {
            let process = trace.devices.get(device as usize).map_or(0, |device| device.process);
            let Some(frame) = self.analyzed().spans.get(process as usize) else { continue };
            let judged = frame.without(&frame.without(spans));
            let found = self.idle_of(position, &judged, |part| wanted(part).then_some(()));
            held.extend(found.into_iter().map(|((), at, ns)| (at, ns as f64)));
        }
        let ns = held.iter().map(|(_, ns)| *ns).sum::<f64>() as i64;
        (self.parts_of(held), ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_steps_say_what_was_served() {
        let parsed = |name: &str| Served::parse(name).map(|served| (served.prefills, served.decodes));
        for (name, expected) in [
            ("execute_context_1(888_788544)_generation_0(0)", Some((1, 0))),
            ("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)", Some((0, 32))),
            ("execute_8192_context_9(sq8155sk8430)_generation_37(sq37sk34489)", Some((9, 37))),
            ("step[DECODE bs=32]", Some((0, 32))),
            ("step[EXTEND bs=15 toks=15360]", Some((15, 0))),
            ("step[IDLE bs=0]", None),
            ("execute_diffusion_1_256x256", None),
            ("train", None),
        ] {
            assert_eq!(parsed(name), expected, "{name}");
        }
    }
}
