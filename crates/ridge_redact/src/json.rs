//! JSON documents of any length: learn who made them, then pass them on without it.

use crate::error::RedactError;
use crate::json_scan::{Part, scan};
use crate::json_values::{Cleaner, learn};
use crate::learn::{Listener, neighbors};
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
    learn_json(open()?, &mut words)?;
    let mut failed = None;
    neighbors(&mut words, &mut |piece| {
        let told = open().map_err(RedactError::Io).and_then(|reader| {
            scan(reader, &mut |part| {
                if let Part::Value { text, .. } = part {
                    piece(text);
                }
                Ok(())
            })
        });
        failed = told.err();
    });
    failed.map_or(Ok(()), Err)?;
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

/// Adds to `words` the names of machines and accounts that the JSON document in `reader` says.
///
/// # Errors
/// [`RedactError`] where the document is damaged or cannot be read; what came before was learned.
pub fn learn_json(reader: impl BufRead, words: &mut Words) -> Result<(), RedactError> {
    let mut listener = Listener::new(words);
    scan(reader, &mut |part| match part {
        Part::Value { member, text } => learn(member, text, &mut listener),
        Part::Between(_) => Ok(()),
    })
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
            2 host names, 1 user names, 2 home directories, 1 secrets, 2 environment blocks, 1 command lines, 1 process names"#]]
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

    #[test]
    fn escapes_are_decoded_before_the_search() {
        expect![[r#"
            {"a": ["~/x", "~/y", "~\\z", "~/é\n", {"<email>": "x"}]}
            4 home directories, 1 e-mail addresses"#]]
        .assert_eq(&redacted(
            r#"{"a": ["\/home\/ada\/x", "\u002fhome\u002fada/y", "C:\\Users\\ada\\z", "/home/ada/\u00e9\n", {"ada\u0040lab.org": "x"}]}"#,
        ));
    }

    #[test]
    fn keys_tell_of_numbers_objects_and_texts() {
        expect![[r#"
            {"args": {"password": "<redacted>", "apiKey": "<redacted>", "credentials": "<redacted>", "accessToken": "<redacted>",
             "num_tokens": 512, "tokens": [1, 2], "eos_token": "</s>", "token": true, "secret": null, "\u0070assword": "<redacted>"}}
            5 secrets"#]]
        .assert_eq(&redacted(
            r#"{"args": {"password": 12345, "apiKey": "x", "credentials": {"a": [1, "b"]}, "accessToken": -1.5e3,
 "num_tokens": 512, "tokens": [1, 2], "eos_token": "</s>", "token": true, "secret": null, "\u0070assword": "y"}}"#,
        ));
    }

    #[test]
    fn nested_names_are_learned_and_common_words_are_none() {
        expect![[r#"
            {"traceEvents": [{"name": "<host>_123 by <user> on gpu", "args": {"info": {"hostname": "<host>", "user": "<user>"}, "host": "<host>"}}]}
            3 host names, 2 user names"#]]
        .assert_eq(&redacted(
            r#"{"traceEvents": [{"name": "vm7_123 by ada on gpu", "args": {"info": {"hostname": "vm7.lab", "user": "ada"}, "host": "gpu"}}]}"#,
        ));
    }

    #[test]
    fn objects_and_pairs_say_names_and_texts_repeat_them() {
        expect![[r#"
            {"traceEvents": [{"name": "load <redacted> for <user> on <host> of <host>", "args": {"user": {"name": "<user>", "id": 7}}},
             {"args": {"hostname": {"value": "<host>"}, "attributes": [{"key": "user.name", "value": {"stringValue": "<user>"}}]}},
             {"args": {"list": [{"value": "<redacted>", "name": "db_password"}, ["--password", "<redacted>"]], "tags": "by <user>"}}], "users": ["<user>", {"name": "<user>"}]}
            3 host names, 6 user names, 3 secrets"#]]
        .assert_eq(&redacted(
            r#"{"traceEvents": [{"name": "load hunter2 for ada on vm7 of vm8.lab.example", "args": {"user": {"name": "ada", "id": 7}}},
 {"args": {"hostname": {"value": "vm7.lab.example"}, "attributes": [{"key": "user.name", "value": {"stringValue": "grace"}}]}},
 {"args": {"list": [{"value": "hunter2", "name": "db_password"}, ["--password", "x"]], "tags": "by grace"}}], "users": ["bob", {"name": "Eve Adams"}]}"#,
        ));
    }

    #[test]
    fn json_inside_a_text_goes_by_its_keys() {
        expect![[r#"
            {"config": "{\"password\": \"<redacted>\", \"argv\": \"<redacted>\", \"n\": 1}"}
            1 secrets, 1 command lines"#]]
        .assert_eq(&redacted(r#"{"config": "{\"password\": 12345, \"argv\": [\"a\", \"b\"], \"n\": 1}"}"#));
    }

    #[test]
    fn versions_stay_and_addresses_go() {
        expect![[r#"
            {"packages": {"nvidia-curand-cu12": "10.3.5.147"}, "peer": "<address>", "cudnn": ["9.1.0.70"]}
            1 IP addresses"#]]
        .assert_eq(&redacted(
            r#"{"packages": {"nvidia-curand-cu12": "10.3.5.147"}, "peer": "10.3.5.147", "cudnn": ["9.1.0.70"]}"#,
        ));
    }
}
