//! Leave out of the manifest what is nobody's business: host name, user name, home folder, secrets.
//!
//! Secrets are looked for in the command only, by the name of the argument or the shape of the value;
//! the harness writes no environment value in the first place.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

/// Stands where a secret was.
const GONE: &str = "<redacted>";

/// Words in the name of an argument whose value is a secret.
const SECRET_WORDS: [&str; 8] =
    ["token", "secret", "password", "passwd", "api-key", "apikey", "credential", "access-key"];

/// How the tokens of well-known services begin.
const SECRET_PREFIXES: [&str; 10] =
    ["hf_", "ghp_", "gho_", "github_pat_", "glpat-", "sk-", "xoxb-", "AKIA", "ASIA", "AIza"];

/// What to take out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redaction {
    is_on: bool,
    /// Names and what stands for them, longest first.
    names: Vec<(String, &'static str)>,
}

impl Redaction {
    /// Take nothing out.
    pub(crate) fn none() -> Redaction {
        Redaction::default()
    }

    /// Take out the names of this machine and its user.
    pub(crate) fn of_this_machine() -> Redaction {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let home = std::env::var("HOME").unwrap_or_default();
        let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
        Redaction::of(&home, &user, &host)
    }

    fn of(home: &str, user: &str, host: &str) -> Redaction {
        let home = home.trim_end_matches('/');
        let short_host = host.split('.').next().unwrap_or_default();
        let user_of_home = Path::new(home).file_name().unwrap_or_default().to_string_lossy();
        let candidates =
            [(home, "~"), (host, "<host>"), (short_host, "<host>"), (user, "<user>"), (&user_of_home, "<user>")];
        let mut names: Vec<(String, &'static str)> = Vec::new();
        for (name, stand_in) in candidates {
            // `root` says nothing about who it was, and is a common word.
            if !name.is_empty() && name != "root" && name != "localhost" && !names.iter().any(|(seen, _)| seen == name)
            {
                names.push((name.to_owned(), stand_in));
            }
        }
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Redaction { is_on: true, names }
    }

    /// `value` with the names taken out of every text in it; keys stay.
    pub(crate) fn apply(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
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
            if !self.is_on {
                return word;
            }
            let is_secret = std::mem::take(&mut secret_follows);
            secret_follows = word.starts_with('-') && !word.contains('=') && is_secret_name(&word);
            if is_secret { GONE.to_owned() } else { without_secret(&word) }
        });
        words.collect()
    }

    fn text(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (name, stand_in)| replace_word(&text, name, stand_in))
    }
}

/// `word` with the value of `--token=…`, `NAME=…` or a token of a well-known service taken out.
fn without_secret(word: &str) -> String {
    if SECRET_PREFIXES.iter().any(|prefix| word.len() >= 20 && word.starts_with(prefix)) {
        return GONE.to_owned();
    }
    let Some((name, value)) = word.split_once('=') else { return word.to_owned() };
    // `env NAME=value program` sets an environment value.
    let sets_environment =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let looks_secret = SECRET_PREFIXES.iter().any(|prefix| value.len() >= 20 && value.starts_with(prefix));
    if sets_environment || looks_secret || is_secret_name(name) { format!("{name}={GONE}") } else { word.to_owned() }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// Replace `name` where it stands alone: not inside a longer word.
fn replace_word(text: &str, name: &str, stand_in: &str) -> String {
    let is_part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let begins_inside =
            !name.starts_with('/') && is_part_of_word(before.chars().next_back().or(out.chars().next_back()));
        let alone = !begins_inside && !is_part_of_word(after.chars().next());
        out.push_str(before);
        out.push_str(if alone { stand_in } else { name });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn secrets_leave_the_command() {
        let command =
            "env WANDB_API_KEY=abc train --n=3 --hf-token hf_x --password=p -x ghp_0123456789012345678901 a=b";
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        expect![
            "env WANDB_API_KEY=<redacted> train --n=3 --hf-token <redacted> --password=<redacted> -x <redacted> a=b"
        ]
        .assert_eq(&Redaction::of("", "", "").command(&words).join(" "));
        expect![[
            r#"env WANDB_API_KEY=abc train --n=3 --hf-token hf_x --password=p -x ghp_0123456789012345678901 a=b"#
        ]]
        .assert_eq(&Redaction::none().command(&words).join(" "));
    }

    #[test]
    fn names_leave_every_text() {
        let redaction = Redaction::of("/home/ada", "ada", "vm.lab.example");
        let value = serde_json::json!({"a": ["/home/ada/x.py", "/home/adams/x", "/scratch/ada/y", "llvm on vm", "vm.lab.example!"]});
        expect![[r#"{"a":["~/x.py","/home/adams/x","/scratch/<user>/y","llvm on <host>","<host>!"]}"#]]
            .assert_eq(&redaction.apply(value).to_string());
    }

    #[test]
    fn the_superuser_is_a_common_word() {
        let redaction = Redaction::of("/root", "root", "localhost");
        expect!["~/x, the root of localhost"].assert_eq(&redaction.text("/root/x, the root of localhost"));
    }
}
