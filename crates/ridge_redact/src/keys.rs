//! What the name of a value says about it: keys of JSON, stats, attributes, arguments, settings.
//!
//! Names are compared by their words, however they are joined: `apiKey`, `API_KEY`, `api-key` and `apikey` are one.

use crate::removed::{GONE, What};

/// Names of machines' names.
const HOST_KEYS: [&str; 13] = [
    "host_name",
    "hostname",
    "host",
    "nodename",
    "node_name",
    "fqdn",
    "machine_name",
    "computer_name",
    "computername",
    "worker_host",
    "hosts",
    "hostnames",
    "host_names",
];
/// Names of people's accounts.
const USER_KEYS: [&str; 8] = ["username", "user_name", "user", "users", "login", "logname", "account", "usernames"];
/// Names under which an object or a list of a machine or an account says what it is called: `user: {name: …}`.
const NAMING_KEYS: [&str; 14] = [
    "name",
    "value",
    "names",
    "values",
    "id",
    "text",
    "string",
    "string_value",
    "str",
    "full_name",
    "display_name",
    "short",
    "short_name",
    "login",
];
/// Names of the two halves of a pair: `{name: hostname, value: …}`.
const PAIR_NAMES: [&str; 8] = ["name", "key", "k", "attribute", "property", "variable", "field", "label"];
const PAIR_VALUES: [&str; 6] = ["value", "v", "val", "string_value", "text", "data"];
/// Names of environments.
const ENVIRONMENT_KEYS: [&str; 6] = ["environment", "environ", "env", "env_vars", "envvars", "environment_variables"];
/// Names of command lines.
const COMMAND_KEYS: [&str; 6] = ["cmdline", "command", "command_line", "commandline", "cmd", "argv"];
/// Words that say on their own that a value is a secret; a longer word may end with one.
const SECRET_WORDS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "accountkey",
    "authtoken",
    "accesstoken",
    "authorization",
    "signingkey",
];
/// The same of two words.
const SECRET_PAIRS: [(&str, &str); 18] = [
    ("api", "key"),
    ("access", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("account", "key"),
    ("signing", "key"),
    ("auth", "key"),
    ("ssh", "key"),
    ("db", "pass"),
    ("database", "pass"),
    ("mysql", "pass"),
    ("redis", "pass"),
    ("smtp", "pass"),
    ("mail", "pass"),
    ("user", "pass"),
    ("webhook", "url"),
    ("amz", "signature"),
    ("amz", "credential"),
];
/// Words beside `token` where it opens doors.
const OF_ACCESS: [&str; 16] = [
    "access", "api", "auth", "bearer", "csrf", "gh", "github", "gitlab", "hf", "hub", "refresh", "secret", "security",
    "session", "wandb", "oauth",
];
/// Words beside `token` where it is a piece of text.
const OF_TEXT: [&str; 36] = [
    "bos",
    "eos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "num",
    "n",
    "max",
    "min",
    "count",
    "per",
    "id",
    "ids",
    "idx",
    "index",
    "len",
    "length",
    "size",
    "type",
    "pos",
    "position",
    "new",
    "input",
    "output",
    "total",
    "generated",
    "image",
    "special",
    "next",
    "last",
    "first",
    "prompt",
    "batch",
    "kv",
];

/// How sure a name is that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Secrecy {
    /// Not at all.
    None,
    /// A text would be one; numbers and lists under such names are counts of pieces of text.
    OfTexts,
    /// Whatever it is.
    OfAnything,
}

/// Longer names are no names.
pub(crate) const MAX_NAME: usize = 64;

/// The words of `name` in lower case: at `_`, `-`, `.`, spaces, and where upper case begins.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let is_hump = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase)
            });
        if is_hump || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric() {
            words.last_mut().expect("it begins with one").push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether and which values of a name are secrets.
pub(crate) fn secrecy(name: &str) -> Secrecy {
    if name.len() > MAX_NAME {
        return Secrecy::None;
    }
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_secret = |word: &String| SECRET_WORDS.iter().any(|secret| word.trim_end_matches('s').ends_with(secret));
    let is_pair = |pair: &[String]| {
        SECRET_PAIRS.iter().any(|(first, second)| pair[0] == *first && pair[1].trim_end_matches('s') == *second)
    };
    // `PWD` alone is a folder.
    let is_short = words.len() > 1 && words.last().is_some_and(|word| word == "pwd");
    if words.iter().any(is_secret) || words.windows(2).any(is_pair) || is_short {
        return Secrecy::OfAnything;
    }
    if !has(&["token", "tokens"]) || has(&OF_TEXT) {
        Secrecy::None
    } else if has(&OF_ACCESS) {
        Secrecy::OfAnything
    } else {
        Secrecy::OfTexts
    }
}

/// Whether `name`, of an argument or a key, says that its value is a secret.
///
/// The words count as parts of a name (`hf_token`, `API_KEY`, `apiKey`), not inside other words (`tokenizer`), and pieces of
/// text are none (`eos_token`, `num_tokens`).
pub fn is_secret_name(name: &str) -> bool {
    secrecy(name) > Secrecy::None
}

/// What a text under `key` is, where the key alone says that it is private.
pub(crate) fn private_key(key: &str) -> Option<What> {
    if key.is_empty() || key.len() > MAX_NAME {
        return None;
    }
    let plain = words(key).join("_");
    let is = |keys: &[&str]| keys.contains(&plain.as_str());
    // `target_hostname`, and variables of the environment: `SLURMD_NODENAME`, `SUDO_USER`, `MASTER_ADDR`.
    let is_variable =
        key.contains('_') && key.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte));
    let ends = |always: &[&str], of_variables: &[&str]| {
        always.iter().any(|end| plain.ends_with(end))
            || is_variable && of_variables.iter().any(|end| plain.ends_with(end))
    };
    if is(&HOST_KEYS) || ends(&["hostname", "host_name", "nodename"], &["_host", "_addr", "_node_name"]) {
        Some(What::HostName)
    } else if is(&USER_KEYS) || ends(&["username", "user_name"], &["_user", "_logname"]) {
        Some(What::UserName)
    } else if is(&ENVIRONMENT_KEYS) {
        Some(What::Environment)
    } else if is(&COMMAND_KEYS) {
        Some(What::CommandLine)
    } else if is_secret_name(key) {
        Some(What::Secret)
    } else {
        None
    }
}

/// Names of columns that name one piece of hardware.
const SERIALS: [&str; 7] = ["uuid", "guid", "serial", "mac_address", "ip_address", "gpu_uuid", "gpu_serial"];

/// Whether a column called `name` names one piece of hardware.
pub(crate) fn is_serial(name: &str) -> bool {
    SERIALS.contains(&words(name).join("_").as_str())
}

/// What a text under `key` is, where it stands in an object or a list under `parent`.
pub(crate) fn private_inside(parent: &str, key: &str) -> Option<What> {
    let names = NAMING_KEYS.contains(&words(key).join("_").as_str());
    private_key(parent).filter(|what| names && matches!(what, What::HostName | What::UserName))
}

/// Whether the text under `key` may be what the other member of a pair is called.
pub(crate) fn names_pair(key: &str) -> bool {
    PAIR_NAMES.contains(&words(key).join("_").as_str())
}

/// Whether what stands under `key` may be the value of such a pair.
pub(crate) fn holds_pair(key: &str) -> bool {
    PAIR_VALUES.contains(&words(key).join("_").as_str())
}

/// What a number or a whole list or object under `key` is.
pub(crate) fn private_whole(key: &str) -> Option<What> {
    match private_key(key) {
        Some(What::Secret) => (secrecy(key) == Secrecy::OfAnything).then_some(What::Secret),
        Some(what @ (What::Environment | What::CommandLine)) => Some(what),
        _ => None,
    }
}

/// A word of a command with the value of `--token=…`, `NAME=…` taken out.
pub fn without_secret(word: &str) -> String {
    let Some((name, value)) = word.split_once('=') else { return word.to_owned() };
    // `env NAME=value program` sets an environment value.
    let sets_environment =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if sets_environment || is_secret_name(name) && !value.is_empty() {
        format!("{name}={GONE}")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_tell_secrets() {
        use Secrecy::{None, OfAnything, OfTexts};
        for (name, expected) in [
            ("HF_TOKEN", OfAnything),
            ("--hf-token", OfAnything),
            ("api_key", OfAnything),
            ("apiKey", OfAnything),
            ("APIKey", OfAnything),
            ("apikey", OfAnything),
            ("accessToken", OfAnything),
            ("aws.secret", OfAnything),
            ("wandb-api-key", OfAnything),
            ("dbPassword", OfAnything),
            ("PGPASSWORD", OfAnything),
            ("db_pwd", OfAnything),
            ("tokens", OfTexts),
            ("token", OfTexts),
            ("PWD", None),
            ("tokenizer", None),
            ("num_tokenizers", None),
            ("maxTokens", None),
            ("eos_token_id", None),
            ("secretary", None),
            ("stream", None),
            ("key", None),
            ("", None),
        ] {
            assert_eq!(secrecy(name), expected, "{name}");
        }
    }

    #[test]
    fn keys_tell_machines_and_people() {
        for (key, expected) in [
            ("hostName", Some(What::HostName)),
            ("HOSTNAME", Some(What::HostName)),
            ("user-name", Some(What::UserName)),
            ("envVars", Some(What::Environment)),
            ("commandLine", Some(What::CommandLine)),
            ("user_annotation", None),
            ("host_wait", None),
        ] {
            assert_eq!(private_key(key), expected, "{key}");
        }
    }
}
