//! Modules inside the real captures of `fixtures/real/xplane`.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use expect_test::expect;
use ridge_hlo::cost::ModuleCosts;
use ridge_hlo::wire::{Fields, text};
use ridge_hlo::{HloModule, InstructionId};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/real/xplane")
}

fn parts(message: &[u8], field: u32) -> impl Iterator<Item = &[u8]> {
    Fields::new(message)
        .map_while(Result::ok)
        .filter(move |(number, _)| *number == field)
        .filter_map(|(_, v)| v.bytes())
}

/// The modules of a capture with their names: byte stats of the events of its `/host:metadata` plane.
fn modules(capture: &[u8]) -> Vec<(String, HloModule)> {
    let mut modules = Vec::new();
    for plane in parts(capture, 1).filter(|plane| parts(plane, 2).next() == Some(b"/host:metadata")) {
        for metadata in parts(plane, 4).filter_map(|entry| parts(entry, 2).next()) {
            let name = parts(metadata, 2).next().map(|name| text(name).into_owned()).unwrap_or_default();
            for proto in parts(metadata, 5).filter_map(|stat| parts(stat, 6).next()) {
                modules.push((name.clone(), HloModule::from_proto(proto).expect("a module")));
            }
        }
    }
    modules.sort_by(|left, right| left.0.cmp(&right.0));
    modules
}

fn module(folder: &Path, capture: &str, name: &str) -> HloModule {
    let bytes = std::fs::read(folder.join(capture)).expect("a fixture");
    modules(&bytes).into_iter().find(|(found, _)| found == name).expect("the module is in the capture").1
}

#[test]
fn every_module_of_every_capture_is_read_whole() {
    let folder = folder();
    let mut out = String::new();
    for capture in ["mi300_conv_08", "mi300_gemm", "mi300_te_fused_attn", "nvidia_like", "nvidia_like_cudagraph"] {
        let bytes = std::fs::read(folder.join(format!("{capture}.xplane.pb"))).expect("a fixture");
        let modules = modules(&bytes);
        let instructions: usize = modules.iter().map(|(_, module)| module.instructions.len()).sum();
        let computations: usize = modules.iter().map(|(_, module)| module.computations.len()).sum();
        writeln!(out, "{capture}: {} modules, {computations} computations, {instructions} instructions", modules.len())
            .expect("a string");
        for (name, module) in &modules {
            assert_eq!(module.notes, [], "{capture} {name}");
            assert_eq!(*name, format!("{}({})", module.name, module.id));
            let entry = module.entry.expect("an entry computation");
            assert!(module.computation(entry).root.is_some());
            assert!(module.buffers.is_some());
            assert!(module.instructions.iter().all(|instruction| instruction.opcode.is_known()));
            let printed = HloModule::from_text(&module.to_text()).expect("printed text");
            assert_eq!(printed.notes, [], "{capture} {name}");
            assert_eq!(printed.to_text(), module.to_text(), "{capture} {name}");
        }
    }
    expect![[r#"
        mi300_conv_08: 8 modules, 27 computations, 850 instructions
        mi300_gemm: 16 modules, 28 computations, 68 instructions
        mi300_te_fused_attn: 9 modules, 61 computations, 946 instructions
        nvidia_like: 9 modules, 61 computations, 946 instructions
        nvidia_like_cudagraph: 9 modules, 61 computations, 946 instructions
    "#]]
    .assert_eq(&out);
}

#[test]
fn sources_come_from_stack_frames() {
    let folder = folder();
    let module = module(&folder, "mi300_te_fused_attn.xplane.pb", "jit_loss_fn(17)");
    let id = module.instruction_named("%te_fused_attn_forward_ffi.10").expect("the custom call");
    let stack: Vec<String> = module
        .source_stack(id)
        .iter()
        .map(|frame| {
            format!("{}:{} in {}", frame.file.rsplit('/').next().unwrap_or_default(), frame.line, frame.function)
        })
        .collect();
    expect![[r#"
        attention.py:2680 in fused_attn_fwd
        attention.py:916 in _fused_attn_fwd_rule
        attention.py:1110 in fused_attn
        12_te_fused_attn.py:77 in _build_layer_stack_fn.<locals>.block
        12_te_fused_attn.py:98 in _build_layer_stack_fn.<locals>.stack
        12_te_fused_attn.py:134 in main.<locals>.loss_fn
        12_te_fused_attn.py:158 in main
        12_te_fused_attn.py:187 in <module>
    "#]]
    .assert_eq(&(stack.join("\n") + "\n"));
}

#[test]
fn kernels_lead_to_instructions() {
    let folder = folder();
    let conv = module(&folder, "mi300_conv_08.xplane.pb", "jit_forward_3d_conv(15)");
    let attention = module(&folder, "mi300_te_fused_attn.xplane.pb", "jit_loss_fn(17)");
    let mut out = String::new();
    for (module, kernel) in [
        (&conv, "input_transpose_fusion_1.kd"),
        (&conv, "input_transpose_fusion"),
        (&conv, "__amd_rocclr_copyBuffer.kd"),
        (&attention, "wrapped_convert.kd"),
        (&attention, "loop_reduce_fusion_3.kd"),
    ] {
        let names: Vec<&str> =
            module.kernel_candidates(kernel).iter().map(|id| module.instruction(*id).name.as_str()).collect();
        writeln!(out, "{kernel}: {}", names.join(" ")).expect("a string");
    }
    expect![[r#"
        input_transpose_fusion_1.kd: input_transpose_fusion.1
        input_transpose_fusion: input_transpose_fusion
        __amd_rocclr_copyBuffer.kd: 
        wrapped_convert.kd: wrapped_convert wrapped_convert.1
        loop_reduce_fusion_3.kd: loop_reduce_fusion.3 loop_reduce_fusion.2
    "#]]
    .assert_eq(&out);
}

#[test]
fn categories_are_the_ones_xprof_gives() {
    let folder = folder();
    for (capture, file) in [("mi300_conv_08", "hlo_stats"), ("mi300_te_fused_attn", "hlo_stats")] {
        let table = std::fs::read_to_string(folder.join(format!("{capture}.xprof.{file}.csv"))).expect("a table");
        let bytes = std::fs::read(folder.join(format!("{capture}.xplane.pb"))).expect("a fixture");
        let modules = modules(&bytes);
        let mut compared = 0;
        for row in table.lines() {
            let columns: Vec<&str> = row.splitn(5, ',').collect();
            let [rank, program, category, name, _] = columns[..] else { continue };
            let Some((_, module)) = rank
                .parse::<f64>()
                .ok()
                .and_then(|_| modules.iter().find(|(_, module)| module.id.to_string() == program))
            else {
                continue;
            };
            let id = module.instruction_named(name).expect("XProf found it in the same module");
            // This crate also says which custom fusion it is.
            let ours = module.category(id);
            assert_eq!(ours.split(" (").next(), Some(category), "{capture} {name}");
            compared += 1;
        }
        assert!(compared > 2, "{capture}: {compared} rows compared");
    }
}

#[test]
fn the_planned_peak_is_the_one_xprof_gives() {
    let folder = folder();
    let module = module(&folder, "mi300_conv_08.xplane.pb", "jit_forward_3d_conv(15)");
    let peak = module.buffers.as_ref().expect("buffers").replay_peak();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let at = peak.at.map(|id: InstructionId| module.instruction(id).name.clone());
    // `peakHeapMib` and `indefiniteBufferAllocationMib` of XProf's memory viewer.
    assert_eq!((mib(peak.bytes), mib(peak.always_bytes)), (1104.4921875, 552.24609375), "{at:?}");
}

/// The costs of one instruction, as the numbers that are known of it.
fn flops(module: &HloModule, name: &str) -> f64 {
    let id = module.instruction_named(name).expect("the instruction");
    let costs = ModuleCosts::new(module);
    assert_eq!(costs.of(id).unknown, None, "{name}");
    costs.of(id).work.flops()
}

#[test]
fn library_calls_cost_what_is_known_of_them() {
    let folder = folder();
    // Sixteen features of 32 x 60 x 104, 5120 kernels of 1 x 2 x 2 as far apart as they are long, padded by one on all
    // sides: each input element meets one tap of each kernel. 32.715 GFLOP.
    let conv = module(&folder, "mi300_conv_08.xplane.pb", "jit_forward_3d_conv(15)");
    assert_eq!(flops(&conv, "cudnn-conv.1"), 2.0 * 5120.0 * 16.0 * 32.0 * 60.0 * 104.0);
    let gemm = module(&folder, "mi300_gemm.xplane.pb", "jit_dot(79)");
    assert_eq!(flops(&gemm, "custom-call.1"), 2.0 * 16384.0 * 4096.0 * 1024.0);
    // Two sequences of 2048, 16 heads of 128, a causal mask: two products forward and five backward over half of the
    // pairs, and five operations of the softmax per pair.
    let attention = module(&folder, "mi300_te_fused_attn.xplane.pb", "jit_loss_fn(17)");
    let pairs = 2.0 * 16.0 * 2048.0 * 2048.0 / 2.0;
    assert_eq!(flops(&attention, "te_fused_attn_forward_ffi.10"), pairs * (4.0 * 128.0 + 5.0));
    assert_eq!(flops(&attention, "te_fused_attn_backward_ffi.12"), pairs * (10.0 * 128.0 + 5.0));
}
