//! JSON documents of any length: learn who made them, then pass them on without it.

use crate::error::RedactError;
use crate::json_scan::{Part, scan};
use crate::json_values::Cleaner;
use crate::removed::Removed;
use crate::words::Words;
use std::io::{self, BufRead, Write};

/// Rewrites the JSON document that each call of `open` gives from its beginning, of any length, in bounded memory.
///
/// It is read twice: where it was made may be said at its end, and shows in names before that.
///
/// # Errors
/// [`RedactError`] where the document is damaged, cannot be read, or cannot be written.
pub fn redact_json<'a>(
    open: impl Fn() -> io::Result<Box<dyn BufRead + 'a>>,
    words: &Words,
    out: &mut dyn Write,
) -> Result<Removed, RedactError> {
    let mut words = words.clone();
    scan(open()?, &mut |part| {
        if let Part::Value { member, text } = part {
            Cleaner::hosts(member, text, &mut |host| words.add_host(host));
        }
        Ok(())
    })?;
    let mut cleaner = Cleaner::new(words);
    scan(open()?, &mut |part| {
        match part {
            Part::Between(text) => out.write_all(text)?,
            Part::Value { member, text } => match cleaner.value(member, text)? {
                Some(clean) => out.write_all(&clean)?,
                None => out.write_all(text)?,
            },
        }
        Ok(())
    })?;
    Ok(cleaner.removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// What `text` becomes, and what was taken out of it.
    fn redacted(text: &str) -> String {
        let mut out = Vec::new();
        let removed = redact_json(|| Ok(Box::new(text.as_bytes())), &Words::default(), &mut out).expect("JSON");
        let counts: Vec<String> = removed.iter().map(|(what, count)| format!("{count} {}", what.name())).collect();
        format!("{}\n{}", String::from_utf8(out).expect("text stays text"), counts.join(", "))
    }

    #[test]
    fn environments_and_names_leave_a_trace() {
        expect![[r#"
            {"metadata": "<redacted>", "traceEvents": [
              {"ph": "M", "name": "process_name", "args": {"name": "process"}},
              {"ph": "X", "name": "~/m.py(1): f", "ts": 1790857026000000000.123, "args": {"Input Dims": [[1.50, 2]], "user": "<user>"}},
              {"ph": "i", "name": "on <host>", "args": {"env": "<redacted>", "hf_token": "<redacted>", "argv": "<redacted>"}}
            ], "host_name": "<host>", "traceName": "~/t \" \\ .json"}
            2 host names, 1 user names, 2 home folders, 1 secrets, 2 environment blocks, 1 command lines, 1 process names"#]]
        .assert_eq(&redacted(
            r#"{"metadata": {"env": {"HF_TOKEN": "x"}}, "traceEvents": [
  {"ph": "M", "name": "process_name", "args": {"name": "secret-project"}},
  {"ph": "X", "name": "/home/ada/m.py(1): f", "ts": 1790857026000000000.123, "args": {"Input Dims": [[1.50, 2]], "user": "ada"}},
  {"ph": "i", "name": "on vm7", "args": {"env": {"A": ["}", 1]}, "hf_token": "abc", "argv": ["a", "b"]}}
], "host_name": "vm7", "traceName": "/home/ada/t \" \\ .json"}"#,
        ));
    }

    #[test]
    fn what_is_not_private_stays_byte_for_byte() {
        let text = "[ {\"name\":\"aten::mm\" , \"ts\":1.0e3,\"args\":{\"x\":\"\\u0041\\/\", \"y\": NaN}} ]\n";
        assert_eq!(redacted(text), format!("{text}\n"));
    }

    #[test]
    fn redacting_twice_changes_nothing() {
        let once = redacted(r#"{"host_name": "vm7", "user": "ada", "argv": ["x"], "p": "/root/x"}"#);
        let once = once.lines().next().expect("a line");
        assert_eq!(redacted(once), format!("{once}\n"));
    }
}
