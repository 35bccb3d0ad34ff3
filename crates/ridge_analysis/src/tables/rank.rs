//! Ranks of a distributed program: who waits, and who is waited for.

use crate::Analysis;
use crate::context::Need;
use crate::models::ranks::{RankRow, Ranks};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "rank",
    about: "rank: its time by activity, and which ranks wait for others",
    shown: Shown::InReport,
    needs: &[Need::of::<Ranks>()],
    answers: has_ranks,
    make: |analysis, _| {
        let ranks: &Ranks = analysis.get();
        let about = |_: &_, row: &RankRow| Some(Subject::Process(row.process));
        let mut table = Sheet::over(analysis, &ranks.rows).about(about).show(COLUMNS).table("Ranks");
        table.footnotes.extend(straggler(ranks));
        table
    },
    ..View::of(Topic::Time)
};

fn has_ranks(analysis: &Analysis<'_>) -> bool {
    analysis.trace.processes.iter().filter(|process| process.rank.is_some()).count() > 1
}

columns! {
    COLUMNS: RankRow {
        rank: whole(Number) Key Capture "Rank", "rank as recorded, else its position", |_, row| row.rank;
        wall_ns: nanos Measured "Wall", "from the first event of its capture to the last",
            |at, row| at.trace.process_wall_ns(row.process.0);
        busy_ns: nanos Key Measured "Busy", "union of the device work of each of its devices", |_, row| row.busy_ns;
        computing_ns: nanos Key Measured "Computing",
            "union of kernels and operations other than collectives, and of memory sets", |_, row| row.times.computing_ns;
        communicating_ns: nanos Key Measured "Communicating",
            "collectives while nothing was computed", |_, row| row.times.communicating_ns;
        copying_ns: nanos Measured "Copying", "copies while nothing else ran", |_, row| row.times.copying_ns;
        device_idle_ns: nanos Key Measured "Idle",
            "from the first device work to the last, less all that ran", |_, row| row.times.idle_ns();
        collectives: count Counted "Collectives", "collective operations it took part in", |_, row| row.collectives;
        collective_ns: nanos Key Measured "In collectives",
            "durations of its collective kernels", |_, row| row.collective_ns;
        wait_ns: nanos Key Measured "Waited",
            "sum over its collectives of the last rank's start less its own", |_, row| row.wait_ns;
        times_last: count Key Counted "Times last",
            "collectives of several ranks that it was the last to begin", |_, row| row.times_last;
    }
}

/// Who the others wait for, where several ranks met in collectives.
fn straggler(ranks: &Ranks) -> Option<String> {
    if ranks.met == 0 {
        return Some("no collective was seen on several ranks, so waiting between ranks is unknown".to_owned());
    }
    let RankRow { rank, times_last, .. } = ranks.straggler()?;
    let met = ranks.met;
    Some(format!(
        "rank {rank} waited least and was the last to begin in {times_last} of {met} collectives: the others wait for it"
    ))
}
