//! Small protobuf messages, written by field number.

/// A message being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    /// An empty message.
    pub(crate) fn new() -> Message {
        Message::default()
    }

    /// Adds an integer.
    pub(crate) fn int(mut self, field: u32, value: i64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// Adds text or bytes.
    pub(crate) fn bytes(mut self, field: u32, value: &[u8]) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Adds text.
    pub(crate) fn text(self, field: u32, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    /// Adds a message.
    pub(crate) fn message(self, field: u32, value: &Message) -> Message {
        self.bytes(field, &value.0)
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A space of one plane.
pub(crate) fn space(plane: &Message) -> Message {
    Message::new().message(1, plane)
}

/// A plane that names its events' metadata 1, 2, … in order.
pub(crate) fn plane(name: &str, event_names: &[&str]) -> Message {
    let mut plane = Message::new().text(2, name);
    for (position, name) in event_names.iter().enumerate() {
        let id = position as i64 + 1;
        let metadata = Message::new().int(1, id).text(2, name);
        plane = plane.message(4, &Message::new().int(1, id).message(2, &metadata));
    }
    plane
}

/// Adds a plane's stat names, with ids 1, 2, … in order.
pub(crate) fn with_stats(mut plane: Message, names: &[&str]) -> Message {
    for (position, name) in names.iter().enumerate() {
        let id = position as i64 + 1;
        let metadata = Message::new().int(1, id).text(2, name);
        plane = plane.message(5, &Message::new().int(1, id).message(2, &metadata));
    }
    plane
}

/// A line.
pub(crate) fn line(id: i64, name: &str, timestamp_ns: i64) -> Message {
    Message::new().int(1, id).text(2, name).int(3, timestamp_ns)
}

/// An event; times in nanoseconds.
pub(crate) fn event(metadata: i64, offset_ns: i64, dur_ns: i64) -> Message {
    let picos = |nanos: i64| nanos.saturating_mul(1000);
    Message::new().int(1, metadata).int(2, picos(offset_ns)).int(3, picos(dur_ns))
}
