//! Who may ask what: the page of this server alone, from the machine it is on.
//!
//! A page of somebody else's that is open in the same browser can send requests here. It cannot know the token; its
//! `Origin` is not ours; and where it makes its own name lead here (DNS rebinding), `Host` has that name.

use crate::Refusal;
use std::net::IpAddr;

/// Where captures are opened.
const OPEN: &str = "/api/v1/open";

/// What is decided by.
#[derive(Debug, Clone)]
pub(super) struct Door {
    pub(super) token: String,
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
}

impl Door {
    /// What `asked` wants, if it may have it.
    pub(super) fn admits(&self, asked: &Asked<'_>) -> Result<Wants, Refusal> {
        let refuse = |status, message: &str| Err(Refusal { status, message: message.to_owned(), hints: Vec::new() });
        let opens = asked.method == "POST" && asked.path == OPEN;
        if !opens && !matches!(asked.method, "GET" | "HEAD") {
            return refuse(405, "expected GET: nothing can be changed here");
        }
        let Some(host) = asked.host.filter(|host| self.is_ours(host)) else {
            return refuse(403, "expected the address that the program printed, found another host");
        };
        let is_foreign = asked.origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host))
            || asked.site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let Some(address) = asked.path.strip_prefix("/api/v1/") else {
            return match asked.path {
                // A link to the page may stand anywhere: the page holds nothing.
                "/" | "/index.html" => Ok(Wants::Page),
                _ => refuse(404, "nothing is there"),
            };
        };
        if is_foreign {
            return refuse(403, "expected a question of this server's own page, found one of another");
        }
        let given = asked.authorization.and_then(|given| given.strip_prefix("Bearer "));
        if !given.is_some_and(|given| is_same(given, &self.token)) {
            return refuse(401, "expected the token; open the address that the program printed");
        }
        Ok(if opens { Wants::Open } else { Wants::Answer(address.to_owned()) })
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
    };

    fn status(asked: &Asked<'_>, is_loopback: bool) -> u16 {
        let door = Door { token: "secret".to_owned(), is_loopback };
        door.admits(asked).map_or_else(|refusal| refusal.status, |_| 200)
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
}
