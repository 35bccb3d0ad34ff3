//! How much the speed of a capture wavers that marks no steps: by its operations that run often.

use crate::statistics::WAVERING;
use ridge_trace::{EventKind, Trace};
use rustc_hash::FxHashMap;

/// Like work that ran fewer times than this says nothing of how its speed changed.
const LEAST_RUNS: u64 = 2 * WAVERING as u64;
/// Stretches in which there has to be some.
const LEAST_STRETCHES: usize = WAVERING / 2;
/// Events that are looked at, spread over all.
const MOST_EVENTS: usize = 1 << 20;

/// The standard deviation, over stretches of equal time, of the logarithm of how much longer than usual like work took in each;
/// `None` where too little repeats.
pub(crate) fn wavering(trace: &Trace) -> Option<f64> {
    let events = &trace.events;
    let work = || trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let every = work().count() / MOST_EVENTS + 1;
    let rows = || work().filter(move |row| EventKind::from_byte_is_work(events.kind[*row])).step_by(every);
    let key = |row: usize| (events.op[row], events.name[row], events.kind[row]);
    let mut likes: FxHashMap<(u32, u32, u8), (f64, u64)> = FxHashMap::default();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for row in rows() {
        let like = likes.entry(key(row)).or_default();
        *like = (like.0 + events.dur_ns[row].max(0) as f64, like.1 + 1);
        (first, last) = (first.min(events.start_ns[row]), last.max(events.start_ns[row]));
    }
    likes.retain(|_, (_, count)| *count >= LEAST_RUNS);
    let width = i128::from(last).saturating_sub(i128::from(first)).max(0) + 1;
    // What the work of each stretch took, and what it takes usually.
    let mut stretches = [(0.0, 0.0); WAVERING];
    for row in rows() {
        let Some((sum, count)) = likes.get(&key(row)) else { continue };
        let at = (i128::from(events.start_ns[row]) - i128::from(first)) * WAVERING as i128 / width;
        if let Some((took, usual)) = usize::try_from(at).ok().and_then(|at| stretches.get_mut(at)) {
            (*took, *usual) = (*took + events.dur_ns[row].max(0) as f64, *usual + sum / *count as f64);
        }
    }
    let some = stretches.iter().filter(|(took, usual)| *took > 0.0 && *usual > 0.0);
    let logs: Vec<f64> = some.map(|(took, usual)| (took / usual).ln()).collect();
    if logs.len() < LEAST_STRETCHES {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    Some((squares / (logs.len() as f64 - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel each 100 ns, which takes `length` of its number.
    fn of(count: usize, length: impl Fn(usize) -> usize) -> Option<f64> {
        let work = (0..count).map(|at| format!("  {} +{} gemm\n", at * 100, length(at)));
        wavering(&ridge_test::trace(&format!("stream 7 on gpu\n{}", work.collect::<String>())))
    }

    #[test]
    fn the_speed_of_like_work_shows_it() {
        assert_eq!(of(80, |_| 20), Some(0.0));
        // In one half of the time all takes twice as long: half of ln 2 on both sides of the middle.
        let found = of(80, |at| if at < 40 { 20 } else { 40 }).expect("it repeats");
        assert!((found - 0.5 * 2_f64.ln() * (8.0_f64 / 7.0).sqrt()).abs() < 1e-9, "{found}");
        // What runs seldom shows nothing.
        assert_eq!(of(15, |_| 20), None);
    }

    #[test]
    fn times_beyond_all_sense_cost_nothing() {
        let (least, most) = (i64::MIN, i64::MAX);
        let text = format!("stream 7 on gpu\n  {least} +{most} a\n  0 +{most} a\n  {most} +1 a\n");
        assert_eq!(wavering(&ridge_test::trace(&text)), None);
        assert_eq!(wavering(&ridge_test::trace("thread python\n  0 +1 a")), None);
    }
}
