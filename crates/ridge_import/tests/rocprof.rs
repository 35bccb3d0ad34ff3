//! Captures of rocprofv3: the same program in JSON and in databases of three schemas.

use ridge_import::{Imported, Source, import};
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
    expect_test::expect![[""]].assert_eq(&rows(&read(FILES[0])));
    for file in &FILES[1..] {
        assert_eq!(rows(&read(file)), rows(&read(FILES[0])), "{file}");
    }
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
