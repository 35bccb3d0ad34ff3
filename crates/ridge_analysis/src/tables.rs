//! The top floor: models as tables and facts, a small file for each.

pub(crate) mod call;
pub(crate) mod category;
pub(crate) mod collective;
pub(crate) mod compilation;
pub(crate) mod copy;
pub(crate) mod counter;
pub(crate) mod fused;
pub(crate) mod hlo;
pub(crate) mod idle;
pub(crate) mod kernel;
pub(crate) mod launch;
pub(crate) mod layout;
pub(crate) mod memory;
pub(crate) mod metric;
pub(crate) mod module;
pub(crate) mod op;
pub(crate) mod operator;
pub(crate) mod overview;
pub(crate) mod profile;
pub(crate) mod queue;
pub(crate) mod range;
pub(crate) mod rank;
pub(crate) mod rate;
pub(crate) mod roofline;
pub(crate) mod scaling;
pub(crate) mod scope;
pub(crate) mod sequence;
pub(crate) mod source;
pub(crate) mod spread;
pub(crate) mod step;
pub(crate) mod time;
pub(crate) mod track;
pub(crate) mod transfers;
mod work;

use crate::{Analysis, Ask, Topic};
use ridge_table::{Section, Table};

/// The single numbers of `topic`, before its tables.
pub fn sections(analysis: &Analysis<'_>, topic: Topic, ask: &Ask<'_>) -> Vec<Section> {
    match topic {
        Topic::Time => overview::overview(analysis),
        Topic::Roofline => roofline::totals::sections(analysis),
        Topic::Idle => idle::sections(analysis, ask),
        Topic::Transfers => transfers::sections(analysis, ask),
        Topic::Memory => memory::sections(analysis),
    }
}

/// What changed from the memory of `before` to that of `after`, largest change first.
pub fn memory_changes(before: &Analysis<'_>, after: &Analysis<'_>) -> Table {
    memory::changes(before, after)
}
