//! The stats of an XPlane: texts and numbers that are private where the stat's name says so.
//!
//! Field numbers are those of `xplane.proto` (openxla/xla).

use crate::keys::{private_key, private_whole};
use crate::removed::What;
use crate::wire::Field::Text;
use crate::wire::{Field, Records, Shape};
use std::collections::{HashMap, HashSet};

/// `XPlane.lines`, `.event_metadata`, `.stat_metadata`, `.stats`.
pub(crate) const LINES: u32 = 3;
pub(crate) const EVENT_METADATA: u32 = 4;
pub(crate) const STAT_METADATA: u32 = 5;
pub(crate) const PLANE_STATS: u32 = 6;
/// `XStat.metadata_id`, `.double_value`, `.uint64_value`, `.int64_value`, `.str_value`, `.bytes_value`, `.ref_value`.
const STAT_ID: u32 = 1;
pub(crate) const STAT_NUMBERS: [u32; 3] = [2, 3, 4];
pub(crate) const STAT_TEXT: u32 = 5;
pub(crate) const STAT_BYTES: u32 = 6;
const STAT_REFERENCE: u32 = 7;
/// `XStatMetadata.name`.
pub(crate) const STAT_NAME: u32 = 2;
/// Of an entry of a map.
const MAP_KEY: u32 = 1;
pub(crate) const MAP_VALUE: u32 = 2;

pub(crate) const XSTAT: Shape = Shape(&[(STAT_TEXT, Text)]);
const XSTAT_METADATA: Shape = Shape(&[(STAT_NAME, Text), (3, Text)]);
pub(crate) const STAT_NAME_ENTRY: Shape = Shape(&[(MAP_VALUE, Field::Message(&XSTAT_METADATA))]);

/// The stats of a plane whose texts are private, by ids.
#[derive(Debug, Default)]
pub(crate) struct PrivateStats {
    stats: HashMap<u64, What>,
    /// Those of them whose numbers are secrets, too.
    numbers: HashSet<u64>,
    /// Names of stats that are in truth texts which private stats refer to.
    names: HashMap<u64, What>,
}

impl PrivateStats {
    /// Those of `plane`; `said` hears each text that a private stat holds.
    pub(crate) fn of_plane(plane: &[u8], said: &mut dyn FnMut(What, &str)) -> PrivateStats {
        let mut names: HashMap<u64, &str> = HashMap::new();
        for (_, entry) in messages(plane).filter(|(number, _)| *number == STAT_METADATA) {
            let name = bytes_of(entry, MAP_VALUE).and_then(|metadata| bytes_of(metadata, STAT_NAME));
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            names.extend(number_of(entry, MAP_KEY).zip(name));
        }
        let stats = names.iter().filter_map(|(id, name)| Some((*id, private_key(name)?))).collect();
        let is_secret = |name: &str| private_whole(name) == Some(What::Secret);
        let numbers = names.iter().filter(|(_, name)| is_secret(name)).map(|(id, _)| *id).collect();
        let mut private = PrivateStats { stats, numbers, names: HashMap::new() };
        if !private.stats.is_empty() {
            each_stat(plane, &mut |stat| private.follow(stat, &names, said));
        }
        private
    }

    fn follow(&mut self, stat: &[u8], names: &HashMap<u64, &str>, said: &mut dyn FnMut(What, &str)) {
        let Some(what) = self.of_stat(stat) else { return };
        if let Some(text) = bytes_of(stat, STAT_TEXT).and_then(|text| std::str::from_utf8(text).ok()) {
            said(what, text);
        }
        if let Some(reference) = number_of(stat, STAT_REFERENCE) {
            said(what, names.get(&reference).copied().unwrap_or_default());
            self.names.insert(reference, what);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stats.is_empty()
    }

    /// What the text of an XStat is, by its name.
    pub(crate) fn of_stat(&self, stat: &[u8]) -> Option<What> {
        if self.stats.is_empty() { None } else { self.stats.get(&number_of(stat, STAT_ID)?).copied() }
    }

    /// Whether the number of an XStat is a secret.
    pub(crate) fn is_secret_number(&self, stat: &[u8]) -> bool {
        !self.numbers.is_empty() && number_of(stat, STAT_ID).is_some_and(|id| self.numbers.contains(&id))
    }

    /// What an entry of the names of stats is, where private stats refer to it.
    pub(crate) fn of_name(&self, entry: &[u8]) -> Option<What> {
        if self.names.is_empty() { None } else { self.names.get(&number_of(entry, MAP_KEY)?).copied() }
    }
}

/// Calls `visit` with every XStat of `plane`.
fn each_stat(plane: &[u8], visit: &mut dyn FnMut(&[u8])) {
    for (number, message) in messages(plane) {
        match number {
            PLANE_STATS => visit(message),
            EVENT_METADATA => {
                let metadata = bytes_of(message, MAP_VALUE).unwrap_or_default();
                messages(metadata).filter(|(number, _)| *number == 5).for_each(|(_, stat)| visit(stat));
            }
            LINES => {
                let events = messages(message).filter(|(number, _)| *number == 4);
                let stats = events.flat_map(|(_, event)| messages(event).filter(|(number, _)| *number == 4));
                stats.for_each(|(_, stat)| visit(stat));
            }
            _ => {}
        }
    }
}

/// The length-delimited fields of `message`, as far as it is sound.
fn messages(message: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    Records::new(message).map_while(Result::ok).filter_map(|record| Some((record.number, record.bytes?)))
}

fn bytes_of(message: &[u8], number: u32) -> Option<&[u8]> {
    messages(message).find(|(found, _)| *found == number).map(|(_, bytes)| bytes)
}

fn number_of(message: &[u8], number: u32) -> Option<u64> {
    Records::new(message).map_while(Result::ok).find(|record| record.number == number)?.varint()
}
