//! Whether bytes may hold anything private: the cheap question before the exact one.

use crate::encoded;
use crate::named;
use crate::services;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::LazyLock;

/// Bytes that a pattern of many names may take: there may be thousands of machines.
pub(crate) const LARGEST: usize = 256 << 20;

/// What every text that is private by its shape has in it.
const SHAPES: &str = concat!(
    r"/home|/Users|/users|/root|/afs|/global|%2[Ff]|%40|%5[Cc]|\\\\|__home|__Users|__users",
    r"|[\\/][Uu]sers|[\\/]USERS|[\\/][Dd]ocuments|[\\/][Hh]ome",
    r"|[^ \t\r\n]@[0-9A-Za-z\[]",
    r"|[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
    r"|(?i-u:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9A-Fa-f:]",
    r"|hf_|gh[oprsu]_|github_pat_|glpat-|glrt-|sk-|[rs]k_(?:live|test)_|xox[abeoprs]-|xapp-|AIza|nvapi-|npm_|pypi-|gsk_|xai-",
    r"|pplx-|dop_v1_|dckr_pat_|tskey-|shpat_|lin_api_|sntrys_|dapi|wandb_v1_|SG\.|hvs\.|ya29\.|eyJ|AKIA|ASIA|-----BEGIN",
    r"|(?i-u:bearer)[ %+]|(?i-u:host_?name|user_?name|node_?name|fqdn)",
    // Escapes, and how gzip and zlib begin.
    r"|%[2-7][0-9A-Fa-f]|\\u00[2-7]|\\x[2-7]|&#|&sol;|&commat;|(?-u:\x1f\x8b\x08)|(?-u:\x78[\x9c\xda])"
);
/// What says names: settings, logins, homes.
const SOURCES: &str = concat!(
    r"/home|/Users|/users|/homes|%2[Ff]|[\\/][Uu]sers|[\\/]USERS|[\\/][Dd]ocuments|://[^/ ]*@|passw|api[_-]?key|secret|[a-z]@[a-z]",
    r#"|(?i-u:host|user|login|node|computer|machine|logname|account|fqdn)[a-zA-Z_]*\\*["']?[ ]*[=:]"#
);

/// Texts to look for; `None` where there are too many for a pattern, and anything may hold one.
#[derive(Debug, Clone)]
pub(crate) struct Needles(Option<Regex>);

impl Needles {
    /// Looks for what is private by shape or name, and for any of `names`, which are patterns, none of them empty.
    pub(crate) fn new(names: impl IntoIterator<Item = String>) -> Needles {
        let names: String = names.into_iter().map(|name| name + "|").collect();
        let pattern = format!("{names}{SHAPES}|{}|{}|{}", encoded::PACKED, services::PARTS, named::PARTS);
        Needles(RegexBuilder::new(&pattern).size_limit(LARGEST).dfa_size_limit(LARGEST).build().ok())
    }

    /// Looks for what may say the name of a machine or account, or a secret that others repeat.
    pub(crate) fn sources() -> &'static Needles {
        static MADE: LazyLock<Needles> = LazyLock::new(|| Needles(Some(Regex::new(SOURCES).expect("a sound pattern"))));
        &MADE
    }

    /// Whether any of them is in `bytes`.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> bool {
        self.0.as_ref().is_none_or(|pattern| pattern.is_match(bytes))
    }
}
