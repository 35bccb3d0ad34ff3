//! A server of a page, asked over a socket.

use ridge_web::Page;
use ridge_web::server::{Offer, Server};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use tokio::sync::oneshot;

/// A running server; it ends with the test.
pub(crate) struct Running {
    pub(crate) at: SocketAddr,
    pub(crate) token: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<std::io::Result<()>>>,
}

impl Running {
    pub(crate) fn of(page: Page) -> Running {
        let server = Server::bind(page, Offer::default(), IpAddr::V4(Ipv4Addr::LOCALHOST), 0).expect("a port");
        let address = server.address();
        let (at, token) =
            address.strip_prefix("http://").and_then(|rest| rest.split_once("/#token=")).expect("an address");
        let (at, token) = (at.parse().expect("numbers"), token.to_owned());
        let (end, ended) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || server.run_until(async { drop(ended.await) }));
        Running { at, token, end: Some(end), thread: Some(thread) }
    }

    /// Status, head and body of the answer to a request with these lines.
    pub(crate) fn ask(&self, lines: &[&str]) -> (u16, String, Vec<u8>) {
        self.send(lines, "")
    }

    /// The same with a body.
    pub(crate) fn send(&self, lines: &[&str], body: &str) -> (u16, String, Vec<u8>) {
        let mut connection = self.sent(lines, body);
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).expect("answered");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head, answer[end + 4..].to_vec())
    }

    /// A connection that has asked and has no answer yet.
    pub(crate) fn sent(&self, lines: &[&str], body: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.at).expect("it listens");
        let request = format!("{}\r\nConnection: close\r\n\r\n{body}", lines.join("\r\n"));
        connection.write_all(request.as_bytes()).expect("sent");
        connection
    }

    /// The lines of a request for a path, as its own page would ask.
    pub(crate) fn own(&self, path: &str) -> [String; 3] {
        let token = format!("Authorization: Bearer {}", self.token);
        [format!("GET {path} HTTP/1.1"), format!("Host: {}", self.at), token]
    }

    /// The answer to that.
    pub(crate) fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        self.ask(&self.own(path).each_ref().map(String::as_str))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.end.take());
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(matches!(ended, Some(Ok(Ok(())))), "it ends cleanly");
    }
}
