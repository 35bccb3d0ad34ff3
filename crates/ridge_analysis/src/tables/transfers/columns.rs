//! The columns that tables of transfers share.

use crate::models::transfers::Transfers;
use crate::models::transfers::sums::Sum;
use ridge_table::{Basis, Column, Rank, Unit};
use ridge_trace::EventKind;

/// The column that says the direction.
pub(crate) fn direction_column(kinds: impl Iterator<Item = EventKind>) -> Column {
    let name = |kind: EventKind| {
        let name = kind.name();
        name.strip_prefix("copy ").unwrap_or("not said").to_owned()
    };
    Column::text("direction", "Direction", "from where to where", kinds.map(name)).ranked(Rank::Key)
}

/// Transfers, bytes, time, rate and exposure of each row.
pub(crate) fn columns<K>(rows: &[(K, Sum)]) -> Vec<Column> {
    let sums = || rows.iter().map(|(_, sum)| sum);
    vec![
        Column::whole("transfers", "Transfers", "copies", Unit::Count, sums().map(|sum| sum.transfers))
            .basis(Basis::Counted)
            .ranked(Rank::Key),
        Column::whole(
            "bytes",
            "Bytes",
            "bytes moved, as the capture says; unknown where it says none",
            Unit::Bytes,
            sums().map(|sum| (sum.unsized_count < sum.transfers).then_some(sum.bytes)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::nanos("total_ns", "Time", "sum of the copies' durations", sums().map(|sum| sum.ns))
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        Column::nanos(
            "exposed_ns",
            "Exposed",
            "part of that time in which the same device did not compute",
            sums().map(|sum| sum.exposed_ns),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::real(
            "exposed_share",
            "Exposed share",
            "exposed time as a part of the copies' time",
            Unit::Share,
            sums().map(|sum| crate::context::partition::ratio(sum.exposed_ns, sum.ns)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
        Column::real(
            "bytes_per_sec",
            "Rate",
            "bytes over the time of the copies that moved them",
            Unit::BytesPerSec,
            sums().map(Sum::rate),
        )
        .basis(Basis::Measured),
    ]
}

/// What the link could do, and how much of it was achieved.
pub(crate) fn link_columns<K>(transfers: &Transfers, rows: &[(K, Sum)]) -> Vec<Column> {
    vec![
        Column::real(
            "link_bytes_per_sec",
            "Link",
            "what the link can carry one way: measured figures where there are any, else the data sheet's; a copy within a device can go at half its memory's bandwidth",
            Unit::BytesPerSec,
            rows.iter().map(|(_, sum)| sum.link()),
        )
        .basis(transfers.links_basis)
        .ranked(Rank::Detail),
        Column::real(
            "link_share",
            "Of link",
            "part of the link's rate that the copies achieved",
            Unit::Share,
            rows.iter().map(|(_, sum)| sum.link_share()),
        )
        .basis(transfers.links_basis),
    ]
}

/// How large the transfers of each row are, and how many of them are tiny or waited for.
pub(crate) fn size_columns<K>(rows: &[(K, Sum)]) -> Vec<Column> {
    let sums = || rows.iter().map(|(_, sum)| sum);
    let size = |key, title, definition, share: f64| {
        Column::whole(key, title, definition, Unit::Bytes, sums().map(|sum| sum.size(share))).basis(Basis::Measured)
    };
    vec![
        size("median_bytes", "Median size", "size that half of the transfers do not exceed", 0.5),
        size("max_bytes", "Largest", "size of the largest transfer", 1.0).ranked(Rank::Detail),
        Column::whole(
            "tiny",
            "Tiny",
            "transfers of at most 4 KiB: their time is latency",
            Unit::Count,
            sums().map(|sum| sum.tiny),
        )
        .basis(Basis::Counted),
        Column::whole(
            "synchronous",
            "Synchronous",
            "transfers whose call waited for them, where the copy or the call's name says so",
            Unit::Count,
            sums().map(|sum| sum.synchronous),
        )
        .basis(Basis::Counted),
    ]
}
