//! Whether bytes may hold anything private: the cheap question before the exact one.

use crate::named;
use regex::bytes::Regex;

/// What every text that is private by its shape has in it.
const SHAPES: &str = concat!(
    r"/home|/Users|/users|/root|/afs|/global|%2[Ff]|%40|%5[Cc]|\\\\|__home|__Users|__users",
    r"|[\\/][Uu]sers|[\\/]USERS|[\\/][Dd]ocuments|[\\/][Hh]ome",
    r"|[^ \t\r\n]@[0-9A-Za-z\[]",
    r"|[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
    r"|(?i-u:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9A-Fa-f:]",
    r"|hf_|gh[oprsu]_|github_pat_|glpat-|glrt-|sk-|[rs]k_(?:live|test)_|xox[abeoprs]-|xapp-|AIza|nvapi-|npm_|pypi-|gsk_|xai-",
    r"|pplx-|dop_v1_|dckr_pat_|tskey-|shpat_|lin_api_|sntrys_|dapi|wandb_v1_|SG\.|hvs\.|ya29\.|eyJ|AKIA|ASIA|-----BEGIN",
    r"|(?i-u:bearer)[ %+]|(?i-u:host_?name|user_?name|node_?name|fqdn)"
);

/// Texts to look for.
#[derive(Debug, Clone)]
pub(crate) struct Needles(Regex);

impl Needles {
    /// Looks for what is private by shape or name, and for any of `names`, none of them empty.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Needles {
        let names: String = names.into_iter().map(|name| regex::escape(name) + "|").collect();
        let pattern = format!("{names}{SHAPES}|{}", named::PARTS);
        Needles(Regex::new(&pattern).expect("names are escaped, and the patterns are sound"))
    }

    /// Whether any of them is in `bytes`.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }
}
