//! Hand-made reports that every renderer's tests show.
//!
//! Small, but with what makes rendering hard: long names, wide characters, controls, unknown values, huge numbers.

#![allow(dead_code, reason = "each test file uses some of these")]

use ridge_report::{Listing, Report};
use ridgeline::{Column, Fact, FactValue, Note, Rank, Section, Severity, Table, Unit};

/// A note without a place.
pub(crate) fn note(severity: Severity, message: &str) -> Note {
    Note::new(severity, message)
}

/// A fact with a share of the whole where `share` is not negative.
pub(crate) fn fact(key: &str, title: &str, value: FactValue, share: Option<f64>) -> Fact {
    let definition = format!("{title} of the capture");
    Fact::new(key, title, value, definition).share(share)
}

/// An overview with one fact of each kind.
pub(crate) fn overview() -> Vec<Section> {
    let device = vec![
        fact("wall_ns", "Wall time", FactValue::Nanos(24_113_204), None),
        fact("device_busy_ns", "Device busy", FactValue::Nanos(14_344_140), Some(0.5949)),
        fact("idle_ns", "Idle", FactValue::Nanos(9_769_064), Some(0.4051)),
        fact("copies_ns", "Copies", FactValue::Nanos(3_100), Some(0.000129)),
        fact("kernels", "Kernels", FactValue::Count(5_979_302), None),
        fact("peak_bytes", "Peak memory", FactValue::Bytes(1_158_138_880), None),
        fact("intensity", "Intensity", FactValue::Number(0.25), None),
    ];
    let flags =
        "--xla_gpu_enable_command_buffer= --xla_dump_to=/tmp/dump --xla_gpu_autotune_level=4 --xla_dump_hlo_as_text";
    let versions = vec![
        fact("jax", "jax", FactValue::Text("0.10.2".to_owned()), None),
        fact("xla_flags", "XLA_FLAGS", FactValue::Text(flags.to_owned()), None),
    ];
    vec![
        Section { title: "GPU 0, H200".to_owned(), facts: device },
        Section { title: "Versions".to_owned(), facts: versions },
    ]
}

/// Operations: a long name, a wide one, one with controls, and unknown values.
pub(crate) fn operations() -> Table {
    let names = [
        "jit(recon)/jit(main)/while/body/cone_beam_projector/scatter-add/very_long_fusion_name.412",
        "三角形の投影 größe",
        "evil\x1b[2J\nname",
        "dot.1",
    ];
    let columns = vec![
        Column::text("op", "Operation", "Name of the HLO instruction", names.map(str::to_owned)).ranked(Rank::Key),
        Column::nanos("total_ns", "Total", "Sum of durations", [Some(14_344_140), Some(912_000), Some(999), None])
            .ranked(Rank::Key),
        Column::real(
            "share",
            "Share",
            "Total as part of device time",
            Unit::Share,
            [Some(0.92), Some(0.059), Some(6.4e-5), None],
        ),
        Column::whole("count", "Count", "Executions", Unit::Count, [40, 1_204, 1, 0]),
        Column::text(
            "category",
            "Category",
            "Kind of work",
            [Some("fusion".to_owned()), Some("loop fusion".to_owned()), None, Some("dot".to_owned())],
        ),
        Column::nanos("median_ns", "Median", "Median duration", [Some(358_603), Some(757), Some(999), None]),
        Column::whole(
            "bytes",
            "Bytes",
            "Bytes touched",
            Unit::Bytes,
            [Some(1 << 30), Some(9_007_199_254_740_993), None, Some(17)],
        ),
        Column::real(
            "rate",
            "Bandwidth",
            "Bytes per second",
            Unit::BytesPerSec,
            [Some(3.35e12), Some(f64::NAN), None, Some(12.0)],
        )
        .ranked(Rank::Detail),
        Column::flag("async", "Async", "Runs beside others", [Some(true), Some(false), None, Some(false)])
            .ranked(Rank::Detail),
    ];
    Table::from_columns("op", "Operations".to_owned(), columns).expect("columns of equal length")
}

/// A table with columns and no rows.
pub(crate) fn no_kernels() -> Table {
    let columns = vec![
        Column::text("kernel", "Kernel", "Name of the kernel", Vec::<String>::new()).ranked(Rank::Key),
        Column::nanos("total_ns", "Total", "Sum of durations", Vec::<i64>::new()),
    ];
    Table::from_columns("kernel", "Kernels".to_owned(), columns).expect("columns of equal length")
}

/// Everything at once.
pub(crate) fn full_report() -> Report {
    let lost = Note {
        severity: Severity::Lost,
        message: "events could not be read".to_owned(),
        file: Some("host.xplane.pb".to_owned()),
        offset: Some(1204),
        count: 3,
    };
    let info = note(Severity::Info, "clocks of 2 hosts were aligned by their first collective");
    let partial = note(Severity::Partial, "37 events carry no operation");
    let tables = vec![Listing::top(operations(), 3), Listing::whole(no_kernels())];
    Report { notes: vec![info, partial, lost], sections: overview(), tables }
}
