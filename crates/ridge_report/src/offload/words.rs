//! Numbers and sentences that several forms share.

use ridgeline::offloading::{BoardAnswer, Interval, RegionAnswer, ScaledBy};
use ridgeline::units::{Bytes, Count, Nanos, Share, counted, three_digits};

/// A time.
pub(super) fn secs(seconds: f64) -> String {
    Nanos((seconds * 1e9).round().clamp(0.0, 9e18) as i64).to_string()
}

/// A factor: `0.31`, `12`, `<0.01`.
pub(super) fn factor(value: f64) -> String {
    match value {
        value if !value.is_finite() => "–".to_owned(),
        value if value < 0.01 => "<0.01".to_owned(),
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 1000.0 => format!("{value:.0}"),
        value => three_digits(value),
    }
}

/// How many: `39`, `2.5`.
pub(super) fn count(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 { Count(value as u64).to_string() } else { factor(value) }
}

fn launches(value: f64) -> String {
    format!("{} {}", count(value), if value == 1.0 { "launch" } else { "launches" })
}

/// A board's name, marked where figures of it are unverified.
pub(super) fn marked(name: &str, board: &BoardAnswer) -> String {
    let mark = if board.unverified.is_empty() { "" } else { "*" };
    format!("{name}{mark}")
}

/// What eight of ten cases lie between.
pub(super) fn between(interval: &Interval) -> String {
    format!("{} to {}", factor(interval.p10), factor(interval.p90))
}

/// A part of all device work.
pub(super) fn share(share: f64) -> String {
    Share(share).to_string()
}

/// Where the region came from.
pub(super) fn place(answer: &RegionAnswer) -> Option<String> {
    let at = answer.region.location.as_ref()?;
    let inferred = if at.is_inferred { "  (line inferred from the data flow)" } else { "" };
    Some(format!("{}:{}{inferred}", at.file, at.line))
}

/// The bytes of a call, three ways.
pub(super) fn bytes(answer: &RegionAnswer) -> Option<String> {
    let spec = answer.region.specification.as_ref().ok()?;
    let crossing = spec.workload.input.0 + spec.workload.output.0;
    let of = |bytes: f64| Bytes(bytes.round() as u64).to_string();
    let times =
        |bytes: f64| if crossing > 0.0 { format!(" ({} times)", factor(bytes / crossing)) } else { String::new() };
    let kept = spec.workload.kept_input.0 + spec.workload.kept_output.0;
    let kept = match kept.round() {
        kept if kept > 0.0 => format!(", {} of them only before and after the surrounding loop", of(kept)),
        _ => String::new(),
    };
    Some(format!(
        "{} enter and leave per call{kept}; its operations move at least {}{}, XLA counts {}{}",
        of(crossing),
        of(spec.compulsory_bytes),
        times(spec.compulsory_bytes),
        of(spec.xla_bytes),
        times(spec.xla_bytes)
    ))
}

/// When a board begins to gain.
pub(super) fn break_even(answer: &RegionAnswer, board: &BoardAnswer) -> String {
    let calls = match board.break_even_calls {
        Some(calls) if calls <= 1.0 => format!("{} gains from the first call", board.name),
        Some(calls) => format!("{} gains after {} calls with data on it", board.name, count(calls.ceil())),
        None => format!("{} never gains, however long data stays on it", board.name),
    };
    match answer.launches_to_replace {
        Some(needed) => format!(
            "{calls}; a call replaces {}, and its setup alone costs as much as {}",
            launches(answer.launches),
            count(needed.ceil())
        ),
        None => calls,
    }
}

/// Which part of the region a board should take.
pub(super) fn cut(board: &BoardAnswer) -> Option<String> {
    let cut = board.cut.as_ref()?;
    let of_loop = if cut.is_whole_loop { " and the loop around them" } else { "" };
    let best = match cut.ops.len() {
        0 => {
            return Some(format!(
                "none of its {} gains on {}",
                counted(cut.of as u64, "operation", "operations"),
                board.name
            ));
        }
        all if all == cut.of && cut.opened.is_none() => {
            format!(
                "all of its {}{of_loop} gain most together on {}",
                counted(all as u64, "operation", "operations"),
                board.name
            )
        }
        some => {
            let named: Vec<&str> = cut.ops.iter().take(6).map(String::as_str).collect();
            let more = if some > 6 { format!(" and {} more", some - 6) } else { String::new() };
            format!("{some} of its {} operations gain most on {}: {}{more}", cut.of, board.name, named.join(", "))
        }
    };
    let opened = cut.opened.as_ref().map_or(String::new(), |opened| {
        let of = |bytes: f64| Bytes(bytes.round() as u64).to_string();
        let kept = match opened.kept_bytes {
            kept if kept > 0.0 => format!(", and {} are sent once and stay there", of(kept)),
            _ => String::new(),
        };
        format!(
            "; they are called in each of {} iterations, with {} over the link{kept}",
            count(opened.trips),
            of(opened.sent_bytes)
        )
    });
    Some(format!("{best}{opened}; a call saves {}", secs(cut.saves_s)))
}

/// By what the time on another GPU was found; `None` of a board.
pub(super) fn scaled_by(board: &BoardAnswer) -> Option<String> {
    let words = |by: ScaledBy| match by {
        ScaledBy::Waves => "the waves of its thread blocks",
        ScaledBy::Roof => "its roofs",
        ScaledBy::Ratio => "memory and arithmetic of both devices",
        ScaledBy::Memory => "the rate of memory",
        ScaledBy::Link => "the link to the host",
        ScaledBy::Devices => "its captured time, because it moves between devices",
        ScaledBy::Nothing => "its captured time, because its work is unknown",
    };
    let (first, _) = board.scaled_by.first()?;
    let shown: Vec<&(ScaledBy, f64)> = board.scaled_by.iter().filter(|(_, part)| *part >= 0.0005).collect();
    let parts: Vec<String> = match &shown[..] {
        [] | [_] => vec![words(*first).to_owned()],
        several => several.iter().map(|(by, part)| format!("{} ({})", words(*by), share(*part))).collect(),
    };
    Some(format!("its time on {} follows from {}", board.name, parts.join(", ")))
}
