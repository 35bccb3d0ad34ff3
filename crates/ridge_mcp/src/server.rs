//! The conversation: each message of the client in its turn, until the input ends.

use crate::protocol::{Incoming, Message, VERSIONS, Wrong, answer, next, refusal};
use crate::tools::{Tools, listed};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// What a client tells its model of this server.
const INSTRUCTIONS: &str = "Reads captures of accelerator programs (JAX, PyTorch; GPU, TPU, CPU). \
Begin with `open`; call `findings` for causes with predicted savings, `table` for numbers, `source` for lines, `diff` for two captures, \
`what_if` before proposing a change, `next` for what the capture cannot answer and the command that would. \
Numbers carry their unit and basis (measured, counted, sheet, capture, inferred, modelled): do not state a modelled number as measured. \
Nothing is recorded or changed here: `ridgeline record` and `ridgeline try` do that from a shell.";

/// Answers the messages in `input` until it ends.
///
/// # Errors
/// Where `input` cannot be read or `output` cannot be written.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut tools = Tools::default();
    while let Some(incoming) = next(&mut input)? {
        let said = match incoming {
            Incoming::Unreadable(wrong, why) => Some(refusal(&Value::Null, wrong, &why)),
            Incoming::Message(message) => answered(&mut tools, message),
        };
        if let Some(said) = said {
            writeln!(output, "{said}")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// What is said to a message; nothing to notifications, nor to answers, which nobody asked for.
fn answered(tools: &mut Tools, message: Message) -> Option<String> {
    let (id, method) = (message.id?, message.method?);
    let result = match method.as_str() {
        "initialize" => Ok(welcome(&message.params)),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": listed() })),
        "tools/call" => called(tools, message.params),
        _ => Err((Wrong::Method, format!("unknown method `{method}`"))),
    };
    Some(match result {
        Ok(result) => answer(&id, &result),
        Err((wrong, why)) => refusal(&id, wrong, &why),
    })
}

fn welcome(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": "ridgeline", "title": "Ridgeline", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    })
}

fn called(tools: &mut Tools, mut params: Value) -> Result<Value, (Wrong, String)> {
    let Some(name) = params.get("name").and_then(Value::as_str).map(str::to_owned) else {
        return Err((Wrong::Parameters, "expected the name of a tool, found none".to_owned()));
    };
    let arguments = params.get_mut("arguments").map(Value::take).unwrap_or_default();
    match tools.call(&name, arguments) {
        None => Err((Wrong::Parameters, format!("unknown tool `{name}`"))),
        Some(Ok(text)) => Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": false })),
        Some(Err(refused)) => Ok(json!({ "content": [{ "type": "text", "text": refused.text() }], "isError": true })),
    }
}
