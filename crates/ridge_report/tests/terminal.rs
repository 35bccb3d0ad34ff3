//! What the terminal shows, at widths that people have.

mod common;

use common::{full_report, no_kernels, note, operations, overview};
use expect_test::{Expect, expect};
use ridge_report::terminal::{Definitions, Glyphs, Layout, Theme, render};
use ridge_report::{Listing, Report};
use ridgeline::{FactValue, Severity};

fn check(report: &Report, layout: &Layout, expected: Expect) {
    expected.assert_eq(&render(report, layout));
}

fn one(table: ridgeline::Table) -> Report {
    Report { tables: vec![Listing::whole(table)], ..Report::EMPTY }
}

#[test]
fn a_full_report_at_100() {
    check(
        &full_report(),
        &Layout::plain(100),
        expect![[r#"
            lost: events could not be read (host.xplane.pb, byte 1,204, 3 times)
            partial: 37 events carry no operation

            GPU 0, H200
              Wall time         24.1 ms
              Device busy       14.3 ms   59.5%  ███████████▉
              Idle              9.77 ms   40.5%  ████████▏
              Copies             3.1 µs   <0.1%  ▏
              Kernels      5,979,302
              Peak memory       1.08 GiB
              Intensity         0.25

            Versions
              jax          0.10.2
              XLA_FLAGS    --xla_gpu_enable_command_buffer= --xla_dump_to=/tmp/dump --xla_gpu_autotune_level=4
                           --xla_dump_hlo_as_text

            Operations
            Operation                              Total  Share            Count  Category     Median      Bytes
            jit(recon)/jit(ma…g_fusion_name.412  14.3 ms  92.0%  ████████     40  fusion       359 µs      1 GiB
            三角形の投影 größe                    912 µs   5.9%  ▌         1,204  loop fusion  757 ns  8,192 TiB
            evil\x1b[2J\nname                     999 ns  <0.1%  ▏             1  –            999 ns      –
            3 of 4 rows shown

            no rows: Kernels

            note: clocks of 2 hosts were aligned by their first collective

            some columns do not fit a width of 100; a wider terminal, JSON or CSV shows all
        "#]],
    );
}

#[test]
fn narrow_at_60() {
    check(
        &full_report(),
        &Layout::plain(60),
        expect![[r#"
            lost: events could not be read (host.xplane.pb, byte 1,204,
                  3 times)
            partial: 37 events carry no operation

            GPU 0, H200
              Wall time         24.1 ms
              Device busy       14.3 ms   59.5%  ███████████▉
              Idle              9.77 ms   40.5%  ████████▏
              Copies             3.1 µs   <0.1%  ▏
              Kernels      5,979,302
              Peak memory       1.08 GiB
              Intensity         0.25

            Versions
              jax          0.10.2
              XLA_FLAGS    --xla_gpu_enable_command_buffer=
                           --xla_dump_to=/tmp/dump
                           --xla_gpu_autotune_level=4
                           --xla_dump_hlo_as_text

            Operations
            Operation                   Total  Share  Count  Category
            jit(recon)/j…on_name.412  14.3 ms  92.0%     40  fusion
            三角形の投影 größe         912 µs   5.9%  1,204  loop fusion
            evil\x1b[2J\nname          999 ns  <0.1%      1  –
            3 of 4 rows shown

            no rows: Kernels

            note: clocks of 2 hosts were aligned by their first
                  collective

            some columns do not fit a width of 60; a wider terminal,
            JSON or CSV shows all
        "#]],
    );
}

#[test]
fn wide_at_160() {
    check(
        &one(operations()),
        &Layout::plain(160),
        expect![[r#"
            Operations
            Operation                                                                        Total  Share            Count  Category     Median      Bytes  Bandwidth  Async
            jit(recon)/jit(main)/while/body/cone_b…/scatter-add/very_long_fusion_name.412  14.3 ms  92.0%  ████████     40  fusion       359 µs      1 GiB  3.35 TB/s  yes
            三角形の投影 größe                                                              912 µs   5.9%  ▌         1,204  loop fusion  757 ns  8,192 TiB     –       no
            evil\x1b[2J\nname                                                               999 ns  <0.1%  ▏             1  –            999 ns      –         –       –
            dot.1                                                                             –         –                0  dot            –        17 B      12 B/s   no
        "#]],
    );
}

#[test]
fn very_narrow_keeps_numbers_whole() {
    check(
        &one(operations()),
        &Layout::plain(20),
        expect![[r#"
            Operations
            Operation       Total
            jit(re…e.412  14.3 ms
            三角形…größe   912 µs
            evil\x…nname   999 ns
            dot.1            –

            some columns do not
            fit a width of 20; a
            wider terminal, JSON
            or CSV shows all
        "#]],
    );
}

#[test]
fn ascii_without_marks() {
    let layout = Layout { glyphs: Glyphs::Ascii, ..Layout::plain(80) };
    let report = Report { sections: overview(), ..one(operations()) };
    check(
        &report,
        &layout,
        expect![[r#"
            GPU 0, H200
              Wall time         24.1 ms
              Device busy       14.3 ms   59.5%  ############
              Idle              9.77 ms   40.5%  ########
              Copies             3.1 us   <0.1%
              Kernels      5,979,302
              Peak memory       1.08 GiB
              Intensity         0.25

            Versions
              jax          0.10.2
              XLA_FLAGS    --xla_gpu_enable_command_buffer= --xla_dump_to=/tmp/dump
                           --xla_gpu_autotune_level=4 --xla_dump_hlo_as_text

            Operations
            Operation                    Total  Share  Count  Category     Median      Bytes
            jit(recon)/...on_name.412  14.3 ms  92.0%     40  fusion       359 us      1 GiB
            三角形の投影 größe          912 us   5.9%  1,204  loop fusion  757 ns  8,192 TiB
            evil\x1b[2J\nname           999 ns  <0.1%      1  -            999 ns      -
            dot.1                         -         -      0  dot            -        17 B

            some columns do not fit a width of 80; a wider terminal, JSON or CSV shows all
        "#]],
    );
}

#[test]
fn definitions_on_request() {
    let layout = Layout { definitions: Definitions::Shown, ..Layout::plain(80) };
    let mut sections = overview();
    sections[0].facts.truncate(2);
    sections.truncate(1);
    check(
        &Report { sections, ..one(operations()) },
        &layout,
        expect![[r#"
            GPU 0, H200
              Wall time    24.1 ms
                is: Wall time of the capture
              Device busy  14.3 ms  59.5%  ███████████▉
                is: Device busy of the capture

            Operations
            Operation                    Total  Share  Count  Category     Median      Bytes
            jit(recon)/j…ion_name.412  14.3 ms  92.0%     40  fusion       359 µs      1 GiB
            三角形の投影 größe          912 µs   5.9%  1,204  loop fusion  757 ns  8,192 TiB
            evil\x1b[2J\nname           999 ns  <0.1%      1  –            999 ns      –
            dot.1                         –         –      0  dot            –        17 B
            Operation: Name of the HLO instruction
            Total: Sum of durations
            Share: Total as part of device time
            Count: Executions
            Category: Kind of work
            Median: Median duration
            Bytes: Bytes touched

            some columns do not fit a width of 80; a wider terminal, JSON or CSV shows all
        "#]],
    );
}

#[test]
fn like_sections_are_one_table() {
    let mut sections = overview();
    for index in 1..4 {
        let mut device = sections[0].clone();
        device.title = format!("GPU {index}, H200");
        device.facts[1].share = Some(0.2 * f64::from(index));
        device.facts[2].value = FactValue::Nanos(100 * i64::from(index));
        sections.insert(1, device);
    }
    let report = Report { sections, ..Report::EMPTY };
    check(
        &report,
        &Layout::plain(120),
        expect![[r#"
                         Wall time  Device busy                        Idle         Copies           Kernels  Peak memory  Intensity
            GPU 0, H200    24.1 ms      14.3 ms  59.5%  ██████      9.77 ms  40.5%  3.1 µs  <0.1%  5,979,302     1.08 GiB       0.25
            GPU 3, H200    24.1 ms      14.3 ms  60.0%  ██████       300 ns  40.5%  3.1 µs  <0.1%  5,979,302     1.08 GiB       0.25
            GPU 2, H200    24.1 ms      14.3 ms  40.0%  ████         200 ns  40.5%  3.1 µs  <0.1%  5,979,302     1.08 GiB       0.25
            GPU 1, H200    24.1 ms      14.3 ms  20.0%  ██           100 ns  40.5%  3.1 µs  <0.1%  5,979,302     1.08 GiB       0.25

            Versions
              jax        0.10.2
              XLA_FLAGS  --xla_gpu_enable_command_buffer= --xla_dump_to=/tmp/dump --xla_gpu_autotune_level=4 --xla_dump_hlo_as_text
        "#]],
    );
    check(
        &report,
        &Layout::plain(60),
        expect![[r#"
                         Wall time  Device busy            Idle  Copies
            GPU 0, H200    24.1 ms      14.3 ms  59.5%  9.77 ms  3.1 µs
            GPU 3, H200    24.1 ms      14.3 ms  60.0%   300 ns  3.1 µs
            GPU 2, H200    24.1 ms      14.3 ms  40.0%   200 ns  3.1 µs
            GPU 1, H200    24.1 ms      14.3 ms  20.0%   100 ns  3.1 µs

            Versions
              jax        0.10.2
              XLA_FLAGS  --xla_gpu_enable_command_buffer=
                         --xla_dump_to=/tmp/dump
                         --xla_gpu_autotune_level=4
                         --xla_dump_hlo_as_text

            some columns do not fit a width of 60; a wider terminal,
            JSON or CSV shows all
        "#]],
    );
}

#[test]
fn many_like_sections_are_counted() {
    let device = |index: usize| {
        let mut device = overview().swap_remove(0);
        device.title = format!("GPU {index}");
        device.facts.truncate(2);
        if index == 1 {
            device.facts.reverse();
        }
        device
    };
    let report = Report { sections: (0..20).map(device).collect(), ..Report::EMPTY };
    let text = render(&report, &Layout::plain(80));
    assert_eq!(text.lines().count(), 18, "{text}");
    assert!(text.ends_with("4 more like these; JSON lists all\n"), "{text}");
    assert!(text.contains("GPU 1     24.1 ms      14.3 ms  59.5%"), "facts are found by key: {text}");
}

#[test]
fn an_empty_table_is_an_answer() {
    check(
        &one(no_kernels()),
        &Layout::plain(80),
        expect![[r#"
            no rows: Kernels
        "#]],
    );
    check(&Report::EMPTY, &Layout::plain(80), expect![[""]]);
}

#[test]
fn many_notes_are_counted() {
    let notes = (0..20).map(|index| note(Severity::Lost, &format!("file {index} is cut"))).collect();
    check(
        &Report { notes, ..Report::EMPTY },
        &Layout::plain(80),
        expect![[r#"
        lost: file 0 is cut
        lost: file 1 is cut
        lost: file 2 is cut
        lost: file 3 is cut
        lost: file 4 is cut
        lost: file 5 is cut
        lost: file 6 is cut
        lost: file 7 is cut
        lost: 12 more of this kind; JSON lists all
    "#]],
    );
}

#[test]
fn color_adds_styles_and_changes_no_text() {
    let colored = render(&full_report(), &Layout { theme: Theme::COLOR, ..Layout::plain(100) });
    assert!(colored.starts_with("\x1b[1m\x1b[31mlost:\x1b[0m events"), "{colored:?}");
    assert_eq!(without_styles(&colored), render(&full_report(), &Layout::plain(100)));
}

#[test]
fn no_line_is_wider_than_asked() {
    for width in 44..200 {
        for line in render(&full_report(), &Layout::plain(width)).lines() {
            let taken = unicode_width::UnicodeWidthStr::width(line);
            assert!(taken <= width, "{taken} columns at width {width}: {line}");
        }
    }
}

#[test]
fn names_cannot_move_the_cursor() {
    let text = render(&one(operations()), &Layout::plain(100));
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
}

/// Removes `ESC [ … m`, the only sequence that styles write.
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}
