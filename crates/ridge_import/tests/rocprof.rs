//! Captures of rocprofv3: the same program in JSON and in databases of three schemas.

use ridge_import::{ImportOptions, Imported, Input, Source, import, import_inputs};
use std::fmt::Write as _;
use std::path::Path;

const FILES: [&str; 4] =
    ["rocprof/made_up_results.json", "nsys/rocpd_3_0.sqlite", "nsys/rocpd_4_0.sqlite", "nsys/rocpd_4_1.sqlite"];

fn read(file: &str) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(file);
    let bytes = std::fs::read(path).expect("a fixture");
    import(&[Source { name: "capture", bytes: &bytes }], None).expect("a capture")
}

fn rows(imported: &Imported) -> String {
    let (trace, mut text) = (&imported.trace, String::new());
    for device in &trace.devices {
        let (model, cores) = (device.model.as_deref().unwrap_or("?"), device.cores.unwrap_or(0));
        let _ = writeln!(text, "{} {model} {cores} cores {:?}", device.plane, device.compute_capability);
    }
    for track in &trace.tracks {
        let _ = writeln!(text, "{:?} {}", track.kind, trace.strings.get(track.name));
        for row in track.rows.start as usize..track.rows.end as usize {
            let (events, link) = (&trace.events, trace.events.link[row]);
            let _ = write!(text, "  {} +{} ", events.start_ns[row], events.dur_ns[row]);
            let _ = write!(text, "{} \"{}\"", events.kind(row).name(), trace.name(row));
            if let Some(shape) = trace.launch_shape(row) {
                let _ = write!(text, " grid {:?} block {:?} registers {:?}", shape.grid, shape.block, shape.registers);
                let _ = write!(text, " shared {:?}+{:?}", shape.static_shared_bytes, shape.dynamic_shared_bytes);
            }
            if let Some(transfer) = trace.transfer(row) {
                let _ = write!(text, " {} B to {}", transfer.bytes, transfer.destination.name());
            }
            if link != ridge_trace::NONE {
                let _ = write!(text, " by {} at {}", trace.name(link as usize), events.start_ns[link as usize]);
            }
            text.push('\n');
        }
    }
    let memory = &trace.allocations;
    for row in 0..memory.time_ns.len() {
        let _ = writeln!(
            text,
            "memory {} {} -> {}",
            memory.time_ns[row], memory.delta_bytes[row], memory.in_use_bytes[row]
        );
    }
    text
}

#[test]
fn every_way_of_writing_is_read_to_the_same() {
    expect_test::expect![[r#"
        /device:GPU:0 AMD Instinct MI300X 304 cores Some((9, 4))
        /device:GPU:1 AMD Instinct MI300X 304 cores Some((9, 4))
        Stream Stream #1
          3500 +3000 copy host to device "MEMORY_COPY_HOST_TO_DEVICE" 4096 B to device by hipMemcpyAsync at 2000
          12000 +10001 kernel "gemm(float*)" grid [16, 2, 1] block [256, 1, 1] registers Some(96) shared Some(1024)+Some(512) by hipLaunchKernel at 4000
          30000 +500 kernel "relu(float*)" grid [4, 1, 1] block [256, 1, 1] registers Some(16) shared Some(0)+Some(0)
          31000 +2000 copy device to host "MEMORY_COPY_DEVICE_TO_HOST" 512 B to unknown by hipMemcpyAsync at 8000
        Stream Stream #2
          13000 +1000 kernel "relu(float*)" grid [4, 1, 1] block [256, 1, 1] registers Some(16) shared Some(0)+Some(0) by hipLaunchKernel at 6000
        HostThread thread 4712
          1000 +49000 annotation "step 0"
          2000 +1000 launch "hipMemcpyAsync"
          4000 +1500 launch "hipLaunchKernel"
          6000 +1000 launch "hipLaunchKernel"
          8000 +1000 launch "hipMemcpyAsync"
          10000 +39000 host range "hipStreamSynchronize"
          51000 +0 instant "done"
        memory 100 1048576 -> 1048576
        memory 300 65536 -> 1114112
        memory 52000 -65536 -> 1048576
    "#]].assert_eq(&rows(&read(FILES[0])));
    for file in &FILES[1..] {
        assert_eq!(rows(&read(file)), rows(&read(FILES[0])), "{file}");
    }
}

/// What was counted of each kernel, and what it amounts to.
fn counted(imported: &Imported) -> String {
    let (trace, mut text) = (&imported.trace, String::new());
    let profiles = &trace.profiles;
    for (row, launch) in (0..).zip(&profiles.launches) {
        let (name, device) = (trace.strings.get(launch.name), launch.device);
        let _ =
            writeln!(text, "{name} #{} grid {:?} block {:?} on {device:?}", launch.launch, launch.grid, launch.block);
        for at in (0..profiles.profile.len()).filter(|at| profiles.profile[*at] == row) {
            let _ = writeln!(text, "  {} {}", trace.strings.get(profiles.metric[at]), profiles.value[at]);
        }
        let numbers = ridge_analysis::ProfileNumbers::of(profiles, &trace.strings, row);
        let _ =
            writeln!(text, "  = {:?} ns, {:?} B, {:?}", numbers.duration_ns, numbers.dram_bytes, numbers.tensor_flops);
    }
    text
}

#[test]
fn counters_are_those_of_profiled_launches() {
    expect_test::expect![[r#"
        gemm(float*) #0 grid [16, 2, 1] block [256, 1, 1] on Some(0)
          duration 10001
          wave_front_size 64
          SQ_WAVES 128
          TCC_BUBBLE_sum 128
          TCC_EA0_RDREQ_sum 130
          TCC_EA0_RDREQ_32B_sum 2
          TCC_EA0_WRREQ_sum 40
          TCC_EA0_WRREQ_64B_sum 40
          SQ_INSTS_VALU_MFMA_MOPS_F16 2048
          = Some(10001.0) ns, Some(19008.0) B, Some(1048576.0)
        relu(float*) #1 grid [4, 1, 1] block [256, 1, 1] on Some(0)
          duration 500
          wave_front_size 64
          SQ_WAVES 16
          = Some(500.0) ns, None B, None
    "#]]
    .assert_eq(&counted(&read(FILES[0])));
    for file in &FILES[1..] {
        assert_eq!(counted(&read(file)), counted(&read(FILES[0])), "{file}");
    }
}

#[test]
fn kernels_are_told_with_their_counters_alone_where_nothing_else_was_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rocprof/made_up_results.json");
    let mut document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path).expect("a fixture")).expect("JSON");
    let tool = &mut document["rocprofiler-sdk-tool"][0];
    tool["buffer_records"] = serde_json::json!({});
    tool["callback_records"]["counter_collection"][0]["records"][0]["counter_id"]["handle"] = 77.into();
    let text = document.to_string();
    let imported = import(&[Source { name: "capture", bytes: text.as_bytes() }], None).expect("a capture");
    let kernels: Vec<&str> = (0..imported.trace.events.start_ns.len()).map(|row| imported.trace.name(row)).collect();
    assert_eq!(kernels, ["gemm(float*)", "relu(float*)"]);
    assert!(counted(&imported).contains("  (counter 77) 64\n"), "{}", counted(&imported));
}

#[test]
fn who_ran_it_where_is_not_read() {
    for file in FILES {
        let imported = read(file);
        let said = format!("{:?}", (&imported.captures, &imported.notes));
        let texts = imported.trace.strings.find("vm7.lab").is_none() && imported.trace.strings.find("ada").is_none();
        assert!(texts && !said.contains("vm7") && !said.contains("ada"), "{file}: {said}");
    }
}

#[test]
fn what_is_damaged_is_refused_with_its_place() {
    let text = b"{\"rocprofiler-sdk-tool\": [{\n\"agents\": 7}]}";
    let error = import(&[Source { name: "x", bytes: text }], None).expect_err("agents are a list");
    assert!(error.to_string().contains("byte 39"), "{error}");
}

/// A module whose kernel the made-up capture would run, were it XLA's.
const KEPT: &str = "HloModule jit_f, entry_computation_layout={(f32[8]{0})->f32[8]{0}}\n\nfused_computation {\n  p = f32[8]{0} parameter(0)\n  ROOT a = f32[8]{0} add(p, p)\n}\n\nENTRY %main {\n  x = f32[8]{0} parameter(0)\n  ROOT loop_add_fusion = f32[8]{0} fusion(x), kind=kLoop, calls=fused_computation\n}\n";

#[test]
fn kernels_find_their_operations_in_modules_that_were_kept() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/rocprof/made_up_results.json");
    let text = std::fs::read_to_string(path).expect("a fixture").replace("relu(float*)", "loop_add_fusion");
    let inputs = [Input::File(Source { name: "capture", bytes: text.as_bytes() })];
    let other = KEPT.replace("loop_add_fusion", "loop_multiply_fusion").replace("jit_f", "jit_g");
    let open = |modules: &[&str]| {
        let modules: Vec<Source<'_>> =
            modules.iter().map(|text| Source { name: "kept", bytes: text.as_bytes() }).collect();
        let options = ImportOptions { modules: &modules, ..ImportOptions::default() };
        let imported = import_inputs(&inputs, options).expect("a capture");
        let trace = &imported.trace;
        let mut said = String::new();
        for row in 0..trace.events.start_ns.len() {
            let op = trace.events.op[row];
            if op != ridge_trace::NONE {
                let operation = &trace.operations[op as usize];
                let module = trace.modules.get(operation.module as usize).map(|module| trace.strings.get(module.name));
                let _ = writeln!(said, "{} is {} of {module:?}", trace.name(row), trace.strings.get(operation.name));
            }
        }
        said
    };
    assert_eq!(open(&[]), "");
    assert_eq!(open(&[&other]), "");
    assert_eq!(open(&[KEPT, &other]), "loop_add_fusion is loop_add_fusion of Some(\"jit_f\")\n".repeat(2));
    // Nothing tells two that are alike apart.
    assert!(!open(&[KEPT, &KEPT.replace("jit_f", "jit_h")]).contains("is loop_add_fusion"));
}
