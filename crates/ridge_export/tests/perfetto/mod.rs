//! A reader of Perfetto's format, as far as the writer goes: packets back to tracks, slices, flows and counters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A field: number, and its integer or its bytes.
type Field<'a> = (u64, u64, &'a [u8]);

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().expect("a varint");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (mut value, mut inner) = (0, &[][..]);
        match key & 7 {
            0 => value = varint(&mut bytes),
            1 => {
                value = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
                bytes = &bytes[8..];
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                (inner, bytes) = bytes.split_at(length);
            }
            other => panic!("wire type {other}"),
        }
        fields.push((key >> 3, value, inner));
    }
    fields
}

fn one<'a>(fields: &[Field<'a>], number: u64) -> Option<Field<'a>> {
    fields.iter().find(|field| field.0 == number).copied()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What the file says, a line per packet in order.
pub(crate) fn render(file: &[u8]) -> String {
    let mut interned: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let mut lines = String::new();
    for (_, _, packet) in fields(file) {
        let packet = fields(packet);
        for (kind, _, entry) in one(&packet, 12).map(|field| fields(field.2)).unwrap_or_default() {
            let entry = fields(entry);
            interned.insert((kind, one(&entry, 1).expect("an id").1), text(one(&entry, 2).expect("a name").2));
        }
        if let Some((_, _, descriptor)) = one(&packet, 60) {
            let descriptor = fields(descriptor);
            let parent = one(&descriptor, 5).map(|field| format!(" in {}", field.1)).unwrap_or_default();
            let pid = one(&descriptor, 3).map(|field| format!(" pid {}", one(&fields(field.2), 1).expect("a pid").1));
            let counter = one(&descriptor, 8).map(|_| " counter").unwrap_or_default();
            let (uuid, name) = (one(&descriptor, 1).expect("an id").1, text(one(&descriptor, 2).expect("a name").2));
            writeln!(lines, "track {uuid} {name:?}{}{parent}{counter}", pid.unwrap_or_default()).expect("memory");
        }
        if let Some((_, _, event)) = one(&packet, 11) {
            let at = one(&packet, 8).expect("a time").1;
            writeln!(lines, "{at} {}", event_line(&fields(event), &interned)).expect("memory");
        }
    }
    lines
}

fn event_line(event: &[Field<'_>], interned: &BTreeMap<(u64, u64), String>) -> String {
    let kind = ["", "begin", "end", "instant", "counter"][one(event, 9).expect("a type").1 as usize];
    let mut line = format!("{kind} on {}", one(event, 11).expect("a track").1);
    for (number, value, inner) in event {
        match number {
            3 => write!(line, " [{}]", interned[&(1, *value)]),
            10 => write!(line, " {:?}", interned[&(2, *value)]),
            47 => write!(line, " flow {value}"),
            4 => {
                let annotation = fields(inner);
                let key = &interned[&(3, one(&annotation, 1).expect("a key").1)];
                let (kind, value, inner) = annotation[1];
                let value = if kind == 6 { text(inner) } else { value.to_string() };
                write!(line, " {key}={value}")
            }
            30 | 44 => write!(line, " value {value}"),
            _ => Ok(()),
        }
        .expect("memory");
    }
    line
}
