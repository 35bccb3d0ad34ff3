//! The category of every event in a byte, for whoever colors millions of them.

use super::Shared;
use crate::{Analysis, Need, WorkGroups};
use ridge_trace::{EventKind, Events, NONE};
use rustc_hash::FxHashMap;

/// Stands for "look further" in the dense tables.
const OPEN: u8 = u8::MAX;
/// The last category, which all share that find no place: bytes are few.
const MOST: usize = 250;

/// The categories of a trace's events: device work as [`Analysis::category_of`] says it, everything else by its kind.
#[derive(Debug, Default)]
pub struct EventCategories {
    /// Their names; the position is the category's number.
    pub names: Vec<String>,
    by_kind: Vec<u8>,
    by_op: Vec<u8>,
    by_name: Vec<u8>,
    rest: FxHashMap<(u32, u32), u8>,
}

impl Shared for EventCategories {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

    fn make(analysis: &Analysis<'_>) -> EventCategories {
        let trace = analysis.trace;
        let mut categories = EventCategories {
            by_op: vec![OPEN; trace.operations.len()],
            by_name: vec![OPEN; trace.strings.len()],
            ..EventCategories::default()
        };
        for byte in 0..=u8::MAX {
            let kind = EventKind::from_byte(byte);
            // Each kind has a number, used or not, so that numbers do not depend on what a capture holds.
            let category = categories.numbered(kind.name());
            categories.by_kind.push(if matches!(kind, EventKind::Kernel | EventKind::DeviceOp) {
                OPEN
            } else {
                category
            });
        }
        for group in &analysis.groups().groups {
            if matches!(group.kind, EventKind::Kernel | EventKind::DeviceOp) {
                let category = categories.numbered(&analysis.category_of(group));
                categories.rest.insert((group.op, group.name), category);
            }
        }
        categories.make_dense();
        categories
    }
}

impl EventCategories {
    /// The number of the category of row `row`.
    #[inline]
    pub fn of(&self, events: &Events, row: usize) -> u8 {
        let kind = events.kind[row];
        let by_kind = self.by_kind[kind as usize];
        if by_kind != OPEN {
            return by_kind;
        }
        let (op, name) = (events.op[row], events.name[row]);
        let dense = if op == NONE { self.by_name.get(name as usize) } else { self.by_op.get(op as usize) };
        match dense {
            Some(&found) if found != OPEN => found,
            _ => self.rest.get(&(op, name)).copied().unwrap_or(0),
        }
    }

    /// The name of the category of row `row`.
    pub fn name_of(&self, events: &Events, row: usize) -> &str {
        self.names.get(self.of(events, row) as usize).map_or("", String::as_str)
    }

    fn numbered(&mut self, name: &str) -> u8 {
        if let Some(found) = self.names.iter().position(|known| known == name) {
            return found as u8;
        }
        if self.names.len() >= MOST {
            return (MOST - 1) as u8;
        }
        self.names.push(if self.names.len() + 1 == MOST { "other".to_owned() } else { name.to_owned() });
        (self.names.len() - 1) as u8
    }

    /// Fills the dense tables, where an operation or a name says the category alone; the rest is asked by both.
    fn make_dense(&mut self) {
        let mut known: FxHashMap<(u32, u32), u8> = FxHashMap::default();
        let alone = |op: u32, name: u32| if op == NONE { (NONE, name) } else { (op, NONE) };
        for ((op, name), category) in &self.rest {
            let place = known.entry(alone(*op, *name)).or_insert(*category);
            if place != category {
                *place = OPEN;
            }
        }
        for ((op, name), category) in known {
            let place = if op == NONE { self.by_name.get_mut(name as usize) } else { self.by_op.get_mut(op as usize) };
            place.into_iter().for_each(|place| *place = category);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;

    #[test]
    fn every_event_has_the_category_of_its_group() {
        let trace = ridge_test::trace(
            "thread python
               0 +9 f python
             stream 1 on gpu
               0 +4 gemm op=aten::mm
               4 +4 triton_poi_x op=aten::mm
               8 +2 nvjet_tst
               10 +1 copy h2d bytes=8",
        );
        let prepared = Prepared::with_sheets(&trace);
        let analysis = prepared.analysis(&trace, &[]);
        let categories = analysis.get::<EventCategories>();
        let said = |row: usize| categories.names[categories.of(&trace.events, row) as usize].as_str();
        let all: Vec<&str> = (0..trace.events.len()).map(said).collect();
        assert_eq!(all, ["Python call", "matrix product", "elementwise", "matrix product", "copy host to device"]);
    }
}
