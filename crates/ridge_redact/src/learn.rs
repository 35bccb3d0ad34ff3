//! Names that a capture says in its texts: settings, logins, home folders, machines of a domain that is known.
//!
//! What stands under a key is for the reader of each format to hear; this is what any text may say, and so every format is
//! listened to as a whole before a word of it is passed on.

use crate::named;
use crate::needles::Needles;
use crate::removed::What;
use crate::shapes;
use crate::words::Words;
use regex::bytes::Regex;

/// Bytes of a text that are looked at around a place which may say a name, where it is not known where texts begin.
const MAX_TEXT: usize = 1 << 16;

/// Listens to texts.
#[derive(Debug)]
pub(crate) struct Listener<'a> {
    words: &'a mut Words,
    needles: &'static Needles,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(words: &'a mut Words) -> Listener<'a> {
        Listener { words, needles: Needles::sources() }
    }

    /// Whether `bytes` may say a name.
    pub(crate) fn may_say(&self, bytes: &[u8]) -> bool {
        self.needles.found_in(bytes)
    }

    /// Learns what `text` says.
    pub(crate) fn text(&mut self, text: &str) {
        let mut found = Vec::new();
        named::find(text, &mut found);
        for part in found {
            self.learn(part.what, &text[part.place]);
        }
        for (what, name) in shapes::said(text) {
            match what {
                What::HomeFolder => self.words.learn_account(name),
                what => self.learn(what, name),
            }
        }
    }

    /// The same of bytes, line by line.
    pub(crate) fn lines(&mut self, bytes: &[u8]) {
        for line in bytes.split(|&byte| byte == b'\n').flat_map(|line| line.chunks(MAX_TEXT)) {
            if self.may_say(line) {
                self.text(&String::from_utf8_lossy(line));
            }
        }
    }

    /// Learns a name that stands under a key which says what it is.
    pub(crate) fn learn(&mut self, what: What, name: &str) {
        self.words.learn(what, name);
    }
}

/// What shows each piece of a file to the function it is given.
pub(crate) type Pieces<'a> = dyn FnMut(&mut dyn FnMut(&[u8])) + 'a;

/// Learns the machines that `bytes`, in pieces, name with a domain that is known: `vm8.lab.example` beside `vm7.lab.example`.
pub(crate) fn neighbors(words: &mut Words, pieces: &mut Pieces<'_>) {
    let Some(pattern) = words.neighbors_pattern() else { return };
    let pattern = Regex::new(&pattern).expect("domains are escaped");
    let mut found: Vec<String> = Vec::new();
    pieces(&mut |bytes| {
        for host in pattern.find_iter(bytes) {
            let host = String::from_utf8_lossy(host.as_bytes()).into_owned();
            if !found.contains(&host) {
                found.push(host);
            }
        }
    });
    found.iter().for_each(|host| words.learn(What::HostName, host));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::removed::Removed;
    use expect_test::expect;

    #[test]
    fn texts_say_names_that_others_hold() {
        let mut words = Words::default();
        let mut listener = Listener::new(&mut words);
        listener.lines(b"HOSTNAME=vm7.lab.example\nssh://bob@vm9/x USER=ada\nin /home/grace_h/x and /home/max/y\n--password=hunter2!\n");
        neighbors(&mut words, &mut |piece| piece(b"peer vm8.lab.example:80"));
        expect!["<host> of <host>: no; <host> <host> <host> by <user>, <user>, <user>; pw <redacted>; reduce max, /data/<user>/x"]
            .assert_eq(
                &words.clean(
                    "vm7 of gpu1.lab.example: no; vm7 vm8 VM7 by ada, bob, grace_h; pw hunter2!; reduce max, /data/max/x",
                    &mut Removed::default(),
                ),
            );
    }
}
