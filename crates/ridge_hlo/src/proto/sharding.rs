//! `OpSharding`, rendered in HLO text's notation; nothing here interprets it.

use super::{DEPTH_LIMIT, Reader, extend};
use crate::shape::write_joined;
use crate::wire::Value;

#[derive(Default)]
struct Sharding {
    kind: u64,
    tile_dimensions: Vec<i64>,
    devices: Vec<i64>,
    tuple: Vec<String>,
    replicate_on_last_dimension: bool,
    last_tile_kinds: Vec<i64>,
    iota_reshape: Vec<i64>,
    iota_transpose: Vec<i64>,
    is_group: bool,
    group: i64,
    group_is_like: bool,
    is_named: bool,
}

impl Reader<'_> {
    /// The sharding as text, with its braces.
    pub(super) fn sharding(&mut self, message: &[u8], depth: u32) -> String {
        let mut sharding = Sharding::default();
        self.each(message, "sharding", |reader, number, value| match (number, value) {
            (1, Value::Varint(kind)) => sharding.kind = kind,
            (3, value) => extend(&mut sharding.tile_dimensions, value),
            (4, value) => extend(&mut sharding.devices, value),
            (5, Value::Bytes(part)) if depth < DEPTH_LIMIT => sharding.tuple.push(reader.sharding(part, depth + 1)),
            (6, Value::Varint(flag)) => sharding.replicate_on_last_dimension = flag != 0,
            (8, value) => extend(&mut sharding.last_tile_kinds, value),
            (9, value) => extend(&mut sharding.iota_reshape, value),
            (10, value) => extend(&mut sharding.iota_transpose, value),
            (11, Value::Varint(flag)) => sharding.is_group = flag != 0,
            (12, Value::Varint(group)) => sharding.group = group as i64,
            (13, Value::Varint(kind)) => sharding.group_is_like = kind == 1,
            (14, Value::Bytes(_)) => sharding.is_named = true,
            _ => {}
        });
        sharding.render()
    }
}

impl Sharding {
    fn render(&self) -> String {
        if self.is_named {
            return "{named}".to_owned();
        }
        let mut text = String::from("{");
        match self.kind {
            0 => text.push_str("replicated"),
            1 => text.push_str(&format!("maximal device={}", self.devices.first().copied().unwrap_or(0))),
            2 => text.push_str(&self.tuple.join(", ")),
            3 => self.render_tiles(&mut text),
            4 => text.push_str("manual"),
            5 => text.push_str("unknown"),
            6 => text.push_str("unreduced"),
            other => text.push_str(&format!("kind {other}")),
        }
        if self.is_group {
            let relation = if self.group_is_like { "shard_like" } else { "shard_as" };
            text.push_str(&format!(" {relation} {}", self.group));
        }
        text.push('}');
        text
    }

    fn render_tiles(&self, text: &mut String) {
        text.push_str("devices=[");
        push_joined(text, &self.tile_dimensions);
        text.push(']');
        if self.iota_reshape.is_empty() {
            push_joined(text, &self.devices);
        } else {
            text.push_str("<=[");
            push_joined(text, &self.iota_reshape);
            text.push(']');
            if self.iota_transpose.iter().zip(0..).any(|(&dimension, position)| dimension != position) {
                text.push_str("T(");
                push_joined(text, &self.iota_transpose);
                text.push(')');
            }
        }
        if self.replicate_on_last_dimension {
            text.push_str(" last_tile_dim_replicate");
        }
        if !self.last_tile_kinds.is_empty() {
            let kinds = self.last_tile_kinds.iter().map(|kind| match kind {
                0 => "replicated",
                1 => "maximal",
                4 => "manual",
                6 => "unreduced",
                _ => "unknown",
            });
            text.push_str(&format!(" last_tile_dims={{{}}}", kinds.collect::<Vec<_>>().join(", ")));
        }
    }
}

fn push_joined(text: &mut String, numbers: &[i64]) {
    write_joined(text, numbers).expect("writing to a string does not fail");
}
