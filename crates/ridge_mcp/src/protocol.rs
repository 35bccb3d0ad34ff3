//! The messages: one JSON object a line, as the transport over standard input and output has it.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>

use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read as _};

/// Versions of the protocol whose messages are these, the newest first.
pub(crate) const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A line may be so long, bytes: the longest question names some paths.
const MOST_LINE_BYTES: u64 = 1 << 20;

/// What JSON-RPC calls the ways in which a message can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is not JSON.
    Parse = -32700,
    /// It is no request.
    Request = -32600,
    /// There is no such method.
    Method = -32601,
    /// The parameters do not fit the method.
    Parameters = -32602,
}

/// A message of the client.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    /// What the answer is to be called; a notification has none and gets no answer.
    pub(crate) id: Option<Value>,
    /// What is asked; absent in an answer of the client.
    pub(crate) method: Option<String>,
    /// With what.
    #[serde(default)]
    pub(crate) params: Value,
}

/// What came in.
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none, and why.
    Unreadable(Wrong, String),
}

/// The next message; `None` where the input has ended.
pub(crate) fn next(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() as u64 == MOST_LINE_BYTES && line.last() != Some(&b'\n') {
            skip_line(input)?;
            let why = format!("expected a message of at most {MOST_LINE_BYTES} bytes, found a longer one");
            return Ok(Some(Incoming::Unreadable(Wrong::Request, why)));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(read(&line)));
        }
    }
}

fn read(line: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return Incoming::Unreadable(Wrong::Parse, format!("expected a message in JSON: {error}")),
    };
    match Message::deserialize(value) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Unreadable(Wrong::Request, format!("expected a JSON-RPC message: {error}")),
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let (used, is_end) = {
            let buffer = input.fill_buf()?;
            match buffer.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            }
        };
        input.consume(used);
        if is_end {
            return Ok(());
        }
    }
}

/// The answer to `id`.
pub(crate) fn answer(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

/// The message to `id` that it was wrong.
pub(crate) fn refusal(id: &Value, wrong: Wrong, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": wrong as i32, "message": message } }).to_string()
}
