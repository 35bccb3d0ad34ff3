//! What XLA writes a fusion's kernel with, in words.

use ridge_hlo::{HloModule, Instruction, InstructionId};

/// How the kernel of an instruction is made, for a reader who does not know XLA's names.
///
/// By the kind of the fusion, the backend's configuration of it, and its root
/// (`GetEmitterFusionKind` of openxla/xla, xla/service/gpu/hlo_fusion_analysis.cc).
pub fn emitter(module: &HloModule, id: InstructionId) -> String {
    let instruction = module.instruction(id);
    match instruction.opcode.as_str() {
        "fusion" => fusion(module, instruction),
        "custom-call" => {
            let target = instruction.custom_call_target.as_deref().unwrap_or("unknown");
            match library(target) {
                Some(library) => format!("library: {library} (`{target}`)"),
                None => format!("custom call `{target}`"),
            }
        }
        "copy" | "copy-start" => "copy".to_owned(),
        "sort" => "sort, XLA's own passes".to_owned(),
        other => format!("{other}, on its own"),
    }
}

fn fusion(module: &HloModule, instruction: &Instruction) -> String {
    let config = &instruction.backend_config;
    let kind = config.string("/fusion_backend_config/kind").unwrap_or_default();
    let root = root_of(module, instruction);
    match (kind.as_str(), instruction.fusion_kind.as_deref()) {
        ("__triton_gemm" | "__triton_nested_gemm_fusion", _) => "matrix product by Triton".to_owned(),
        ("__triton_scaled_dot_fusion", _) => "scaled matrix product by Triton".to_owned(),
        ("__triton" | "__triton_softmax" | "__triton_collective", _) => "tiles by Triton".to_owned(),
        ("__cudnn$fusion", _) => "library: cuDNN".to_owned(),
        ("__dynamic_memcpy", _) => "copy at a place known only when it runs".to_owned(),
        (kind, _) if kind.starts_with("__custom_fusion") => "kernel of a library (CUTLASS)".to_owned(),
        (_, Some("kLoop")) if root == "dynamic-update-slice" => "update in place".to_owned(),
        (_, Some("kLoop")) => "elementwise loop".to_owned(),
        (_, Some("kInput")) => match root.as_str() {
            "reduce" => "reduction".to_owned(),
            "transpose" | "copy" => "transpose through shared memory".to_owned(),
            "scatter" => "scatter".to_owned(),
            "concatenate" => "concatenation".to_owned(),
            "slice" => "slices of one array".to_owned(),
            other => format!("fusion for its input ({other})"),
        },
        (_, Some("kCustom")) if root == "sort" => "sort, XLA's own passes".to_owned(),
        (_, Some(kind)) => format!("{root}, {kind}"),
        (_, None) => root,
    }
}

/// The opcode that a fusion ends in; the first of several results that is no bitcast.
fn root_of(module: &HloModule, instruction: &Instruction) -> String {
    let Some(called) = instruction.called.first() else { return String::new() };
    let Some(mut at) = module.computation(*called).root else { return String::new() };
    for _ in 0..16 {
        let inner = module.instruction(at);
        let passes = matches!(inner.opcode.as_str(), "tuple" | "bitcast");
        match inner.operands.first().filter(|_| passes) {
            Some(operand) => at = *operand,
            None => return inner.opcode.as_str().to_owned(),
        }
    }
    String::new()
}

/// The library behind a custom call, by XLA's names for them.
pub fn library(target: &str) -> Option<&'static str> {
    let known = [
        ("__cublas", "cuBLAS"),
        ("__cudnn", "cuDNN"),
        ("cusolver", "cuSOLVER"),
        ("__cusolver", "cuSOLVER"),
        ("cublas_", "cuBLAS"),
        ("__cub$", "CUB"),
        ("__cufft", "cuFFT"),
        ("cu_threefry", "JAX's random numbers"),
    ];
    known.into_iter().find(|(start, _)| target.starts_with(start)).map(|(_, library)| library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fusions_are_told_by_kind_and_root() {
        let text = "HloModule m\n\n\
            %f (p: f32[8,8]) -> f32[8] {\n  %p = f32[8,8]{1,0} parameter(0)\n  %c = f32[] constant(0)\n  \
            ROOT %r = f32[8]{0} reduce(%p, %c), dimensions={1}, to_apply=%add\n}\n\n\
            %add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\n\
            %g (p: f32[8,8]) -> f32[8,8] {\n  %p = f32[8,8]{1,0} parameter(0)\n  ROOT %n = f32[8,8]{1,0} negate(%p)\n}\n\n\
            ENTRY %main (x: f32[8,8]) -> (f32[8], f32[8,8], f32[8,8]) {\n  %x = f32[8,8]{1,0} parameter(0)\n  \
            %one = f32[8]{0} fusion(%x), kind=kInput, calls=%f\n  \
            %two = f32[8,8]{1,0} fusion(%x), kind=kLoop, calls=%g\n  \
            %three = f32[8,8]{1,0} custom-call(%x), custom_call_target=\"__cublas$gemm\"\n  \
            ROOT %t = (f32[8]{0}, f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%one, %two, %three)\n}\n";
        let module = HloModule::from_text(text).expect("a module");
        let told = |name: &str| emitter(&module, module.instruction_named(name).expect("an instruction"));
        assert_eq!(told("one"), "reduction");
        assert_eq!(told("two"), "elementwise loop");
        assert_eq!(told("three"), "library: cuBLAS (`__cublas$gemm`)");
    }
}
