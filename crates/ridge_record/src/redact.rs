//! Leave out of the manifest what is nobody's business: host name, user name, home folder, secrets.
//!
//! What is private in a text is decided by `ridge_redact`; here it learns the names of this machine.
//! Secrets are looked for in the command by the name of the argument too; the harness writes no environment value in the first
//! place.

use std::ffi::OsString;

use ridge_redact::{GONE, Removed, Words, is_secret_name, without_secret};
use serde_json::Value;

/// What to take out.
#[derive(Clone, Debug)]
pub(crate) struct Redaction {
    words: Option<Words>,
}

impl Redaction {
    /// Take nothing out.
    pub(crate) fn none() -> Redaction {
        Redaction { words: None }
    }

    /// Take out the names of this machine and its user.
    pub(crate) fn of_this_machine() -> Redaction {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let home = std::env::var("HOME").unwrap_or_default();
        let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
        Redaction { words: Some(Words::of(&home, &user, &host)) }
    }

    /// What is private on this machine; `None` where nothing is to be taken out.
    pub(crate) fn words(&self) -> Option<&Words> {
        self.words.as_ref()
    }

    /// `value` with the names taken out of every text in it; keys stay.
    pub(crate) fn apply(&self, value: Value) -> Value {
        let Some(words) = &self.words else { return value };
        match value {
            Value::String(text) => Value::String(words.clean(&text, &mut Removed::default()).into_owned()),
            Value::Array(values) => values.into_iter().map(|value| self.apply(value)).collect(),
            Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, self.apply(value))).collect(),
            other => other,
        }
    }

    /// `command` without secrets.
    pub(crate) fn command(&self, command: &[OsString]) -> Vec<String> {
        let mut secret_follows = false;
        let words = command.iter().map(|word| {
            let word = word.to_string_lossy().into_owned();
            let Some(known) = &self.words else { return word };
            let is_secret = std::mem::take(&mut secret_follows);
            secret_follows = word.starts_with('-') && !word.contains('=') && is_secret_name(&word);
            let without = if is_secret { GONE.to_owned() } else { without_secret(&word) };
            known.clean(&without, &mut Removed::default()).into_owned()
        });
        words.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn secrets_leave_the_command() {
        let command = "env WANDB_API_KEY=abc train --n=3 --hf-token hf_x --password=p -x ghp_0123456789012345678901 a=b db://u:pw@h/x";
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        expect![
            "env WANDB_API_KEY=<redacted> train --n=3 --hf-token <redacted> --password=<redacted> -x <redacted> a=b db://<redacted>@h/x"
        ]
        .assert_eq(&Redaction { words: Some(Words::default()) }.command(&words).join(" "));
        expect![[
            r#"env WANDB_API_KEY=abc train --n=3 --hf-token hf_x --password=p -x ghp_0123456789012345678901 a=b db://u:pw@h/x"#
        ]]
        .assert_eq(&Redaction::none().command(&words).join(" "));
    }

    #[test]
    fn names_leave_every_text() {
        let redaction = Redaction { words: Some(Words::of("/home/ada", "ada", "vm.lab.example")) };
        let value = serde_json::json!({"a": ["/home/ada/x.py", "/scratch/ada/y", "llvm on vm"], "/home/ada": 1});
        expect![[r#"{"a":["~/x.py","/scratch/<user>/y","llvm on <host>"],"/home/ada":1}"#]]
            .assert_eq(&redaction.apply(value).to_string());
    }
}
