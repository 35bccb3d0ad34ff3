//! Numbers and sentences that several forms share.

use ridgeline::OffloadAnswer;
use ridgeline::offloading::{BoardAnswer, Core, DesignBasis, Interval, RegionAnswer, ScaledBy};
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

/// What the time on a board rests on; `–` of a GPU.
pub(super) fn basis(board: &BoardAnswer) -> &'static str {
    board.basis().map_or("–", DesignBasis::name)
}

/// Whether a core was generated of any region.
pub(super) fn has_cores(answer: &OffloadAnswer) -> bool {
    answer.found.regions.iter().any(|one| one.core.is_some())
}

/// The bundles that stand for no region, each with the reason.
pub(super) fn unused(answer: &OffloadAnswer) -> Vec<String> {
    let line = |(bundle, why): (&str, &str)| format!("bundle `{bundle}` is not used: {why}");
    let all = answer.found.bundles.iter().filter_map(|one| Some((one.bundle.as_str(), one.why_not.as_deref()?)));
    all.map(line).collect()
}

/// The generated core of a region: its clocks and cells, and who counted them.
pub(super) fn core(core: &Core) -> String {
    let kind = if core.is_engine { "an engine" } else { "a window core" };
    let clocks = match &core.simulated_by {
        Some(simulator) => format!("in simulation ({simulator})"),
        None => "by the generator's count, not simulated".to_owned(),
    };
    format!(
        "{kind} in {} from `{}`: {} clocks per call {clocks}; {}",
        core.format,
        core.bundle,
        count(core.call_clocks),
        cells(core)
    )
}

fn cells(core: &Core) -> String {
    let Some(cells) = core.cells else {
        let counted = core
            .counted_block_rams
            .map_or(String::new(), |blocks| format!("its memories take {} by their shapes, and ", blocks_of(blocks)));
        return format!(
            "{counted}its look-up tables are unknown, because {} was not synthesized",
            core.not_synthesized.unwrap_or("it")
        );
    };
    let named = |value: f64, name: &str| (value > 0.0).then(|| format!("{} {name}", count(value)));
    let blocks = (cells.block_rams > 0.0).then(|| match core.counted_block_rams {
        Some(counted) if counted > 0.0 => {
            format!("{} ({} of them by shape)", blocks_of(cells.block_rams), count(counted))
        }
        _ => blocks_of(cells.block_rams),
    });
    let all = [
        named(cells.look_up_tables, "look-up tables"),
        named(cells.registers, "registers"),
        named(cells.multipliers, "DSP slices"),
        blocks,
    ];
    let by = core.synthesized_by.as_deref().unwrap_or("synthesis");
    format!("{} on UltraScale+ before place and route ({by})", all.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn blocks_of(count: f64) -> String {
    match count {
        1.0 => "1 block RAM".to_owned(),
        whole if whole.fract() == 0.0 => format!("{} block RAMs", self::count(whole)),
        _ => format!("{count:.1} block RAMs"),
    }
}

/// What the time on a board rests on where a core was generated, and what the model alone expects; `None` without a core.
pub(super) fn core_on(board: &BoardAnswer) -> Option<String> {
    if let Some(why) = &board.core_unused {
        return Some(format!("prior: the core is not used on {}, because {why}", board.name));
    }
    let generated = board.generated.as_ref()?;
    let takes: Vec<String> =
        generated.takes.iter().map(|(name, part)| format!("{} of the {name}", share(*part))).collect();
    let takes = match &takes[..] {
        [] => String::new(),
        some => format!("the core takes {}", some.join(", ")),
    };
    let copies = generated.copies.map_or(String::new(), |copies| {
        format!(", and {} in the part that a design can use", counted(copies as u64, "core fits", "cores fit"))
    });
    let on = match takes.is_empty() {
        true => format!("{}: its resources are unknown on {}", generated.basis.name(), board.name),
        false => format!("{}: on {}, {takes}{copies}", generated.basis.name(), board.name),
    };
    let prior = &generated.prior_total_s;
    Some(format!(
        "{on}; without a bundle, the model expects {} ({} to {}) of a design that fills the board",
        secs(prior.p50),
        secs(prior.p10),
        secs(prior.p90)
    ))
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
