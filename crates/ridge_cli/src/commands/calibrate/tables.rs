//! A calibration's figures as tables: one per device and unit for people, one of everything for programs.

use crate::failure::Failure;
use ridge_record::calibrate::{Calibration, Figure, MeasuredDevice};
use ridge_report::Listing;
use ridgeline::{Basis, Ceilings, Column, ComputeUnit, Limit, NumberType, Rank, Table, Unit, data_sheet};

/// A table of figures of one unit.
struct Kind {
    /// The unit in the document.
    unit: &'static str,
    name: &'static str,
    title: &'static str,
    shown_in: Unit,
}

const KINDS: [Kind; 4] = [
    Kind { unit: "bytes/s", name: "bandwidth", title: "bandwidth", shown_in: Unit::BytesPerSec },
    Kind { unit: "flop/s", name: "rate", title: "arithmetic", shown_in: Unit::FlopsPerSec },
    Kind {
        unit: "op/s",
        name: "integer_rate",
        title: "integer arithmetic, functions and comparisons",
        shown_in: Unit::OpsPerSec,
    },
    Kind { unit: "ns", name: "time", title: "times", shown_in: Unit::Nanos },
];

/// Tables for people: what each device reaches, beside its data sheet where there is one.
pub(super) fn all(calibration: &Calibration) -> Result<Vec<Listing>, Failure> {
    let mut listings = Vec::new();
    for device in &calibration.devices {
        let sheet = data_sheet(&device.name, device.usable_cores);
        let first = listings.len();
        for kind in &KINDS {
            let figures: Vec<&Figure> = device.figures.iter().filter(|figure| figure.unit == kind.unit).collect();
            if !figures.is_empty() {
                listings.push(Listing::whole(table(device, kind, &figures, sheet.as_ref())?));
            }
        }
        let missing = device.missing.iter().map(|missing| {
            let named = words(&missing.what, missing.number_type.as_deref());
            format!("{named} was not measured: {}", missing.why)
        });
        if let Some(last) = listings[first..].last_mut() {
            last.table.footnotes.extend(missing);
        }
    }
    Ok(listings)
}

/// One table of every figure, for spreadsheets.
pub(super) fn flat(calibration: &Calibration) -> Result<Vec<Listing>, Failure> {
    let rows = || {
        let of = |device| figures_of(device).map(move |figure| (device, figure));
        calibration.devices.iter().flat_map(of)
    };
    let columns = vec![
        Column::text("device", "Device", "name of the device", rows().map(|(device, _)| device.name.clone())),
        Column::text("figure", "Figure", FIGURE, rows().map(|(_, figure)| figure.what.clone())),
        Column::text("type", "Type", TYPE, rows().map(|(_, figure)| figure.number_type.clone())),
        Column::text("by", "By", BY, rows().map(|(_, figure)| figure.by.clone())),
        Column::text("unit", "Unit", "unit of best and median", rows().map(|(_, figure)| figure.unit.clone())),
        Column::real("best", "Best", BEST, Unit::Number, rows().map(|(_, figure)| figure.value)).basis(Basis::Measured),
        Column::real("median", "Median", MEDIAN, Unit::Number, rows().map(|(_, figure)| figure.median))
            .basis(Basis::Measured),
        Column::whole("rounds", "Rounds", ROUNDS, Unit::Count, rows().map(|(_, figure)| figure.rounds)),
    ];
    Ok(vec![Listing::whole(joined("ceilings", "Measured figures".to_owned(), columns)?)])
}

const FIGURE: &str = "the measured quantity; see docs/calibrate.md";
const TYPE: &str = "type of the numbers, if it matters";
const BY: &str = "native: the host's own loops; jax: loops that JAX compiled";
const BEST: &str = "the best round: highest rate, shortest time";
const MEDIAN: &str = "the median round; none where rounds differ in size";
const ROUNDS: &str = "rounds measured";

fn figures_of(device: &MeasuredDevice) -> impl Iterator<Item = &Figure> {
    device.figures.iter()
}

fn table(
    device: &MeasuredDevice,
    kind: &Kind,
    figures: &[&Figure],
    sheet: Option<&Ceilings>,
) -> Result<Table, Failure> {
    let rows = || figures.iter();
    let named = rows().map(|figure| words(&figure.what, None));
    let mut columns = vec![
        Column::text("figure", "Figure", FIGURE, named).ranked(Rank::Key),
        Column::text("type", "Type", TYPE, rows().map(|figure| figure.number_type.clone())).ranked(Rank::Key),
        Column::text("by", "By", BY, rows().map(|figure| figure.by.clone())),
        numbers("best", "Best", BEST, kind, rows().map(|figure| Some(figure.value)))
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        numbers("median", "Median", MEDIAN, kind, rows().map(|figure| figure.median)).basis(Basis::Measured),
        Column::whole("rounds", "Rounds", ROUNDS, Unit::Count, rows().map(|figure| figure.rounds)).ranked(Rank::Detail),
    ];
    let known: Vec<Option<f64>> = rows().map(|figure| sheet.and_then(|sheet| on_sheet(figure, sheet))).collect();
    if known.iter().any(Option::is_some) {
        let share = rows().zip(&known).map(|(figure, known)| known.map(|known| figure.value / known));
        let share: Vec<Option<f64>> = share.collect();
        columns.push(numbers("sheet", "Data sheet", "the maker's figure", kind, known.into_iter()).basis(Basis::Sheet));
        let definition = "best as a part of the data sheet's figure";
        columns.push(Column::real("of_sheet", "Of sheet", definition, Unit::Share, share));
    }
    joined(kind.name, format!("{}: {}", device.name, kind.title), columns)
}

fn numbers(
    key: &'static str,
    title: &'static str,
    definition: &'static str,
    kind: &Kind,
    values: impl Iterator<Item = Option<f64>>,
) -> Column {
    match kind.shown_in {
        Unit::Nanos => {
            Column::nanos(key, title, definition, values.map(|value| value.map(|value| value.round() as i64)))
        }
        unit => Column::real(key, title, definition, unit, values),
    }
}

/// The data sheet's figure of the same thing.
fn on_sheet(figure: &Figure, sheet: &Ceilings) -> Option<f64> {
    let rate = |unit| Some(Limit::Rate(NumberType::from_name(figure.number_type.as_deref()?)?, unit));
    let limit = match figure.what.as_str() {
        "multiply_add" => rate(ComputeUnit::Plain)?,
        "matrix" => rate(ComputeUnit::Matrix)?,
        what if what.starts_with("stream_") => Limit::Memory,
        _ => return None,
    };
    sheet.value(limit)
}

/// `stream_triad` as `stream triad`, with its type where one is given.
fn words(what: &str, number_type: Option<&str>) -> String {
    let what = what.replace('_', " ");
    number_type.map_or(what.clone(), |number_type| format!("{what} {number_type}"))
}

fn joined(name: &'static str, title: String, columns: Vec<Column>) -> Result<Table, Failure> {
    let table = Table::from_columns(name, title, columns);
    table.map_err(|error| Failure::failed(format!("cannot lay out the figures: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use ridge_record::calibrate::MissingFigure;
    use ridge_report::Report;
    use ridge_report::terminal::{Layout, render};

    fn figure(what: &str, number_type: Option<&str>, unit: &str, value: f64) -> Figure {
        Figure {
            what: what.to_owned(),
            number_type: number_type.map(str::to_owned),
            by: "jax".to_owned(),
            unit: unit.to_owned(),
            value,
            median: (unit != "bytes/s").then_some(value * 0.9),
            rounds: 10,
            ..Figure::default()
        }
    }

    fn calibration() -> Calibration {
        let device = MeasuredDevice {
            name: "NVIDIA H200".to_owned(),
            platform: "gpu".to_owned(),
            figures: vec![
                figure("stream_triad", Some("f32"), "bytes/s", 4.32e12),
                figure("host_to_device", None, "bytes/s", 52e9),
                figure("multiply_add", Some("f32"), "flop/s", 60e12),
                figure("matrix", Some("i8"), "op/s", 1.4e15),
                figure("launch_interval", None, "ns", 2500.4),
            ],
            missing: vec![MissingFigure {
                what: "matrix".to_owned(),
                number_type: Some("f16".to_owned()),
                why: "out of memory".to_owned(),
            }],
            ..MeasuredDevice::default()
        };
        Calibration { devices: vec![device], interrupted: false, no_device: None }
    }

    #[test]
    fn each_unit_has_a_table_beside_the_data_sheet() {
        let report = Report { tables: all(&calibration()).expect("columns of equal length"), ..Report::EMPTY };
        expect![[r#"
            NVIDIA H200: bandwidth
            Figure          Type  By        Best  Median  Rounds  Data sheet  Of sheet
            stream triad    f32   jax  4.32 TB/s       –      10    4.8 TB/s     90.0%  ████████████████
            host to device  –     jax    52 GB/s       –      10      –              –

            NVIDIA H200: arithmetic
            Figure        Type  By         Best      Median  Rounds    Data sheet  Of sheet
            multiply add  f32   jax  60 TFLOP/s  54 TFLOP/s      10  66.9 TFLOP/s     89.7%  ████████████████

            NVIDIA H200: integer arithmetic, functions and comparisons
            Figure  Type  By        Best      Median  Rounds  Data sheet  Of sheet
            matrix  i8    jax  1.4 Pop/s  1.26 Pop/s      10  1.98 Pop/s     70.7%  ████████████████

            NVIDIA H200: times
            Figure           Type  By     Best   Median  Rounds
            launch interval  –     jax  2.5 µs  2.25 µs      10
            matrix f16 was not measured: out of memory
        "#]]
        .assert_eq(&render(&report, &Layout::plain(100)));
    }

    #[test]
    fn programs_get_one_table() {
        let tables = flat(&calibration()).expect("columns of equal length");
        assert_eq!((tables.len(), tables[0].rows_total), (1, 5));
    }
}
