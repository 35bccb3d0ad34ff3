//! One call of gRPC over HTTP/2: a message there, a message back.
//!
//! gRPC is a path, five bytes before each message, and a status after the last; HTTP/2 is `hyper`'s.

use crate::error::RemoteError;
use crate::target::Target;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper::header::{CONTENT_TYPE, TE};
use hyper::{HeaderMap, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time in which a connection must stand.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of headers that are read: status and words of a server.
const MOST_HEADERS: u32 = 32 << 10;
/// Characters of a server's words that are shown.
const MOST_WORDS: usize = 300;

/// Calls `path` with `message`; the answer has at most `most_bytes` and comes within `deadline`.
pub(crate) async fn call(
    target: &Target,
    path: &str,
    message: Vec<u8>,
    deadline: Duration,
    most_bytes: u64,
) -> Result<Vec<u8>, RemoteError> {
    let connecting = TcpStream::connect((target.host(), target.port()));
    let limit = CONNECT.min(deadline);
    let stream = timeout(limit, connecting).await.map_err(|_| RemoteError::Late(limit))?;
    let stream = stream.map_err(RemoteError::Unreachable)?;
    let answer = exchange(target, path, message, stream, deadline, most_bytes);
    timeout(deadline, answer).await.unwrap_or(Err(RemoteError::Late(deadline)))
}

async fn exchange(
    target: &Target,
    path: &str,
    message: Vec<u8>,
    stream: TcpStream,
    deadline: Duration,
    most_bytes: u64,
) -> Result<Vec<u8>, RemoteError> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(4 << 20).initial_connection_window_size(8 << 20);
    builder.max_header_list_size(MOST_HEADERS);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(no_profiler)?;
    let driver = Driver(tokio::spawn(connection));
    let request = Request::post(format!("http://{target}{path}"))
        .header(CONTENT_TYPE, "application/grpc")
        .header(TE, "trailers")
        .header("grpc-timeout", format!("{}m", deadline.as_millis().min(99_999_999)))
        .body(Full::new(Bytes::from(framed(&message))))
        .map_err(|error| RemoteError::NoProfiler(error.to_string()))?;
    let response = sender.send_request(request).await.map_err(no_profiler)?;
    let is_grpc =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    if !response.status().is_success() || !is_grpc {
        return Err(RemoteError::NoProfiler(format!("it answers HTTP status {}", response.status().as_u16())));
    }
    status(response.headers())?;
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(no_profiler)?;
        if let Some(trailers) = frame.trailers_ref() {
            status(trailers)?;
        }
        if let Some(data) = frame.data_ref() {
            if (bytes.len() + data.len()) as u64 > most_bytes {
                return Err(RemoteError::TooLarge(most_bytes));
            }
            bytes.extend_from_slice(data);
        }
    }
    drop(driver);
    unframed(bytes)
}

/// The task that moves bytes, which ends with the call.
struct Driver(tokio::task::JoinHandle<hyper::Result<()>>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn no_profiler(error: hyper::Error) -> RemoteError {
    RemoteError::NoProfiler(error.to_string())
}

/// A message with its five bytes: not compressed, and its length.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], length.to_be_bytes().as_slice(), message].concat()
}

fn unframed(mut bytes: Vec<u8>) -> Result<Vec<u8>, RemoteError> {
    let head: [u8; 5] =
        bytes.first_chunk().copied().ok_or(RemoteError::Broken("expected a message, found less than its head"))?;
    let [compressed, length @ ..] = head;
    if compressed != 0 {
        return Err(RemoteError::Broken("expected a message as it is, found a compressed one"));
    }
    if u32::from_be_bytes(length) as usize != bytes.len() - head.len() {
        return Err(RemoteError::Broken("expected one message of the length in its head"));
    }
    bytes.drain(..head.len());
    Ok(bytes)
}

/// What the server says of the call, where it does: nothing, or that it failed.
fn status(headers: &HeaderMap) -> Result<(), RemoteError> {
    let Some(code) = headers.get("grpc-status") else { return Ok(()) };
    let code = code.to_str().ok().and_then(|code| code.parse().ok()).unwrap_or(2);
    if code == 0 {
        return Ok(());
    }
    let message = headers.get("grpc-message").map(|message| decoded(message.as_bytes()));
    Err(RemoteError::Refused { code, message: message.unwrap_or_else(|| "without a reason".to_owned()) })
}

/// Percent-encoded words, cut to a length and without control characters.
fn decoded(words: &[u8]) -> String {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(byte) = words.get(at) {
        let hex = words.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *byte == b'%') {
            Some(decoded) => {
                bytes.push(decoded);
                at += 3;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    String::from_utf8_lossy(&bytes).chars().take(MOST_WORDS).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_framed_by_their_length() {
        assert_eq!(unframed(framed(b"abc")).ok(), Some(b"abc".to_vec()));
        for broken in [&b""[..], b"\0\0\0", b"\0\0\0\0\x04abc", b"\x01\0\0\0\x03abc", b"\0\xff\xff\xff\xffabc"] {
            assert!(matches!(unframed(broken.to_vec()), Err(RemoteError::Broken(_))), "{broken:?}");
        }
    }

    #[test]
    fn words_of_a_server_are_made_harmless() {
        assert_eq!(decoded(b"Only%20one%0asession%1b[31m 100%"), "Only one session [31m 100%");
        assert_eq!(decoded(&[b'x'; 9000]).len(), MOST_WORDS);
    }
}
