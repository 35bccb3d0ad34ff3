//! Private words in texts: names that are known, home folders by their shape, tokens by theirs.

use crate::needles::Needles;
use crate::removed::{Removed, What};
use crate::secrets::{GONE, SECRET_PREFIXES, token_length};
use std::borrow::Cow;

/// Folders whose entries are named for people: Linux, macOS, clusters.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// The superuser's home.
const ROOT_HOME: &str = "/root/";
/// Shorter names are found inside too many other words.
const LEAST_NAME: usize = 2;

/// A name that is private, and what stands for it.
#[derive(Debug, Clone)]
struct Name {
    text: String,
    stand_in: &'static str,
    what: What,
}

/// How a private part is replaced.
#[derive(Debug, Clone, Copy)]
enum Replace {
    /// By a word that says what it was.
    Word,
    /// Letter by letter: the text stays as long, in bytes, and paths keep their shape.
    Letters,
}

impl Replace {
    fn put(self, private: &str, stand_in: &str, out: &mut String) {
        match self {
            Replace::Word => out.push_str(stand_in),
            Replace::Letters => out.extend(private.bytes().map(|byte| if byte == b'/' { '/' } else { '*' })),
        }
    }
}

/// What is private in texts.
///
/// Home folders (`/home/ada/x.py` becomes `~/x.py`) and tokens of well-known services are always found; names of machines, people
/// and other home folders are known because somebody says so.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// Longest first, so that `vm.lab` goes before `vm`.
    names: Vec<Name>,
}

impl Words {
    /// The names of a machine and its user; an empty one is none.
    pub fn of(home: &str, user: &str, host: &str) -> Words {
        let home = home.trim_end_matches('/');
        let mut words = Words::default();
        words.add(home, "~", What::HomeFolder);
        words.add_host(host);
        words.add_user(user);
        words.add_user(home.rsplit('/').next().unwrap_or_default());
        words
    }

    /// Learns the name of a machine, with and without its domain.
    pub fn add_host(&mut self, host: &str) {
        self.add(host, "<host>", What::HostName);
        self.add(host.split('.').next().unwrap_or_default(), "<host>", What::HostName);
    }

    /// Learns the name of an account.
    pub fn add_user(&mut self, user: &str) {
        self.add(user, "<user>", What::UserName);
    }

    fn add(&mut self, text: &str, stand_in: &'static str, what: What) {
        // `root` says nothing about who it was, and is a common word.
        let is_common = text == "root" || text == "localhost";
        if text.len() < LEAST_NAME || is_common || self.names.iter().any(|name| name.text == text) {
            return;
        }
        self.names.push(Name { text: text.to_owned(), stand_in, what });
        self.names.sort_by_key(|name| std::cmp::Reverse(name.text.len()));
    }

    /// `text` without what is private, counted in `removed`.
    pub fn clean<'a>(&self, text: &'a str, removed: &mut Removed) -> Cow<'a, str> {
        self.replaced(text, Replace::Word, removed)
    }

    /// `text` with each private part as stars, as many bytes as before; `None` where nothing is private.
    pub(crate) fn masked(&self, text: &str, removed: &mut Removed) -> Option<String> {
        match self.replaced(text, Replace::Letters, removed) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => (masked != text).then_some(masked),
        }
    }

    fn replaced<'a>(&self, text: &'a str, replace: Replace, removed: &mut Removed) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for name in &self.names {
            if let Some(replaced) = replace_word(&clean, name, replace, removed) {
                clean = Cow::Owned(replaced);
            }
        }
        for step in [without_homes, without_tokens] {
            if let Some(replaced) = step(&clean, replace, removed) {
                clean = Cow::Owned(replaced);
            }
        }
        clean
    }

    /// [`Words::clean`] of bytes that should be UTF-8; what is not is replaced where anything private was found.
    pub(crate) fn clean_bytes(&self, bytes: &[u8], removed: &mut Removed) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        let clean = self.clean(&text, removed);
        (clean.as_bytes() != text.as_bytes()).then(|| clean.into_owned())
    }

    /// What every private text has somewhere in it.
    pub(crate) fn needles(&self) -> Needles {
        let names = self.names.iter().map(|name| name.text.as_str());
        Needles::new(names.chain(HOMES).chain([ROOT_HOME]).chain(SECRET_PREFIXES))
    }
}

/// Replaces `name` where it stands alone: not inside a longer word.
fn replace_word(text: &str, name: &Name, replace: Replace, removed: &mut Removed) -> Option<String> {
    let is_part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.contains(&name.text).then_some(())?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&name.text) {
        let (before, after) = (&rest[..at], &rest[at + name.text.len()..]);
        let begins_inside =
            !name.text.starts_with('/') && is_part_of_word(before.chars().next_back().or(out.chars().next_back()));
        let alone = !begins_inside && !is_part_of_word(after.chars().next());
        out.push_str(before);
        if alone {
            replace.put(&name.text, name.stand_in, &mut out);
            removed.add(name.what);
        } else {
            out.push_str(&name.text);
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// `/home/ada/x` → `~/x`, `/root/x` → `~/x`; a folder inside another (`/mnt/home/ada/x`) counts too.
fn without_homes(text: &str, replace: Replace, removed: &mut Removed) -> Option<String> {
    let begins = |rest: &str| HOMES.iter().chain([&ROOT_HOME]).filter_map(|home| rest.find(home)).min();
    begins(text)?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = begins(rest) {
        let (before, home) = rest.split_at(at);
        out.push_str(before);
        let prefix = HOMES.iter().find(|prefix| home.starts_with(**prefix)).map_or(ROOT_HOME.len() - 1, |prefix| {
            let user = &home[prefix.len()..];
            prefix.len() + user.find(|c: char| "/\\\"': ,;()".contains(c) || c.is_control()).unwrap_or(user.len())
        });
        replace.put(&home[..prefix], "~", &mut out);
        removed.add(What::HomeFolder);
        rest = &home[prefix..];
    }
    out.push_str(rest);
    Some(out)
}

fn without_tokens(text: &str, replace: Replace, removed: &mut Removed) -> Option<String> {
    let may_hold = |text: &str| SECRET_PREFIXES.iter().any(|prefix| text.contains(prefix));
    may_hold(text).then_some(())?;
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_inside_word) = (text, false);
    while let Some(first) = rest.chars().next() {
        let length = if is_inside_word { 0 } else { token_length(rest) };
        if length > 0 {
            replace.put(&rest[..length], GONE, &mut out);
            removed.add(What::Secret);
            rest = &rest[length..];
        } else {
            out.push(first);
            is_inside_word = first.is_alphanumeric();
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn clean(words: &Words, text: &str) -> String {
        words.clean(text, &mut Removed::default()).into_owned()
    }

    #[test]
    fn names_leave_texts_where_they_stand_alone() {
        let words = Words::of("/home/ada", "ada", "vm.lab.example");
        expect!["~/x.py, ~/x, /scratch/<user>/y, llvm on <host>, <host>!"]
            .assert_eq(&clean(&words, "/home/ada/x.py, /home/adams/x, /scratch/ada/y, llvm on vm, vm.lab.example!"));
    }

    #[test]
    fn homes_and_tokens_are_found_by_shape() {
        let text =
            "/home/u1/a.py(3): f; /Users/Grace Hopper/x; /root/y; /root; Bearer hf_abcdefghijklmnop0123; shelf_x";
        expect!["~/a.py(3): f; ~ Hopper/x; ~/y; /root; Bearer <redacted>; shelf_x"]
            .assert_eq(&clean(&Words::default(), text));
    }

    #[test]
    fn the_superuser_is_a_common_word() {
        let words = Words::of("/root", "root", "localhost");
        expect!["~/x, the root of localhost"].assert_eq(&clean(&words, "/root/x, the root of localhost"));
    }

    #[test]
    fn masks_are_as_long_as_what_they_hide() {
        let words = Words::of("/home/zoë", "zoë", "vm.lab");
        let text = "/home/zoë/x.py by zoë on vm.lab, /home/u/y, hf_abcdefghijklmnop0123";
        let masked = words.masked(text, &mut Removed::default()).expect("it says much");
        expect!["/****/****/x.py by **** on ******, /****/*/y, ***********************"].assert_eq(&masked);
        assert_eq!(masked.len(), text.len());
        assert_eq!(words.masked("aten::mm", &mut Removed::default()), None);
    }

    #[test]
    fn what_is_not_private_is_lent_back() {
        assert!(matches!(Words::default().clean("aten::mm", &mut Removed::default()), Cow::Borrowed(_)));
    }
}
