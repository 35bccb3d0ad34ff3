//! What is private by its shape: homes, addresses, tokens, logins in URLs.
//!
//! Paths are looked for in the ways they are written: with `/`, as `\/` in JSON inside a text, percent-encoded in URLs.
//! Prefixes of tokens are those that the services publish for scanners of secrets.

use crate::accounts;
use crate::found::Found;
use crate::removed::What;
use core::net::{Ipv4Addr, Ipv6Addr};
use regex::{Match, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// What is known of the place that a text stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Context {
    /// Nothing.
    #[default]
    Any,
    /// A version, so that four numbers with dots are no address.
    Versions,
}

/// The beginnings of tokens; `.` counts as a part of some.
const TOKENS: &str = concat!(
    "(?:",
    "(?:hf_|gh[oprsu]_|github_pat_|glpat-|glrt-|sk-|[rs]k_(?:live|test)_|xox[abeoprs]-|xapp-|AIza|nvapi-|npm_|pypi-|gsk_|xai-|",
    "pplx-|dop_v1_|dckr_pat_|tskey-|shpat_|lin_api_|sntrys_|dapi|wandb_v1_)[0-9A-Za-z_-]{12,}",
    "|(?:SG\\.|hvs\\.|ya29\\.|eyJ[0-9A-Za-z_-]{8,}\\.eyJ)[0-9A-Za-z_.-]{12,}",
    "|(?:AKIA|ASIA)[0-9A-Z]{16}",
    "|-----BEGIN [0-9A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [0-9A-Z ]*PRIVATE KEY-----)?",
    ")"
);
/// Tokens are longer than words that begin like them.
const LEAST_TOKEN: usize = 20;

/// Between two parts of a path.
const SLASH: &str = r"(?:\\*/|%2[Ff])";
const BACKSLASH: &str = r"(?:[\\/]+|%5[Cc])";
/// The name of a home folder.
const NAME: &str = r#"[^%/\\"':;,()\[\]{}<>|&\x00-\x20]+"#;
/// Further words of one, where a path goes on behind them.
const MORE_NAMES: &str = r"(?:(?: [A-Z][0-9A-Za-z.-]*)+)?";

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file is sound")
}

static TOKEN: LazyLock<Regex> = LazyLock::new(|| compiled(TOKENS));
static BEARER: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?i-u:bearer)(?: +|%20|\+)[0-9A-Za-z._~+/=-]{12,}"));
/// `user:password@` behind the `://` of a URL.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| compiled(r#"://[^/\\"'<>?#\x00-\x20]*@"#));
static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"[0-9A-Za-z_.+-]+(?:@|%40)[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*\.[A-Za-z]{2,12}"));
static V4: LazyLock<Regex> = LazyLock::new(|| compiled(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"));
static V6: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"(?i-u:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9A-Fa-f:]*[0-9A-Fa-f:](?:[0-9.]*[0-9])?")
});
/// The share of a machine on Windows, `\\machine\share`.
static SHARE: LazyLock<Regex> = LazyLock::new(|| compiled(r"\\\\+[0-9A-Za-z][0-9A-Za-z.-]+\\+[0-9A-Za-z$_]"));
/// Homes on Linux, macOS and clusters, with the folders before them; NERSC's and AFS's, which are sorted by letters.
static HOME: LazyLock<Regex> = LazyLock::new(|| {
    let folders = format!("(?:{SLASH}[0-9A-Za-z_.+-]+)*");
    compiled(&format!(
        "{SLASH}global{SLASH}(?:homes|u[0-9]){SLASH}[a-z]{SLASH}{NAME}\
         |{SLASH}afs(?:{SLASH}[0-9A-Za-z_.+-]+)+?{SLASH}(?:users?|home){SLASH}(?:[a-z]{SLASH})?(?:[a-z]{{2}}{SLASH})?{NAME}\
         |{folders}{SLASH}Users{SLASH}{NAME}{MORE_NAMES}\
         |{folders}{SLASH}(?:home[0-9]{{0,3}}|homes){SLASH}{NAME}"
    ))
});
/// Homes on Windows.
static WINDOWS_HOME: LazyLock<Regex> = LazyLock::new(|| {
    let folder = "(?i-u:users|documents and settings|homes?)";
    compiled(&format!(
        r"[A-Za-z](?::|%3[Aa]){BACKSLASH}{folder}{BACKSLASH}{NAME}{MORE_NAMES}|\\+{folder}\\+{NAME}{MORE_NAMES}"
    ))
});
/// Homes that are such only at the beginning of a path.
static ROOT_HOME: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!("{SLASH}users{SLASH}{NAME}|{SLASH}root(?:{SLASH})")));

/// The home in a path that became part of a symbol, as in the names that JAX gives modules: `jit__home_ada_train`.
///
/// Two `_` before it are what the end of a word and the path's first `/` leave; `_home_page` is a name of its own.
static HOME_IN_SYMBOL: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"_(?:_home|_Users|_users|_homes)_([0-9A-Za-z.-]+)"));

/// Adds what is private in `text` by its shape.
pub(crate) fn find(text: &str, context: Context, found: &mut Vec<Found>) {
    homes(text, found);
    let in_symbols = HOME_IN_SYMBOL.captures_iter(text).filter_map(|found| found.get(1));
    found.extend(in_symbols.map(|name| Found { place: name.range(), what: What::UserName }));
    tokens(text, found);
    if text.contains('@') || text.contains("%40") {
        logins(text, found);
        emails(text, found);
    }
    addresses(text, context, found);
    if text.contains("\\\\") {
        shares(text, found);
    }
}

/// The names that `text` says by its shapes: accounts by their homes ([`What::HomeFolder`]), and what logins in URLs hold.
pub(crate) fn said(text: &str) -> Vec<(What, &str)> {
    let mut found = Vec::new();
    homes(text, &mut found);
    accounts::find(text, &mut found);
    let last = |place: Range<usize>| text[place].rsplit(['/', '\\']).next().unwrap_or_default();
    let accounts = found.into_iter().map(|part| last(part.place)).filter(|name| *name != "root" && !is_hidden(name));
    let mut said: Vec<(What, &str)> = accounts.map(|name| (What::HomeFolder, name)).collect();
    for login in LOGIN.find_iter(text) {
        let inner = &text[login.start() + 3..login.end() - 1];
        let (user, password) = inner.split_once(':').unwrap_or((inner, ""));
        let behind = &text[login.end()..];
        let host =
            &behind[..behind.find(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c)).unwrap_or(behind.len())];
        // The account of everybody is on machines of everybody.
        if user != "git" && !is_hidden(user) {
            said.extend([(What::UserName, user), (What::Secret, password), (What::HostName, host)]);
        }
    }
    said
}

fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

fn after(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

fn is_letter(letter: Option<char>) -> bool {
    letter.is_some_and(char::is_alphanumeric)
}

fn homes(text: &str, found: &mut Vec<Found>) {
    let mut add = |place| found.push(Found { place, what: What::HomeFolder });
    HOME.find_iter(text).for_each(|home| add(with_rest_of_name(text, home.range())));
    // A drive is one letter: `file:/home/x` is on none.
    let is_drive = |home: &Match<'_>| home.as_str().starts_with('\\') || !is_letter(before(text, home.start()));
    WINDOWS_HOME.find_iter(text).filter(is_drive).for_each(|home| add(with_rest_of_name(text, home.range())));
    for home in ROOT_HOME.find_iter(text) {
        let is_path_before = before(text, home.start()).is_some_and(|c| c.is_alphanumeric() || "-._~".contains(c));
        // The separator behind `/root` is no part of it.
        let root = home.as_str().find("root").filter(|_| !home.as_str().contains("users"));
        let end = root.map_or(home.end(), |at| home.start() + at + "root".len());
        if root.is_some() || !is_path_before {
            add(home.start()..end);
        }
    }
}

/// A name of several words is one only where the path goes on behind them.
fn with_rest_of_name(text: &str, home: Range<usize>) -> Range<usize> {
    let goes_on = matches!(after(text, home.end), Some('/' | '\\' | '%'));
    match text[home.clone()].find(' ').filter(|_| !goes_on && !text[home.clone()].contains("and Settings")) {
        Some(at) => home.start..home.start + at,
        None => home,
    }
}

/// Tokens have a digit: `sk-learn-pipeline-of-transformers` has none.
fn tokens(text: &str, found: &mut Vec<Found>) {
    let has_digit = |token: &str| token.bytes().any(|byte| byte.is_ascii_digit());
    for token in TOKEN.find_iter(text) {
        let is_key = token.as_str().starts_with("-----");
        let is_random = has_digit(token.as_str()) || is_of_letters(token.as_str());
        if is_key || token.len() >= LEAST_TOKEN && is_random && !is_letter(before(text, token.start())) {
            found.push(Found { place: token.range(), what: What::Secret });
        }
    }
    for bearer in BEARER.find_iter(text).filter(|bearer| has_digit(&bearer.as_str()["bearer+".len()..])) {
        let skipped = "bearer".len() + if bearer.as_str()[6..].starts_with('%') { 3 } else { 1 };
        found.push(Found { place: bearer.start() + skipped..bearer.end(), what: What::Secret });
    }
}

/// Whether `token` is one of those that are letters alone: Hugging Face's, 34 of them in both cases.
fn is_of_letters(token: &str) -> bool {
    const LETTERS: usize = 34;
    token.strip_prefix("hf_").is_some_and(|rest| {
        rest.len() == LETTERS
            && rest.bytes().all(|byte| byte.is_ascii_alphabetic())
            && rest.bytes().any(|byte| byte.is_ascii_uppercase())
            && rest.bytes().any(|byte| byte.is_ascii_lowercase())
    })
}

fn logins(text: &str, found: &mut Vec<Found>) {
    for login in LOGIN.find_iter(text) {
        let place = login.start() + 3..login.end() - 1;
        let inner = &text[place.clone()];
        let what = if inner.contains([':', '%']) { What::Secret } else { What::UserName };
        // The account of everybody says nothing.
        if !inner.is_empty() && inner != "git" && !is_hidden(inner) {
            found.push(Found { place, what });
        }
    }
}

/// Whether stars stand for `text` already.
pub(crate) fn is_hidden(text: &str) -> bool {
    text.bytes().all(|byte| b"*/ ".contains(&byte)) || What::ALL.iter().any(|what| text.starts_with(what.stand_in()))
}

fn emails(text: &str, found: &mut Vec<Found>) {
    /// Ends of files, where a symbol is named with the one it is in.
    const FILES: [&str; 13] = ["py", "cc", "cpp", "cu", "cuh", "so", "hpp", "rs", "json", "txt", "pb", "mlir", "hlo"];
    for email in EMAIL.find_iter(text) {
        let end = email.as_str().rsplit('.').next().unwrap_or_default();
        let goes_on = after(text, email.end()).is_some_and(|c| c.is_alphanumeric() || "_(".contains(c));
        if !goes_on && !FILES.contains(&end) {
            found.push(Found { place: email.range(), what: What::Email });
        }
    }
}

fn addresses(text: &str, context: Context, found: &mut Vec<Found>) {
    let mut add = |place| found.push(Found { place, what: What::Address });
    for v4 in V4.find_iter(text).filter(|_| context == Context::Any) {
        let address = v4.as_str().parse::<Ipv4Addr>();
        let is_one = address.is_ok_and(|ip| !ip.is_loopback() && !ip.is_unspecified() && !ip.is_broadcast());
        if is_one && stands_alone(text, v4.range()) && !follows_version(text, v4.start()) {
            add(v4.range());
        }
    }
    for v6 in V6.find_iter(text) {
        let address = v6.as_str().trim_end_matches(':').parse::<Ipv6Addr>();
        if address.is_ok() && !is_letter(before(text, v6.start())) && before(text, v6.start()) != Some(':') {
            add(v6.range());
        }
    }
}

/// Whether four numbers are no part of something longer: `libcudnn.so.9.1.0.70`, `cu12-12.4.5.8`, `==10.3.5.147`, `2.21.5.1+cuda`.
fn stands_alone(text: &str, place: Range<usize>) -> bool {
    let begins = before(text, place.start).is_none_or(|c| {
        !c.is_alphanumeric() && !"._-+=~".contains(c) || c == '=' && !text[..place.start].ends_with("==")
    });
    let rest = &text[place.end..];
    let ends = after(text, place.end).is_none_or(|c| !c.is_alphanumeric() && !"_+-".contains(c));
    let is_longer = rest.strip_prefix('.').is_some_and(|rest| is_letter(after(rest, 0)));
    begins && ends && !is_longer
}

/// Whether the words in front of `at` speak of a version.
fn follows_version(text: &str, at: usize) -> bool {
    const NEAR: usize = 24;
    const WORDS: [&str; 12] = [
        "version", "cuda", "cudnn", "nccl", "cublas", "driver", "release", "tensorrt", "rocm", "firmware", "build",
        " v",
    ];
    let start = (at.saturating_sub(NEAR)..=at).find(|start| text.is_char_boundary(*start)).unwrap_or(at);
    let near = text[start..at].to_ascii_lowercase();
    WORDS.iter().any(|word| near.contains(word))
}

fn shares(text: &str, found: &mut Vec<Found>) {
    for share in SHARE.find_iter(text) {
        let begins = before(text, share.start()).is_none_or(|c| c.is_whitespace() || "\"'=([,".contains(c));
        let machine = share.as_str().trim_start_matches('\\');
        let start = share.end() - machine.len();
        let length = machine.find('\\').unwrap_or(machine.len());
        if begins {
            found.push(Found { place: start..start + length, what: What::HostName });
        }
    }
}
