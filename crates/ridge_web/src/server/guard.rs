//! Who may ask what: the page of this server alone, from the machine it is on.
//!
//! A page of somebody else's that is open in the same browser can send requests here. It cannot know the token; its
//! `Origin` is not ours; and where it makes its own name lead here (DNS rebinding), `Host` has that name.
//!
//! A copied address has no token. The browser that came in with it has a cookie, which counts below one path alone. Browsers
//! send cookies to every port of a host, but not to other paths; nobody else knows this one, so no other program that
//! listens here is sent it. A cookie goes with every request, whoever made it; a header that only a page of this origin can
//! add has to be there as well.

use crate::Refusal;
use std::net::IpAddr;

/// Where captures are opened.
const OPEN: &str = "/api/v1/open";
/// Where the token is changed for the cookie.
const ENTER: &str = "/api/v1/enter";
/// Name of the cookie.
const COOKIE: &str = "ridgeline";
/// Header that the page adds; a page of another origin cannot without asking first, and is not answered.
pub(super) const OWN_HEADER: &str = "ridgeline-page";
/// Letters of the path below which the cookie counts.
const PLACE_LETTERS: usize = 32;

/// What is decided by.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) token: String,
    /// What the cookie holds.
    pub(super) pass: String,
    /// Where the cookie counts: the first part of a path, as hard to guess as the token.
    pub(super) place: String,
    /// Whether only this machine can reach it.
    pub(super) is_loopback: bool,
}

/// What of a request counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked<'r> {
    pub(super) method: &'r str,
    pub(super) path: &'r str,
    pub(super) host: Option<&'r str>,
    pub(super) origin: Option<&'r str>,
    pub(super) site: Option<&'r str>,
    pub(super) authorization: Option<&'r str>,
    pub(super) cookie: Option<&'r str>,
    pub(super) is_own: bool,
}

/// What an admitted request wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wants {
    /// The page itself, which holds nothing of the capture.
    Page,
    /// The answer to an address.
    Answer(String),
    /// That a capture is opened beside the others.
    Open,
    /// The cookie, for a token.
    Enter,
}

impl Door {
    /// What `asked` wants, if it may have it.
    pub(super) fn admits(&self, asked: &Asked<'_>) -> Result<Wants, Refusal> {
        let refuse = |status, message: &str| Err(Refusal { status, message: message.to_owned(), hints: Vec::new() });
        let (is_at_place, path) = self.place_in(asked.path);
        let changes = asked.method == "POST" && matches!(path, OPEN | ENTER);
        if !changes && !matches!(asked.method, "GET" | "HEAD") {
            return refuse(405, "expected GET: nothing can be changed here");
        }
        let Some(host) = asked.host.filter(|host| self.is_ours(host)) else {
            return refuse(403, "expected the address that the program printed, found another host");
        };
        let is_foreign = asked.origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host))
            || asked.site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let Some(address) = path.strip_prefix("/api/v1/") else {
            return match path {
                // A link to the page may stand anywhere: the page holds nothing.
                "/" | "/index.html" => Ok(Wants::Page),
                _ if is_place(path) => Ok(Wants::Page),
                _ => refuse(404, "nothing is there"),
            };
        };
        if is_foreign {
            return refuse(403, "expected a question of this server's own page, found one of another");
        }
        let has_token = self.has_token(asked);
        let has_cookie = is_at_place && asked.is_own && asked.cookie.is_some_and(|cookie| self.has_pass(cookie));
        match (changes, path) {
            (true, ENTER) if has_token => Ok(Wants::Enter),
            (true, OPEN) if has_token || has_cookie => Ok(Wants::Open),
            (false, _) if has_token || has_cookie => Ok(Wants::Answer(address.to_owned())),
            _ => refuse(401, "expected the token; open the address that the program printed"),
        }
    }

    /// What lets the browser in from another tab, for the head `Set-Cookie`: gone with the browser's session, out of reach
    /// of scripts, left out of requests that another site makes.
    pub(super) fn cookie(&self) -> String {
        format!("{COOKIE}={}; Path=/{}/; HttpOnly; SameSite=Strict", self.pass, self.place)
    }

    /// Whether a path begins with the place of the cookie, and the rest of it.
    fn place_in<'r>(&self, path: &'r str) -> (bool, &'r str) {
        let rest = path.strip_prefix('/').and_then(|path| path.split_at_checked(self.place.len()));
        match rest {
            Some((place, rest)) if rest.starts_with('/') && is_same(place, &self.place) => (true, rest),
            _ => (false, path),
        }
    }

    fn has_token(&self, asked: &Asked<'_>) -> bool {
        let given = asked.authorization.and_then(|given| given.strip_prefix("Bearer "));
        given.is_some_and(|given| is_same(given, &self.token))
    }

    /// Others may have set cookies of that name for a shorter path: one that holds counts.
    fn has_pass(&self, cookies: &str) -> bool {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == COOKIE).any(|(_, value)| is_same(value, &self.pass))
    }

    /// A name in `Host` that nobody else can make lead here: `localhost`, or an address in numbers. Ports may differ, as
    /// they do behind a tunnel.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').map_or(rest, |(name, _)| name),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let address = name.parse::<IpAddr>();
        name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip| ip.is_loopback() || !self.is_loopback)
    }
}

/// Whether a path looks like the place of a server, perhaps of one that ended: its page says what to open.
fn is_place(path: &str) -> bool {
    let place = path.strip_prefix('/').and_then(|path| path.strip_suffix('/'));
    place.is_some_and(|place| place.len() == PLACE_LETTERS && place.bytes().all(|letter| letter.is_ascii_hexdigit()))
}

/// Whether both are the same, in a time that does not tell how much of them is.
fn is_same(one: &str, other: &str) -> bool {
    let differs = one.bytes().zip(other.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differs == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Asked<'_> = Asked {
        method: "GET",
        path: "/api/v1/capture",
        host: Some("127.0.0.1:8080"),
        origin: None,
        site: Some("same-origin"),
        authorization: Some("Bearer secret"),
        cookie: None,
        is_own: false,
    };

    fn door(is_loopback: bool) -> Door {
        Door { token: "secret".to_owned(), pass: "pass".to_owned(), place: "0123456789abcdef".repeat(2), is_loopback }
    }

    fn status(asked: &Asked<'_>, is_loopback: bool) -> u16 {
        door(is_loopback).admits(asked).map_or_else(|refusal| refusal.status, |_| 200)
    }

    #[test]
    fn the_page_of_this_server_alone_may_ask() {
        let own = Some("http://127.0.0.1:8080");
        for (why, asked, expected) in [
            ("as the page asks", GOOD, 200),
            ("with its own origin", Asked { origin: own, ..GOOD }, 200),
            ("through a tunnel", Asked { host: Some("localhost:9999"), ..GOOD }, 200),
            ("by the other family", Asked { host: Some("[::1]:8080"), ..GOOD }, 200),
            ("without a token", Asked { authorization: None, ..GOOD }, 401),
            ("with a wrong token", Asked { authorization: Some("Bearer secreT"), ..GOOD }, 401),
            ("with a part of it", Asked { authorization: Some("Bearer secre"), ..GOOD }, 401),
            ("with another scheme", Asked { authorization: Some("Basic secret"), ..GOOD }, 401),
            ("from another page", Asked { origin: Some("http://evil.example"), ..GOOD }, 403),
            ("from a file", Asked { origin: Some("null"), ..GOOD }, 403),
            ("from another site", Asked { site: Some("cross-site"), ..GOOD }, 403),
            ("by another name", Asked { host: Some("evil.example:8080"), ..GOOD }, 403),
            ("by a name like ours", Asked { host: Some("localhost.evil.example"), ..GOOD }, 403),
            ("by an address of another machine", Asked { host: Some("10.0.0.7:8080"), ..GOOD }, 403),
            ("without a host", Asked { host: None, ..GOOD }, 403),
            ("to change something", Asked { method: "POST", ..GOOD }, 405),
            ("to open a file", Asked { method: "POST", path: OPEN, origin: own, ..GOOD }, 200),
            ("to open a file without a token", Asked { method: "POST", path: OPEN, authorization: None, ..GOOD }, 401),
            (
                "to open a file from another page",
                Asked { method: "POST", path: OPEN, origin: Some("null"), ..GOOD },
                403,
            ),
            ("to open a file elsewhere", Asked { method: "POST", path: "/api/v1/open/x", ..GOOD }, 405),
            ("to delete something", Asked { method: "DELETE", ..GOOD }, 405),
            ("for a file", Asked { path: "/etc/passwd", ..GOOD }, 404),
            ("for a file above", Asked { path: "/../../etc/passwd", ..GOOD }, 404),
            ("for the page, from a link elsewhere", Asked { path: "/", site: Some("cross-site"), ..GOOD }, 200),
        ] {
            assert_eq!(status(&asked, true), expected, "{why}");
        }
        let elsewhere = Asked { host: Some("10.0.0.7:8080"), ..GOOD };
        assert_eq!(status(&elsewhere, false), 200, "where --bind opened it to other machines");
        assert_eq!(status(&Asked { host: Some("evil.example"), ..GOOD }, false), 403, "names never");
    }

    #[test]
    fn a_cookie_counts_at_its_place_with_the_header_of_the_page() {
        const HERE: &str = "/0123456789abcdef0123456789abcdef/api/v1/capture";
        let cookie = Some("other=1; ridgeline=wrong; ridgeline=pass");
        let good = Asked { path: HERE, authorization: None, cookie, is_own: true, ..GOOD };
        for (why, asked, expected) in [
            ("as another tab asks", good, 200),
            ("with the token", Asked { cookie: None, authorization: GOOD.authorization, ..good }, 200),
            ("by a page of another port, which cannot add the header", Asked { is_own: false, ..good }, 401),
            ("the same, as browsers tell it", Asked { site: Some("same-site"), ..good }, 403),
            ("from another page", Asked { origin: Some("http://127.0.0.1:9"), ..good }, 403),
            ("by another name", Asked { host: Some("evil.example"), ..good }, 403),
            ("with a wrong cookie", Asked { cookie: Some("ridgeline=pas"), ..good }, 401),
            ("with a cookie of another name", Asked { cookie: Some("xridgeline=pass"), ..good }, 401),
            ("without a cookie", Asked { cookie: None, ..good }, 401),
            ("elsewhere", Asked { path: "/api/v1/capture", ..good }, 401),
            ("at another place", Asked { path: "/0123456789abcdef0123456789abcdee/api/v1/capture", ..good }, 404),
            ("for the page there", Asked { path: "/0123456789abcdef0123456789abcdef/", ..good }, 200),
            ("for the page of a server that ended", Asked { path: "/ffffffffffffffffffffffffffffffff/", ..good }, 200),
            ("for a file there", Asked { path: "/0123456789abcdef0123456789abcdef/etc/passwd", ..good }, 404),
        ] {
            assert_eq!(status(&asked, true), expected, "{why}");
        }
        let enter = Asked { method: "POST", path: ENTER, ..GOOD };
        assert_eq!(door(true).admits(&enter).ok(), Some(Wants::Enter));
        let by_cookie = Asked { path: "/0123456789abcdef0123456789abcdef/api/v1/enter", method: "POST", ..good };
        assert_eq!(status(&by_cookie, true), 401, "a cookie is no way to a cookie");
    }
}
