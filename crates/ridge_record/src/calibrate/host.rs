//! The host's figures, with native code.

use std::sync::atomic::{AtomicBool, Ordering};

use ridge_host::{Effort, Machine, Probe};
use serde_json::{Map, Value, json};

use super::outcome::{CalibrateEvent, Calibrated, Figure, MissingFigure, named};

/// The host without figures.
pub(super) fn described(machine: &Machine) -> Calibrated {
    let mut description = Map::new();
    description.insert("architecture".into(), json!(machine.architecture));
    description.insert("usable_cores".into(), json!(machine.usable_cores));
    description.insert("memory_bytes".into(), json!(machine.memory_bytes));
    description.insert("last_level_cache_bytes".into(), json!(machine.last_level_cache_bytes));
    Calibrated {
        name: machine.model.clone().unwrap_or_else(|| machine.architecture.to_owned()),
        platform: "cpu".to_owned(),
        description,
        figures: Vec::new(),
        missing: Vec::new(),
    }
}

/// Measures the host into `host`, until `stop` is set.
pub(super) fn measure(
    machine: &Machine,
    effort: Effort,
    stop: &AtomicBool,
    host: &mut Calibrated,
    on_event: &mut dyn FnMut(CalibrateEvent),
) {
    for probe in Probe::ALL {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (what, number_type, unit) = words(probe);
        let name = named(what, number_type);
        on_event(CalibrateEvent::Started { what: name.clone() });
        let rounds = probe.measure(machine, effort, stop);
        let number_type = number_type.map(str::to_owned);
        let missing = match rounds.best_per_sec() {
            Some(value) => {
                host.figures.push(Figure {
                    what: what.to_owned(),
                    number_type,
                    by: "native".to_owned(),
                    unit: unit.to_owned(),
                    value,
                    median: rounds.median_per_sec(),
                    rounds: rounds.nanos.len() as u64,
                    measured_unix_s: super::run::now_unix_s(),
                    details: Map::from_iter([("amount".to_owned(), Value::from(rounds.amount))]),
                });
                None
            }
            None => {
                let why = "interrupted".to_owned();
                host.missing.push(MissingFigure { what: what.to_owned(), number_type, why: why.clone() });
                Some(why)
            }
        };
        on_event(CalibrateEvent::Done { what: name, missing });
    }
}

/// What a probe is called in the document, the type of its numbers, and its unit.
fn words(probe: Probe) -> (&'static str, Option<&'static str>, &'static str) {
    match probe {
        Probe::StreamCopy => ("stream_copy", Some("f64"), "bytes/s"),
        Probe::StreamScale => ("stream_scale", Some("f64"), "bytes/s"),
        Probe::StreamAdd => ("stream_add", Some("f64"), "bytes/s"),
        Probe::StreamTriad => ("stream_triad", Some("f64"), "bytes/s"),
        Probe::CoreCopy => ("core_copy", None, "bytes/s"),
        Probe::MultiplyAddF64 => ("multiply_add", Some("f64"), "flop/s"),
        Probe::MultiplyAddF32 => ("multiply_add", Some("f32"), "flop/s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So little memory that every array is small.
    const SMALL: Machine = Machine {
        model: None,
        architecture: "x86_64",
        usable_cores: 2,
        last_level_cache_bytes: Some(1 << 20),
        available_memory_bytes: Some(6 << 20),
        memory_bytes: Some(6 << 20),
        load: None,
    };

    #[test]
    fn every_probe_is_a_figure_with_its_unit() {
        let (mut host, mut told) = (described(&SMALL), Vec::new());
        measure(&SMALL, Effort::Quick, &AtomicBool::new(false), &mut host, &mut |event| told.push(event));
        let found: Vec<_> = host
            .figures
            .iter()
            .map(|figure| (named(&figure.what, figure.number_type.as_deref()), figure.unit.as_str()))
            .collect();
        let expected = [
            ("stream_copy f64", "bytes/s"),
            ("stream_scale f64", "bytes/s"),
            ("stream_add f64", "bytes/s"),
            ("stream_triad f64", "bytes/s"),
            ("core_copy", "bytes/s"),
            ("multiply_add f64", "flop/s"),
            ("multiply_add f32", "flop/s"),
        ];
        assert_eq!(found, expected.map(|(what, unit)| (what.to_owned(), unit)));
        assert!(host.figures.iter().all(|figure| figure.value > 0.0 && figure.rounds >= 3));
        assert_eq!((told.len(), host.name.as_str()), (2 * expected.len(), "x86_64"));
    }

    #[test]
    fn nothing_is_measured_after_an_interrupt() {
        let mut host = described(&SMALL);
        measure(&SMALL, Effort::Quick, &AtomicBool::new(true), &mut host, &mut |_| {});
        assert_eq!((host.figures.len(), host.missing.len()), (0, 0));
    }
}
