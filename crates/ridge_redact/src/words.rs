//! Private words in texts: names that are known, and what is private by its shape or by the name before it.

use crate::accounts;
use crate::encoded;
use crate::found::{Found, Replace, replaced};
use crate::named;
use crate::needles::{LARGEST, Needles};
use crate::removed::{Removed, What};
use crate::services;
use crate::shapes::{self, Context};
use core::net::IpAddr;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Shorter names are found inside too many other words.
const LEAST_NAME: usize = 2;
/// Longer texts are no names of machines, accounts or passwords: they are taken out where they stand, and not looked for.
const MOST_NAME: usize = 1024;
/// Bytes of one pattern of cores, which a regular expression of the usual size has room for.
const MOST_OF_CORES: usize = 64 << 10;
/// The same where a capture says them, which is less sure.
const LEAST_LEARNED: usize = 3;
/// How often a text is searched while there is something to find.
const MAX_ROUNDS: usize = 4;
/// Names that say nothing about who or where it was, and are words of every other text.
const COMMON: [&str; 36] = [
    "root",
    "localhost",
    "user",
    "users",
    "host",
    "hosts",
    "default",
    "none",
    "null",
    "unknown",
    "true",
    "false",
    "local",
    "home",
    "admin",
    "ubuntu",
    "runner",
    "jovyan",
    "cpu",
    "gpu",
    "tpu",
    "cuda",
    "device",
    "node",
    "main",
    "train",
    "worker",
    "master",
    "python",
    "python3",
    "torch",
    "pytorch",
    "jax",
    "docker",
    "container",
    "nobody",
];

/// Accounts that home folders have, and that are words of other texts, too.
const COMMON_ACCOUNTS: [&str; 30] = [
    "data",
    "work",
    "workspace",
    "shared",
    "share",
    "project",
    "projects",
    "model",
    "models",
    "build",
    "builder",
    "conda",
    "anaconda",
    "miniconda",
    "coder",
    "vscode",
    "student",
    "research",
    "service",
    "developer",
    "jenkins",
    "nvidia",
    "tester",
    "colab",
    "kaggle",
    "sagemaker",
    "ec2-user",
    "appuser",
    "app_user",
    "linuxbrew",
];
/// Shorter accounts of home folders are words too often to be taken out of everything.
const LEAST_ACCOUNT: usize = 6;
/// Passwords that are learned are at least as long, and no plain words.
const LEAST_SECRET: usize = 6;

/// A name that is private.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    what: What,
    stands: Stands,
}

/// Where a name counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Where no longer word goes on.
    Alone,
    /// Between the separators of a path, and before `@`.
    InPaths,
    /// Wherever it is.
    Anywhere,
}

/// What is private in texts.
///
/// Home folders (`/home/ada/x.py` becomes `~/x.py`), addresses and secrets are always found; names of machines, people
/// and other home folders are known because somebody says so.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// Longest first, so that `vm.lab` goes before `vm`.
    names: Vec<Name>,
    /// Domains of machines that are known: `lab.example`.
    domains: Vec<String>,
    /// What finds machines of these domains, and what may be a name in base64; made anew where a name is added.
    neighbors: OnceLock<Option<Regex>>,
    cores: OnceLock<Vec<Regex>>,
}

impl Words {
    /// The names of a machine and its user; an empty one is none.
    pub fn of(home: &str, user: &str, host: &str) -> Words {
        let home = home.trim_end_matches('/');
        let mut words = Words::default();
        words.add(home, What::HomeFolder);
        words.add_host(host);
        words.add_user(user);
        words.add_user(home.rsplit('/').next().unwrap_or_default());
        words
    }

    /// Learns the name of a machine, with and without its domain.
    pub fn add_host(&mut self, host: &str) {
        self.add(host, What::HostName);
        if host.parse::<IpAddr>().is_ok() {
            return;
        }
        let (name, domain) = host.split_once('.').unwrap_or((host, ""));
        self.add(name, What::HostName);
        // A single word such as `local` or `internal` is a domain of everybody's.
        let is_of_somebody = domain.contains('.') && domain.split('.').all(|part| !part.is_empty());
        if is_of_somebody && !self.domains.iter().any(|known| known == domain) {
            self.domains.push(domain.to_owned());
            self.neighbors = OnceLock::new();
        }
    }

    /// Learns the name of an account.
    pub fn add_user(&mut self, user: &str) {
        self.add(user, What::UserName);
    }

    /// Learns what the file `name` of a capture says of the machine: tools call theirs `HOST.xplane.pb` and
    /// `HOST_PID.TIME.pt.trace.json`.
    pub fn add_file_name(&mut self, name: &str) {
        let xplane = name.strip_suffix(".xplane.pb");
        let torch = || {
            let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".pt.trace.json")?;
            let (host, rest) = stem.rsplit_once('_')?;
            rest.split('.').all(|part| part.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
        };
        if let Some(host) = xplane.or_else(torch) {
            self.learn(What::HostName, host);
        }
    }

    /// Learns `value`, which a capture calls the name of a machine or account, or a secret, if it is a plain name and no common
    /// word.
    ///
    /// An account on a machine, `ada@vm7`, is both.
    pub(crate) fn learn(&mut self, what: What, value: &str) {
        let value = value.trim();
        if what == What::Secret {
            return self.learn_secret(value);
        }
        if let Some((user, host)) = value.split_once('@') {
            self.learn(What::UserName, user);
            return self.learn(What::HostName, host);
        }
        if let Some((domain, user)) = value.split_once('\\').filter(|_| what == What::UserName) {
            self.learn(What::HostName, domain);
            return self.learn(What::UserName, user);
        }
        let is_person = what == What::UserName && is_full_name(value);
        let is_plain = value.chars().all(|c| c.is_alphanumeric() || "-._".contains(c));
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if value.len() < LEAST_LEARNED || !is_plain && !is_person || is_number {
            return;
        }
        match what {
            What::HostName => self.add_host(value),
            What::UserName => self.add_user(value),
            _ => {}
        }
    }

    /// Learns an account by its home folder; one that may be a word of other texts counts in paths alone.
    pub(crate) fn learn_account(&mut self, account: &str) {
        let is_marked = account.contains(|c: char| c.is_ascii_digit() || "-._".contains(c));
        let is_word = COMMON_ACCOUNTS.iter().any(|word| account.eq_ignore_ascii_case(word));
        let is_plain = account.chars().all(|c| c.is_alphanumeric() || "-._".contains(c));
        if account.len() < LEAST_LEARNED || is_word || !is_plain || account.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let is_sure = is_marked || account.len() >= LEAST_ACCOUNT;
        self.add_where(account, What::UserName, if is_sure { Stands::Alone } else { Stands::InPaths });
    }

    /// Learns a secret that is no word: it has digits or marks beside letters, or is long.
    fn learn_secret(&mut self, secret: &str) {
        let has_letter = secret.bytes().any(|byte| byte.is_ascii_alphabetic());
        let has_other = secret.bytes().any(|byte| !byte.is_ascii_alphabetic());
        let is_one = secret.len() >= LEAST_SECRET && has_letter && has_other && !secret.contains(char::is_whitespace);
        // What stands for one, and names of settings, are none.
        let is_named = secret.starts_with(['<', '$', '%', '{', '/', '-']) || secret.contains(['(', '[']);
        let is_setting = secret.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let is_lower = secret.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-.".contains(&byte));
        if is_one && !is_named && !is_setting && !is_lower {
            self.add_where(secret, What::Secret, Stands::Anywhere);
        }
    }

    fn add(&mut self, text: &str, what: What) {
        self.add_where(text, what, Stands::Alone);
    }

    fn add_where(&mut self, text: &str, what: What, stands: Stands) {
        let is_common = COMMON.iter().any(|common| text.eq_ignore_ascii_case(common));
        if !(LEAST_NAME..=MOST_NAME).contains(&text.len()) || is_common {
            return;
        }
        if let Some(known) = self.names.iter_mut().find(|name| name.text == text) {
            if known.stands == Stands::InPaths {
                known.stands = stands;
            }
            return;
        }
        let mut forms = vec![text.to_owned()];
        // As names of modules and symbols have it, where all but letters, digits and `_` becomes `_`.
        if stands != Stands::Anywhere {
            forms.push(text.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect());
        }
        // Names of machines are the same in any case.
        if what == What::HostName {
            forms.extend([text.to_ascii_lowercase(), text.to_ascii_uppercase()]);
        }
        for form in forms {
            if !self.names.iter().any(|name| name.text == form) {
                self.names.push(Name { text: form, what, stands });
            }
        }
        self.names.sort_by_key(|name| std::cmp::Reverse(name.text.len()));
        self.cores = OnceLock::new();
    }

    /// What finds machines of the domains that are known; `None` where none is.
    pub(crate) fn neighbors_pattern(&self) -> Option<String> {
        let domains: Vec<String> = self.domains.iter().map(|domain| regex::escape(domain)).collect();
        (!domains.is_empty())
            .then(|| format!(r"(?i-u:[0-9a-z][0-9a-z-]*(?:\.[0-9a-z-]+)*?\.(?:{}))(?-u:\b)", domains.join("|")))
    }

    /// Whether a name is in `text` as base64 or hexadecimal digits have it.
    fn has_core(&self, text: &str) -> bool {
        let cores = self.cores.get_or_init(|| {
            let mut patterns = vec![String::new()];
            for core in self.core_texts() {
                match patterns.last_mut() {
                    Some(last) if last.is_empty() => *last = core,
                    Some(last) if last.len() + core.len() < MOST_OF_CORES => *last += &format!("|{core}"),
                    _ => patterns.push(core),
                }
            }
            let built = patterns.iter().map(|pattern| RegexBuilder::new(pattern).size_limit(LARGEST).build());
            built.map(|built| built.expect("letters, digits and `+/-_`, escaped, of bounded length")).collect()
        });
        cores.iter().any(|pattern| pattern.is_match(text))
    }

    fn core_texts(&self) -> Vec<String> {
        let cores = self.names.iter().filter(|name| name.stands != Stands::InPaths);
        let cores = cores.flat_map(|name| encoded::cores(&name.text)).chain(encoded::common_cores());
        cores.map(|core| regex::escape(&core)).collect()
    }

    /// [`Words::clean`] of a plain text in a context.
    pub(crate) fn clean_in<'a>(&self, text: &'a str, context: Context, removed: &mut Removed) -> Cow<'a, str> {
        self.replaced(text, context, Replace::Word, removed).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// `text` with each private part as stars, as many bytes as before; `None` where nothing is private.
    pub(crate) fn masked(&self, text: &str, removed: &mut Removed) -> Option<String> {
        self.replaced(text, Context::Any, Replace::Letters, removed)
    }

    /// `text` without what is private; `None` where nothing is.
    fn replaced(&self, text: &str, context: Context, replace: Replace, removed: &mut Removed) -> Option<String> {
        let mut clean: Option<String> = None;
        // What stood in a longer word may stand alone once its neighbor is gone.
        for _ in 0..MAX_ROUNDS {
            let now = clean.as_deref().unwrap_or(text);
            let found = self.found(now, context);
            if found.is_empty() {
                break;
            }
            clean = Some(replaced(now, found, replace, removed));
        }
        clean
    }

    fn found(&self, text: &str, context: Context) -> Vec<Found> {
        let mut found = self.found_plainly(text, context);
        if let Some(unescaped) = encoded::unescaped(text) {
            let inside = self.found_plainly(&unescaped.text, context).into_iter();
            found.extend(inside.map(|part| Found { place: unescaped.origin(&part.place), what: part.what }));
        }
        if encoded::may_be_in(text) || self.has_core(text) {
            let private = |inner: &str| self.found_plainly(inner, context).first().map(|part| part.what);
            found.extend(encoded::find(text, &private).into_iter().map(|(place, what)| Found { place, what }));
        }
        found
    }

    fn found_plainly(&self, text: &str, context: Context) -> Vec<Found> {
        let mut found = Vec::new();
        self.names.iter().for_each(|name| find_name(text, name, &mut found));
        if !self.domains.is_empty() {
            let pattern = || {
                self.neighbors_pattern()
                    .and_then(|pattern| RegexBuilder::new(&pattern).size_limit(LARGEST).build().ok())
            };
            let hosts = self.neighbors.get_or_init(pattern).iter().flat_map(|pattern| pattern.find_iter(text));
            found.extend(hosts.map(|host| Found { place: host.range(), what: What::HostName }));
        }
        logins_of(text, &mut found);
        shapes::find(text, context, &mut found);
        accounts::find(text, &mut found);
        services::find(text, &mut found);
        named::find(text, &mut found);
        found
    }

    /// Whether `bytes` of no known structure hold something private: as they are, in wide letters, or packed.
    pub(crate) fn found_in_bytes(&self, bytes: &[u8]) -> Option<What> {
        let first = |text: &str| self.found(text, Context::Any).first().map(|part| part.what);
        let unpacked = encoded::unpacked(bytes);
        let bytes = unpacked.as_deref().unwrap_or(bytes);
        first(&String::from_utf8_lossy(bytes)).or_else(|| first(&encoded::narrowed(bytes)?))
    }

    /// What every private text has somewhere in it.
    pub(crate) fn needles(&self) -> Needles {
        let names = self.names.iter().map(|name| regex::escape(&name.text)).chain(self.core_texts());
        let domains = self.domains.iter().map(|domain| format!("(?i-u:{})", regex::escape(domain)));
        Needles::new(names.chain(domains))
    }
}

/// Takes in the other half of an account on a machine, one of which was found: `bob.smith@vm7`.
fn logins_of(text: &str, found: &mut Vec<Found>) {
    const MARKS: &str = "._+-";
    let is_of_name = |c: char| c.is_alphanumeric() || MARKS.contains(c);
    let mut halves = Vec::new();
    for Found { place, what } in found.iter().filter(|part| matches!(part.what, What::HostName | What::UserName)) {
        // The whole of the name on this side, of which a part is known.
        let start = text[..place.start].trim_end_matches(is_of_name).len();
        let end = text.len() - text[place.end..].trim_start_matches(is_of_name).len();
        let (user, host) = if text[end..].starts_with('@') {
            let host = text[end + 1..].trim_start_matches(is_of_name);
            (start..end, end + 1..text.len() - host.len())
        } else if text[..start].ends_with('@') && *what == What::HostName {
            (text[..start - 1].trim_end_matches(is_of_name).len()..start - 1, start..end)
        } else {
            continue;
        };
        halves.push(Found { place: user, what: What::UserName });
        halves.push(Found { place: host, what: What::HostName });
    }
    found.extend(halves.into_iter().filter(|half| !half.place.is_empty()));
}

/// Finds `name` where it stands alone: not inside a longer word.
///
/// `vm7_123` and `job_vm7` are of the machine `vm7`, `vm_allocator` is not of `vm`: only a number, or a name that is no common
/// word because it has a digit or a mark itself, ends at `_`; so does the path of a home that became part of a symbol.
fn find_name(text: &str, name: &Name, found: &mut Vec<Found>) {
    let is_marked = name.text.contains(|c: char| c.is_ascii_digit() || "-._".contains(c));
    let goes_on = |c: Option<char>, beyond: Option<char>| match c {
        Some('_') => !is_marked && !beyond.is_some_and(|c| c.is_ascii_digit()),
        c => c.is_some_and(char::is_alphanumeric),
    };
    for (start, _) in text.match_indices(&name.text) {
        let end = start + name.text.len();
        let stands = match name.stands {
            Stands::Anywhere => Some(true),
            Stands::InPaths => Some(is_in_path(&text[..start], &text[end..])),
            Stands::Alone => None,
        };
        if let Some(counts) = stands {
            if counts {
                found.push(Found { place: start..end, what: name.what });
            }
            continue;
        }
        let (mut back, mut ahead) = (text[..start].chars().rev(), text[end..].chars());
        // A path may follow anything.
        let is_path = name.what == What::HomeFolder;
        let begins = is_path || !goes_on(back.next(), back.next()) || follows_home(&text[..start]);
        if begins && !goes_on(ahead.next(), ahead.next()) {
            found.push(Found { place: start..end, what: name.what });
        }
    }
}

/// Whether a name between these texts is a part of a path, or of an account on a machine.
fn is_in_path(before: &str, behind: &str) -> bool {
    let is_separator = |c: char| matches!(c, '/' | '\\' | '~');
    let ends = behind.chars().next().is_none_or(|c| !c.is_alphanumeric() && !"._-".contains(c));
    let begins = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"._-".contains(c));
    before.ends_with(is_separator) && ends || behind.starts_with('@') && begins
}

/// Whether `text` is the name of a person as people write it: `Ada King Lovelace`.
fn is_full_name(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(char::is_uppercase) && word.chars().all(|c| c.is_alphabetic() || "-'.".contains(c))
    };
    (2..=4).contains(&text.split(' ').count()) && text.split(' ').all(is_word)
}

/// Whether `text` ends as the path before a home does where it became part of a symbol: `jit__home_`.
fn follows_home(text: &str) -> bool {
    ["_home_", "_Users_", "_users_", "_homes_"].iter().any(|folder| text.ends_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn clean(words: &Words, text: &str) -> String {
        words.clean(text, &mut Removed::default()).into_owned()
    }

    /// What each line becomes, where it changes.
    fn changed(text: &str) -> String {
        let words = Words::default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| clean(&words, line) + "\n").collect()
    }

    #[test]
    fn names_leave_texts_where_they_stand_alone() {
        let words = Words::of("/home/ada", "ada", "vm.lab.example");
        expect!["~/x.py, ~/x, /scratch/<user>/y, llvm on <host>, <host>! vm_allocator, <host>_12"].assert_eq(&clean(
            &words,
            "/home/ada/x.py, /home/adams/x, /scratch/ada/y, llvm on vm, vm.lab.example! vm_allocator, vm_12",
        ));
    }

    #[test]
    fn many_and_long_names_are_looked_for() {
        let mut words = Words::default();
        (0..3000).for_each(|number| words.add(&format!("machine-number-{number}"), What::UserName));
        words.add(&"x".repeat(1 << 20), What::UserName);
        let packed: String = "machine-number-2999".bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(words.has_core(&packed) && !words.has_core("of no machine"));
        assert!(words.needles().found_in(b"on machine-number-7"));
    }

    #[test]
    fn names_leave_symbols_that_were_made_of_paths() {
        let words = Words::of("/home/ada", "ada", "vm.lab.example");
        expect!["jit_~_train, jit_~ jit__lambda_ jit__scratch_ada_f jit__Users_<user>_f _home_adams_f"].assert_eq(
            &clean(
                &words,
                "jit__home_ada_train, jit__home_ada jit__lambda_ jit__scratch_ada_f jit__Users_ada_f _home_adams_f",
            ),
        );
        // By shape, where nobody said who it is.
        expect!["jit__home_<user>_train jit_home_page _home_base"]
            .assert_eq(&clean(&Words::default(), "jit__home_grace_train jit_home_page _home_base"));
    }

    #[test]
    fn accounts_on_machines_leave_whole() {
        let mut words = Words::default();
        words.learn(What::UserName, "bob.smith@vm7.lab");
        expect!["<user>@<host> <email>: <user> on <host>, <user>@<host>, f@main <user>@<host> jit_<user>_f"].assert_eq(
            &clean(
                &words,
                "bob.smith@vm7 bob.smith@vm7.lab: bob.smith on vm7, bob.smith@other, f@main eve.x@vm7 jit_bob_smith_f",
            ),
        );
        let words = Words::of("", "bob", "");
        expect!["<user>@<host> for <user>"].assert_eq(&clean(&words, "bob.smith@box1 for bob"));
    }

    #[test]
    fn numbers_and_common_words_are_not_learned() {
        let mut words = Words::default();
        for name in ["127.0.0.1", "127", "gpu", "a b", "x", "vm7.lab"] {
            words.learn(What::HostName, name);
        }
        expect!["127 of 127.0.0.1 on gpu x <host>"].assert_eq(&clean(&words, "127 of 127.0.0.1 on gpu x vm7"));
    }

    #[test]
    fn file_names_tell_machines() {
        for (name, expected) in [
            ("vm7_123.456.pt.trace.json", "on <host>, <host>_1"),
            ("vm7_123.456.pt.trace.json.gz", "on <host>, <host>_1"),
            ("vm7.xplane.pb", "on <host>, <host>_1"),
            ("my_model.pt.trace.json", "on vm7, vm7_1"),
        ] {
            let mut words = Words::default();
            words.add_file_name(name);
            assert_eq!(clean(&words, "on vm7, vm7_1"), expected, "{name}");
        }
    }

    #[test]
    fn homes_are_found_by_shape() {
        expect![[r#"
            ~/a.py(3): f; ~/x; ~/y; /root; ~/z
            file:%2F~%2Fx.py and ~\/y
            ~/x ~/x ~/x ~/y
            ~\x.py ~\\y ~/z \\<host>\projects\x \\<host>~\x
            ~ and ~, see ~ and others
            lib/users/models.py, /chroot/x, a homes b, Users/x, a\\nb\\c
        "#]]
        .assert_eq(&changed(HOMES));
    }

    const HOMES: &str = r#"
        /home/u1/a.py(3): f; /Users/Grace Hopper/x; /root/y; /root; /nfs/home/ada/z
        file:%2F%2Fhome%2Fada%2Fx.py and \/home\/ada\/y
        /global/u1/a/ada/x /global/homes/a/ada/x /afs/lab.example/user/a/ada/x /users/ada/y
        C:\Users\ada\x.py C:\\Users\\Grace Hopper\\y c:/users/ada/z \\fs7\projects\x \\fs7\home\ada\x
        /home/ada and /home/bob, see /Users/ada and others
        lib/users/models.py, /chroot/x, a homes b, Users/x, a\\nb\\c
    "#;

    #[test]
    fn secrets_are_found_by_shape_and_by_name() {
        expect![[r#"
            <redacted> hf_abcdefghijklmnopqrstuvwxyzabcdefgh hf_AutoModelForCausalLM
            Bearer <redacted>; shelf_x sk-learn-pipeline-of-transformers ASIAN languages
            Authorization: Bearer <redacted> and -H 'Authorization: Basic <redacted>'
            <redacted> <redacted>
            <redacted> then
            postgres://<redacted>/x ssh://<user>@vm/x git+ssh://git@host/x https://<redacted>@h
            python t.py --password=<redacted> --password <redacted> --hf-token <redacted> --api-key "<redacted>" -n 3
            WANDB_API_KEY=<redacted> PGPASSWORD='<redacted>' HOSTNAME=<host> USER=<user> A=b
            {"password":<redacted>, "apiKey": "<redacted>", "num_tokens": 512, "eos_token": "</s>", "hostname": "<host>" oops
            backend_config={\"apiKey\":\"<redacted>\",\"n\":1}, frontend_attributes={secret_key="<redacted>",n="1"}
            https://x/y?access_token=<redacted>&n=1 password: <redacted>
            token.5 = token[] after-all(), token:AbstractToken[] = create_token, num_tokens=128, max_tokens: 5
            std::secret::f secret==x tokenizer=fast password = getpass() user_annotation: x host_wait=1 user=3
        "#]].assert_eq(&changed(SECRETS));
    }

    const SECRETS: &str = r#"
        hf_abcdefghijklmnopqrstuvwxyzABCDEFGH hf_abcdefghijklmnopqrstuvwxyzabcdefgh hf_AutoModelForCausalLM
        Bearer hf_abcdefghijklmnop0123; shelf_x sk-learn-pipeline-of-transformers ASIAN languages
        Authorization: Bearer abc.def-123456 and -H 'Authorization: Basic dXNlcjpwYXNz'
        eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123-_ AKIAIOSFODNN7EXAMPLE
        -----BEGIN RSA PRIVATE KEY----- MIIEow== -----END RSA PRIVATE KEY----- then
        postgres://ada:pw@db.lab/x ssh://ada@vm/x git+ssh://git@host/x https://u:p%40ss@h
        python t.py --password=x1 --password x2 --hf-token abc --api-key "k 1" -n 3
        WANDB_API_KEY=abc123 PGPASSWORD='x y' HOSTNAME=vm7 USER=ada A=b
        {"password":12345, "apiKey": "x", "num_tokens": 512, "eos_token": "</s>", "hostname": "vm7" oops
        backend_config={\"apiKey\":\"x\",\"n\":1}, frontend_attributes={secret_key="x",n="1"}
        https://x/y?access_token=abc&n=1 password: hunter2
        token.5 = token[] after-all(), token:AbstractToken[] = create_token, num_tokens=128, max_tokens: 5
        std::secret::f secret==x tokenizer=fast password = getpass() user_annotation: x host_wait=1 user=3
    "#;

    #[test]
    fn addresses_are_no_versions() {
        expect![[r#"
            connect <address>:8080, http://<address>/x, peer=<address>. [<address>]:80 <address> <address>
            127.0.0.1 0.0.0.0 255.255.255.255 ::1 localhost
            libcudnn.so.9.1.0.70 nvidia-curand-cu12==10.3.5.147 cu12-12.4.5.8.dist-info cuDNN 9.1.0.70 version 10.0.1.6 v8.9.2.26
            2.21.5.1+cuda 1.2.3.4.5 999.1.1.1 dot.1.2.3.4 12:34:56 2024:11:15 96.00.74.00.1A
            at::add face::add c10::de dead::beef std::fab 2d::fe
            <email>, <email>; memcpy@GLIBC_2.14 f@main.cc call @f.b x@y.z(1) @main
        "#]].assert_eq(&changed(ADDRESSES));
    }

    const ADDRESSES: &str = r#"
        connect 10.0.3.7:8080, http://192.168.1.5/x, peer=8.9.10.11. [2001:db8::1]:80 fe80::1ff:fe23:4567:890a fd12:3456::9
        127.0.0.1 0.0.0.0 255.255.255.255 ::1 localhost
        libcudnn.so.9.1.0.70 nvidia-curand-cu12==10.3.5.147 cu12-12.4.5.8.dist-info cuDNN 9.1.0.70 version 10.0.1.6 v8.9.2.26
        2.21.5.1+cuda 1.2.3.4.5 999.1.1.1 dot.1.2.3.4 12:34:56 2024:11:15 96.00.74.00.1A
        at::add face::add c10::de dead::beef std::fab 2d::fe
        ada@lab.example, ada.l%40mail.lab.org; memcpy@GLIBC_2.14 f@main.cc call @f.b x@y.z(1) @main
    "#;

    #[test]
    fn the_superuser_is_a_common_word() {
        let words = Words::of("/root", "root", "localhost");
        expect!["~/x, the root of localhost"].assert_eq(&clean(&words, "/root/x, the root of localhost"));
    }

    #[test]
    fn what_is_clean_stays_clean() {
        for text in [HOMES, SECRETS, ADDRESSES] {
            let once = changed(text);
            assert_eq!(changed(&once), once);
        }
    }

    #[test]
    fn masks_are_as_long_as_what_they_hide() {
        let words = Words::of("/home/zoë", "zoë", "vm.lab");
        let text = "/home/zoë/x.py by zoë on vm.lab, /home/u/y, hf_abcdefghijklmnop0123";
        let masked = words.masked(text, &mut Removed::default()).expect("it says much");
        expect!["/****/****/x.py by **** on ******, /****/*/y, ***********************"].assert_eq(&masked);
        assert_eq!(masked.len(), text.len());
        assert_eq!(words.masked(&masked, &mut Removed::default()), None);
        assert_eq!(words.masked("aten::mm", &mut Removed::default()), None);
    }

    #[test]
    fn what_is_not_private_is_lent_back() {
        assert!(matches!(Words::default().clean("aten::mm", &mut Removed::default()), Cow::Borrowed(_)));
    }
}
