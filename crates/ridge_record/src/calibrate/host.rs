//! The host's figures, with native code.

use std::sync::atomic::{AtomicBool, Ordering};

use ridge_documents::{Figure, MeasuredDevice, MissingFigure};
use ridge_host::{Effort, Machine, Others, Probe, Rounds};
use serde_json::{Map, Value, json};

use super::outcome::{CalibrateEvent, named};

/// The host without figures.
pub(super) fn described(machine: &Machine) -> MeasuredDevice {
    let mut more = Map::new();
    more.insert("memory_bytes".into(), json!(machine.memory_bytes));
    more.insert("last_level_cache_bytes".into(), json!(machine.last_level_cache_bytes));
    MeasuredDevice {
        name: machine.model.clone().unwrap_or_else(|| machine.architecture.to_owned()),
        platform: "cpu".to_owned(),
        architecture: Some(machine.architecture.to_owned()),
        usable_cores: Some(machine.usable_cores as u64),
        more,
        ..MeasuredDevice::default()
    }
}

/// Measures the host into `host`, until `stop` is set.
pub(super) fn measure(
    machine: &Machine,
    effort: Effort,
    stop: &AtomicBool,
    host: &mut MeasuredDevice,
    on_event: &mut dyn FnMut(CalibrateEvent),
) {
    for probe in Probe::ALL {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (what, number_type, unit) = words(probe);
        let name = named(what, number_type);
        on_event(CalibrateEvent::Started { what: name.clone() });
        let others = Others::from_now(&[std::process::id()]);
        let rounds = probe.measure(machine, effort, stop);
        let missing = match &rounds {
            None => Some("the system does not report the size of the CPU's caches"),
            Some(rounds) if rounds.nanos.is_empty() => Some("interrupted"),
            Some(_) => None,
        };
        let (what, number_type) = (what.to_owned(), number_type.map(str::to_owned));
        if let Some(figure) = rounds.and_then(|rounds| figure(&rounds, unit)) {
            host.figures.push(Figure { what, number_type, busy_share: others.share(), ..figure });
        } else {
            host.missing.push(MissingFigure { what, number_type, why: missing.unwrap_or("interrupted").to_owned() });
        }
        let missing = missing.map(str::to_owned);
        on_event(CalibrateEvent::Done { what: name, missing });
    }
}

/// What rounds say; `None` where there is none.
fn figure(rounds: &Rounds, unit: &str) -> Option<Figure> {
    Some(Figure {
        by: "native".to_owned(),
        unit: unit.to_owned(),
        value: rounds.best_per_sec()?,
        median: rounds.median_per_sec(),
        rounds: rounds.nanos.len() as u64,
        measured_unix_s: super::clock::now_unix_s(),
        details: Map::from_iter([("amount".to_owned(), Value::from(rounds.amount))]),
        ..Figure::default()
    })
}

/// What a probe is called in the document, the type of its numbers, and its unit.
fn words(probe: Probe) -> (&'static str, Option<&'static str>, &'static str) {
    match probe {
        Probe::StreamCopy => ("stream_copy", Some("f64"), "bytes/s"),
        Probe::StreamScale => ("stream_scale", Some("f64"), "bytes/s"),
        Probe::StreamAdd => ("stream_add", Some("f64"), "bytes/s"),
        Probe::StreamTriad => ("stream_triad", Some("f64"), "bytes/s"),
        Probe::CacheTriad => ("cache_triad", Some("f64"), "bytes/s"),
        Probe::NearCacheTriad => ("near_cache_triad", Some("f64"), "bytes/s"),
        Probe::CoreCopy => ("core_copy", None, "bytes/s"),
        Probe::MultiplyAddF64 => ("multiply_add", Some("f64"), "flop/s"),
        Probe::MultiplyAddF32 => ("multiply_add", Some("f32"), "flop/s"),
        Probe::TranscendentalF64 => ("transcendental", Some("f64"), "op/s"),
        Probe::TranscendentalF32 => ("transcendental", Some("f32"), "op/s"),
        Probe::SortF64 => ("sort", Some("f64"), "op/s"),
        Probe::SortF32 => ("sort", Some("f32"), "op/s"),
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
            ("cache_triad f64", "bytes/s"),
            ("near_cache_triad f64", "bytes/s"),
            ("core_copy", "bytes/s"),
            ("multiply_add f64", "flop/s"),
            ("multiply_add f32", "flop/s"),
            ("transcendental f64", "op/s"),
            ("transcendental f32", "op/s"),
            ("sort f64", "op/s"),
            ("sort f32", "op/s"),
        ];
        assert_eq!(found, expected.map(|(what, unit)| (what.to_owned(), unit)));
        assert!(host.figures.iter().all(|figure| figure.value > 0.0 && figure.rounds >= 3));
        assert_eq!((told.len(), host.name.as_str()), (2 * expected.len(), "x86_64"));
    }

    #[test]
    fn a_machine_that_does_not_tell_its_caches_has_no_figure_of_them() {
        let (mut host, machine) = (described(&SMALL), Machine { last_level_cache_bytes: None, ..SMALL });
        measure(&machine, Effort::Quick, &AtomicBool::new(false), &mut host, &mut |_| {});
        let [missing] = &host.missing[..] else { panic!("one figure is missing: {:?}", host.missing) };
        assert_eq!(missing.what, "cache_triad");
    }

    #[test]
    fn nothing_is_measured_after_an_interrupt() {
        let mut host = described(&SMALL);
        measure(&SMALL, Effort::Quick, &AtomicBool::new(true), &mut host, &mut |_| {});
        assert_eq!((host.figures.len(), host.missing.len()), (0, 0));
    }
}
