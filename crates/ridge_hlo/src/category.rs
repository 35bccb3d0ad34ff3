//! What kind of work an instruction is, in the words XProf uses, so that numbers can be laid side by side.

use std::borrow::Cow;

use crate::{Computation, HloModule, InstructionId};

impl HloModule {
    /// The kind of work: `loop fusion`, `custom-call`, `convolution`, `data formatting`, `all-reduce`, `while`.
    ///
    /// Fusions are told apart by kind and by what dominates them. An opcode this crate does not know is its own kind.
    pub fn category(&self, id: InstructionId) -> Cow<'static, str> {
        let instruction = self.instruction(id);
        let word = match &*instruction.opcode {
            "fusion" => return self.fusion_category(id),
            "async-start" | "async-update" | "async-done" => return self.async_category(id),
            "reshape" | "dynamic-reshape" | "transpose" => "data formatting",
            _ if instruction.opcode.is_elementwise() => "non-fusion elementwise",
            "all-reduce-start"
            | "all-reduce-done"
            | "all-gather-start"
            | "all-gather-done"
            | "collective-permute-start"
            | "collective-permute-done" => return Cow::Owned(instruction.opcode.whole().to_owned()),
            opcode => return Cow::Owned(opcode.to_owned()),
        };
        Cow::Borrowed(word)
    }

    fn fusion_category(&self, id: InstructionId) -> Cow<'static, str> {
        let instruction = self.instruction(id);
        let hero = &self.instruction(self.hero(id)).opcode;
        Cow::Borrowed(match instruction.fusion_kind.as_deref().unwrap_or_default() {
            "kCustom" => {
                let kind = instruction.backend_config.string("/fusion_backend_config/kind");
                let kind = kind.or_else(|| instruction.backend_config.string("/fusion_config/kind"));
                match kind.as_deref().unwrap_or_default() {
                    kind if kind.contains("triton") => "custom fusion (triton)",
                    kind if kind.contains("cudnn") => "custom fusion (cudnn)",
                    kind if kind.contains("ynn") => "custom fusion (ynn)",
                    kind if kind.contains("onednn") => "custom fusion (onednn)",
                    _ => "custom fusion",
                }
            }
            _ if *hero == "convolution" => "convolution fusion",
            _ if *hero == "all-reduce" => "all-reduce fusion",
            "kInput" => "input fusion",
            "kOutput" => "output fusion",
            _ => "loop fusion",
        })
    }

    /// An async pair counts as what it wraps.
    fn async_category(&self, id: InstructionId) -> Cow<'static, str> {
        let instruction = self.instruction(id);
        let wrapped = instruction.called.first().and_then(|called| self.wrapped(self.computation(*called)));
        // `async-done` names no computation; its operand, the start, does.
        let from_start = || {
            let start = self.instruction(*instruction.operands.first()?);
            start.called.first().and_then(|called| self.wrapped(self.computation(*called)))
        };
        match wrapped.or_else(from_start) {
            Some(inner) => self.category(inner),
            None => Cow::Borrowed("async"),
        }
    }

    fn wrapped(&self, computation: &Computation) -> Option<InstructionId> {
        computation.root.filter(|root| !self.instruction(*root).opcode.starts_with("async-"))
    }
}
