//! Where a server listens: `HOST:PORT`.

use std::fmt;
use std::str::FromStr;

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    host: String,
    port: u16,
}

impl Target {
    /// The host, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A name for a file or folder: the host and the port.
    pub fn file_name(&self) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || "-.".contains(letter) { letter } else { '-' };
        let host: String = self.host.chars().map(plain).collect();
        format!("{}_{}", host.trim_start_matches('.'), self.port)
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let expected = || format!("expected HOST:PORT, such as node1:9012, found `{text}`");
        let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bracketed.unwrap_or(host);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let fits = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.len() <= 253 && host.chars().all(is_name),
        };
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(expected)?;
        if fits { Ok(Target { host: host.to_owned(), port }) } else { Err(expected()) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_ports() {
        for (text, read) in [
            ("node1:9012", Some(("node1:9012", "node1_9012"))),
            ("10.0.0.7:80", Some(("10.0.0.7:80", "10.0.0.7_80"))),
            ("[::1]:9012", Some(("[::1]:9012", "--1_9012"))),
            ("..:9012", Some(("..:9012", "_9012"))),
            ("node1", None),
            ("node1:0", None),
            ("node1:99999", None),
            (":9012", None),
            ("::1:9012", None),
            ("a/../b:9012", None),
            ("http://node1:9012", None),
        ] {
            let found = text.parse::<Target>().ok().map(|target| (target.to_string(), target.file_name()));
            assert_eq!(found.as_ref().map(|(text, name)| (text.as_str(), name.as_str())), read, "{text}");
        }
    }
}
