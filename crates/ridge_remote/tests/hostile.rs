//! Servers that are none, or mean no good: every answer is an error, soon, and takes no more room than it may.

use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Bytes, Frame};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{HeaderMap, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use ridge_remote::{Ask, Limits, RemoteError, Target, ask};
use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

/// What a server answers to every call.
#[derive(Clone, Copy)]
enum Answers {
    /// A web page.
    Page,
    /// That it refuses.
    Refusal,
    /// Zeros without end.
    Endless,
    /// A message that claims 4 GiB and has three bytes.
    Claim,
    /// A whole message without a capture.
    Nothing,
    /// Nothing at all.
    Silence,
}

type Body = BoxBody<Bytes, Infallible>;

fn response(answers: Answers) -> Response<Body> {
    let whole = |bytes: &'static [u8]| Full::new(Bytes::from_static(bytes)).boxed();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().expect("a header"));
    let with_trailers =
        |bytes: &'static [u8]| whole(bytes).with_trailers(std::future::ready(Some(Ok(trailers.clone())))).boxed();
    let grpc = Response::builder().header(CONTENT_TYPE, "application/grpc");
    match answers {
        Answers::Page => Response::builder().header(CONTENT_TYPE, "text/html").body(whole(b"<html>")),
        Answers::Refusal => grpc.header("grpc-status", "8").header("grpc-message", "busy%0anow").body(whole(b"")),
        Answers::Claim => grpc.body(with_trailers(b"\0\xff\xff\xff\xffabc")),
        Answers::Nothing => grpc.body(with_trailers(b"\0\0\0\0\0")),
        Answers::Endless => grpc.body(StreamBody::new(Endless).boxed()),
        Answers::Silence => unreachable!("it never answers"),
    }
    .expect("a response")
}

/// Frames of zeros for as long as anybody asks.
struct Endless;

impl futures_core::Stream for Endless {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 16384])))))
    }
}

/// Serves one call of a thread's own; the thread ends with the call.
fn serve(answers: Answers) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = format!("127.0.0.1:{}", listener.local_addr().expect("an address").port());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (stream, _) = listener.accept().expect("a call");
            stream.set_nonblocking(true).expect("a socket");
            let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
            let service = service_fn(move |_| async move {
                if matches!(answers, Answers::Silence) {
                    std::future::pending::<()>().await;
                }
                Ok::<_, Infallible>(response(answers))
            });
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    });
    target.parse().expect("a target")
}

const LIMITS: Limits = Limits { most_bytes: 1 << 20, patience: Duration::from_millis(200) };

fn said(target: Target) -> String {
    let ask = ask(&[target], Ask::Capture(Duration::from_millis(1)), LIMITS, || ());
    let answer = ask.expect("an event loop").pop().expect("one answer");
    answer.xspace.expect_err("no capture").to_string()
}

#[test]
fn answers_that_are_no_captures_are_errors() {
    for (answers, expected) in [
        (Answers::Page, "the server at that port is not a profiler server: it answers HTTP status 200"),
        (Answers::Refusal, "the server refused: busy now (gRPC status 8)"),
        (Answers::Endless, "the answer is larger than 1048576 bytes"),
        (Answers::Claim, "the answer cannot be read: expected one message of the length in its head"),
        (Answers::Nothing, "the server recorded nothing"),
        (Answers::Silence, "no answer after 0.2 s"),
    ] {
        assert_eq!(said(serve(answers)), expected);
    }
}

#[test]
fn servers_of_other_protocols_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target = format!("127.0.0.1:{}", listener.local_addr().expect("an address").port());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a call");
        let _ = stream.read(&mut [0; 64]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    });
    let said = said(target.parse().expect("a target"));
    assert!(said.starts_with("the server at that port is not a profiler server"), "{said}");
}

#[test]
fn nobody_there_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let target: Target =
        format!("127.0.0.1:{}", listener.local_addr().expect("an address").port()).parse().expect("one");
    drop(listener);
    let answers = ask(&[target], Ask::Start, LIMITS, || ()).expect("an event loop");
    assert!(matches!(answers[0].xspace, Err(RemoteError::Unreachable(_))), "{answers:?}");
}
