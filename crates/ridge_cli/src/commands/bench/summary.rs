//! A benchmark's table by size: one row per operation, one median per size, failures named below.

use super::progress::{nanos, not_run};
use crate::failure::Failure;
use ridge_record::bench::{BenchCell, BenchOutcome, BenchRow, BenchStatus, PartShare, Ratio};
use ridge_report::{Listing, Report};
use ridgeline::{Column, Note, Rank, Severity, Table, Unit};

/// Number of operations measured, over all sizes.
pub(super) fn measured(outcome: &BenchOutcome) -> usize {
    let cells = outcome.rows.iter().flat_map(|row| &row.cells);
    cells.filter(|cell| matches!(cell.status, BenchStatus::Ok { .. })).count()
}

/// The table by size.
pub(super) fn report(outcome: &BenchOutcome) -> Result<Report, Failure> {
    let mut columns = vec![
        Column::text(
            "operation",
            "Operation",
            "operation of the suite",
            outcome.rows.iter().map(|row| row.operation.clone()),
        )
        .ranked(Rank::Key),
    ];
    for (index, size) in outcome.sizes.iter().enumerate() {
        columns.extend(columns_of_size(outcome, index, *size));
    }
    let title = format!("{}: median time by size, ± half the distance between the quartiles", outcome.suite);
    let mut table = Table::from_columns("bench", title, columns)
        .map_err(|error| Failure::failed(format!("cannot lay out the results: {error}")))?;
    table.footnotes = footnotes(outcome);
    let mut tables = vec![Listing::whole(table)];
    tables.extend(parts(outcome)?.map(Listing::whole));
    Ok(Report { notes: recompiled(outcome), tables, ..Report::EMPTY })
}

/// The parts of operations, with what share of the parts' time each is; `None` where there are none.
fn parts(outcome: &BenchOutcome) -> Result<Option<Table>, Failure> {
    if outcome.parts.is_empty() {
        return Ok(None);
    }
    let of = |value: fn(&PartShare) -> Option<f64>| outcome.parts.iter().map(value);
    let text = |value: fn(&PartShare) -> String| outcome.parts.iter().map(value);
    let columns = vec![
        Column::text(
            "part",
            "Part",
            "operation of the suite that is part of another",
            text(|part| part.operation.clone()),
        )
        .ranked(Rank::Key),
        Column::text("part_of", "Part of", "the operation that it is part of", text(|part| part.part_of.clone())),
        Column::whole(
            "size",
            "Size",
            "the size they ran at",
            Unit::Count,
            outcome.parts.iter().map(|part| part.volume_size),
        ),
        Column::real(
            "share",
            "Share",
            "its median time as part of the sum of all parts'",
            Unit::Share,
            of(|part| Some(part.share)),
        ),
        Column::real(
            "expected_share",
            "Expected",
            "its bytes accessed as part of the sum of all parts', by XLA's cost analysis: its share if memory were all that counts",
            Unit::Share,
            of(|part| part.expected_share),
        ),
        Column::real(
            "of_whole",
            "Of whole",
            "its median time divided by the whole's; if XLA fuses across parts, they add up to more than 100%",
            Unit::Share,
            of(|part| part.of_whole),
        ),
    ];
    let title = "Parts, each timed by itself".to_owned();
    let table = Table::from_columns("parts", title, columns);
    table.map(Some).map_err(|error| Failure::failed(format!("cannot lay out the parts: {error}")))
}

fn columns_of_size(outcome: &BenchOutcome, index: usize, size: u32) -> [Column; 3] {
    // Sizes are known only now and headings are static: a few words per size live until the program ends, which is soon.
    let title: &'static str = size.to_string().leak();
    let key = |what: &str| -> &'static str { format!("{what}_{size}").leak() };
    let of = |value: fn(&BenchStatus) -> Option<f64>| {
        outcome.rows.iter().map(move |row| row.cells.get(index).and_then(|cell| value(&cell.status)))
    };
    let whole_nanos = |secs: Option<f64>| secs.map(|secs| nanos(secs).0);
    [
        Column::nanos(key("median_ns"), title, "median of the timed runs", of(median).map(whole_nanos))
            .ranked(Rank::Key),
        Column::real(key("spread"), "±", "spread as part of the median", Unit::Share, of(spread)).ranked(Rank::Detail),
        Column::nanos(
            key("compile_ns"),
            "compile",
            "time in the compiler in the first run",
            of(compile).map(whole_nanos),
        )
        .ranked(Rank::Detail),
    ]
}

fn median(status: &BenchStatus) -> Option<f64> {
    match status {
        BenchStatus::Ok { median_s, .. } => Some(*median_s),
        _ => None,
    }
}

fn spread(status: &BenchStatus) -> Option<f64> {
    match status {
        BenchStatus::Ok { median_s, spread_s, .. } if *median_s > 0.0 => Some(spread_s / median_s),
        _ => None,
    }
}

fn compile(status: &BenchStatus) -> Option<f64> {
    match status {
        BenchStatus::Ok { compile_s, .. } => *compile_s,
        _ => None,
    }
}

/// Operations whose times are no warm ones, which a reader must know before the times.
fn recompiled(outcome: &BenchOutcome) -> Vec<Note> {
    let of_row = |row: &BenchRow| row.cells.iter().filter_map(|cell| told(&row.operation, cell)).collect::<Vec<_>>();
    let messages = outcome.rows.iter().flat_map(of_row);
    messages.map(|message| Note { severity: Severity::Partial, message, file: None, offset: None, count: 1 }).collect()
}

fn told(operation: &str, cell: &BenchCell) -> Option<String> {
    match &cell.status {
        BenchStatus::Ok { recompiles, .. } => Some(format!("{operation} at {} {}", cell.size, recompiles.as_ref()?)),
        _ => None,
    }
}

/// Failures one by one; what was not run counted by reason.
fn footnotes(outcome: &BenchOutcome) -> Vec<String> {
    let mut lines: Vec<String> = outcome.ratios.iter().map(longer).collect();
    lines.extend(outcome.rows.iter().flat_map(failures));
    let mut left: Vec<(&str, usize)> = Vec::new();
    for cell in outcome.rows.iter().flat_map(|row| &row.cells) {
        if let BenchStatus::NotRun { reason } = &cell.status {
            match left.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => left.push((reason, 1)),
            }
        }
    }
    lines.extend(left.into_iter().map(|(reason, count)| format!("{count} {}", not_run(reason))));
    lines
}

fn longer(found: &Ratio) -> String {
    let Ratio { slower, faster, volume_size, ratio } = found;
    format!("{slower} takes {ratio:.2} times as long as {faster} at {volume_size}")
}

fn failures(row: &BenchRow) -> impl Iterator<Item = String> {
    row.cells.iter().filter_map(|cell| match &cell.status {
        BenchStatus::Failed { reason } => Some(format!("{} at {} failed: {reason}", row.operation, cell.size)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use ridge_record::bench::Recompiles;
    use ridge_report::terminal::{Layout, render};
    use std::path::PathBuf;

    fn ok(median_s: f64) -> BenchStatus {
        let spread_s = median_s / 50.0;
        let recompiles = None;
        BenchStatus::Ok {
            runs: 5,
            median_s,
            min_s: median_s,
            spread_s,
            compile_s: Some(1.5),
            peak_rss_bytes: None,
            recompiles,
        }
    }

    #[test]
    fn what_compiles_at_every_call_is_said_first() {
        let mut cold = ok(1.2);
        if let BenchStatus::Ok { recompiles, .. } = &mut cold {
            let most_often = Some(("jit__lambda".to_owned(), 40));
            *recompiles = Some(Recompiles { modules: 48, calls: 4, compile_s: 3.4, runs_s: Some(4.7), most_often });
        }
        let outcome = BenchOutcome {
            suite: "mbirjax".to_owned(),
            out: PathBuf::from("out"),
            results: PathBuf::from("out/results.json"),
            sizes: vec![32, 64],
            rows: vec![row("denoise", [ok(0.5), ok(2.0)]), row("median_filter3d", [ok(0.4), cold])],
            parts: Vec::new(),
            ratios: Vec::new(),
            interrupted: false,
        };
        let text = render(&report(&outcome).expect("columns of equal length"), &Layout::plain(140));
        let said = "median_filter3d at 64 compiles again at every call: 48 modules in 4 calls (most often jit__lambda, 40), 3.40 of 4.70 s";
        assert!(text.lines().next().is_some_and(|first| first.contains(said)), "{text}");
    }

    fn row(operation: &str, statuses: [BenchStatus; 2]) -> BenchRow {
        let cells = [32, 64].into_iter().zip(statuses).map(|(size, status)| BenchCell { size, status }).collect();
        BenchRow { operation: operation.to_owned(), cells }
    }

    #[test]
    fn sizes_are_columns_and_failures_are_named() {
        let failed = BenchStatus::Failed { reason: "MemoryError: 3 GiB".to_owned() };
        let late = || BenchStatus::NotRun { reason: "not run: budget used up".to_owned() };
        let outcome = BenchOutcome {
            suite: "mbirjax".to_owned(),
            out: PathBuf::from("out"),
            results: PathBuf::from("out/results.json"),
            sizes: vec![32, 64],
            rows: vec![
                row("cone_forward_project", [ok(0.0123), ok(0.104)]),
                row("cone_mbir_recon", [ok(1.25), failed]),
                row("median_filter3d", [late(), late()]),
            ],
            parts: Vec::new(),
            ratios: Vec::new(),
            interrupted: false,
        };
        assert_eq!(measured(&outcome), 3);
        let report = report(&outcome).expect("columns of equal length");
        expect![[r#"
            mbirjax: median time by size, ± half the distance between the quartiles
            Operation                  32     ±  compile      64     ±  compile
            cone_forward_project  12.3 ms  2.0%    1.5 s  104 ms  2.0%    1.5 s
            cone_mbir_recon       1.25 s   2.0%    1.5 s    –        –      –
            median_filter3d          –        –      –      –        –      –
            cone_mbir_recon at 64 failed: MemoryError: 3 GiB
            2 not run: budget used up
        "#]]
        .assert_eq(&render(&report, &Layout::plain(90)));
    }
}
