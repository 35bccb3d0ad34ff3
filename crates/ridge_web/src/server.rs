//! The server: HTTP on loopback for one page, which alone holds its token, or the cookie that it gets for it.
//!
//! One thread reads and writes connections; answers are made on others, so a long one holds up nothing.
//! Who may ask what is decided in [`guard`], before anything is looked at.

mod guard;
mod opened;
mod policy;

use crate::interest::Interest;
use crate::request::Request as Address;
use crate::{INDEX, Kind, Page, Refusal};
use flate2::Compression;
use flate2::write::GzEncoder;
use guard::{Asked, Door};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use opened::{Arriving, Opened};
use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

pub use opened::Offer;
pub use policy::{content_policy, inline_policy};

/// Answers below this are sent as they are.
const LEAST_PACKED: usize = 4096;
/// A connection that does not finish its question by then is closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    at: SocketAddr,
    door: Door,
    opened: Arc<Opened>,
}

impl Server {
    /// Listens at `host` and `port`, any free one for 0, with a token that nobody can guess.
    ///
    /// # Errors
    /// Where the system does not let it listen there, or has no random numbers.
    pub fn bind(page: Page, offer: Offer, host: IpAddr, port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((host, port))?;
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        let door = Door { token: token()?, pass: token()?, place: token()?, is_loopback: host.is_loopback() };
        Ok(Server { listener, at, door, opened: Arc::new(Opened::new(page, offer)) })
    }

    /// The address to open, with the token behind the `#`, where browsers keep it to themselves.
    pub fn address(&self) -> String {
        let host = match self.at.ip() {
            ip if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
            ip => ip,
        };
        format!("http://{}/#token={}", SocketAddr::new(host, self.at.port()), self.door.token)
    }

    /// Answers until Ctrl-C.
    ///
    /// # Errors
    /// Where the system has no more threads or signals.
    pub fn run(self) -> io::Result<()> {
        self.run_until(async { drop(tokio::signal::ctrl_c().await) })
    }

    /// Answers until `end` is there; answers that are being made are not waited for.
    ///
    /// # Errors
    /// As for [`Server::run`].
    pub fn run_until(self, end: impl Future<Output = ()>) -> io::Result<()> {
        let opened = Arc::clone(&self.opened);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let result = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            tokio::spawn(accept(listener, Arc::new(Served { door: self.door, opened: self.opened })));
            end.await;
            Ok(())
        });
        runtime.shutdown_background();
        opened.close();
        result
    }
}

/// What all connections share.
#[derive(Debug)]
struct Served {
    door: Door,
    opened: Arc<Opened>,
}

async fn accept(listener: tokio::net::TcpListener, served: Arc<Served>) {
    loop {
        let connection = match listener.accept().await {
            Ok((connection, _)) => connection,
            // Too many open files, a connection that went away: the next may succeed.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            let answer = service_fn(|request| answered(Arc::clone(&served), request));
            let mut connection_of = hyper::server::conn::http1::Builder::new();
            let connection_of = connection_of.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // What fails here is the other side's going away.
            let _ = connection_of.serve_connection(TokioIo::new(connection), answer).await;
        });
    }
}

async fn answered(served: Arc<Served>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let asked = Asked {
        method: request.method().as_str(),
        path: request.uri().path(),
        host: header(header::HOST),
        origin: header(header::ORIGIN),
        site: request.headers().get("sec-fetch-site").and_then(|value| value.to_str().ok()),
        authorization: header(header::AUTHORIZATION),
        cookie: header(header::COOKIE),
        is_own: request.headers().contains_key(guard::OWN_HEADER),
    };
    let packs = header(header::ACCEPT_ENCODING).is_some_and(|accepted| accepted.contains("gzip"));
    Ok(match served.door.admits(&asked) {
        Err(refusal) => refused(&refusal),
        Ok(guard::Wants::Page) => page(packs),
        Ok(guard::Wants::Answer(address)) => {
            let address = request.uri().query().map_or(address.clone(), |query| format!("{address}?{query}"));
            // A browser that goes away drops this, and with it what keeps the interest.
            let interest = Interest::default();
            let _held = interest.held();
            made(move || answer(&served.opened, &address, packs, &interest)).await
        }
        Ok(guard::Wants::Enter) => entered(&served.door),
        Ok(guard::Wants::Open) => match opening(&served.opened, request).await {
            Ok(response) => response,
            Err(refusal) => refused(&refusal),
        },
    })
}

/// What `make` makes on a thread of its own.
async fn made(make: impl FnOnce() -> Result<Response<Full<Bytes>>, Refusal> + Send + 'static) -> Response<Full<Bytes>> {
    match tokio::task::spawn_blocking(make).await {
        Ok(Ok(response)) => response,
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => {
            let message = "the answer failed; this is a bug of Ridgeline".to_owned();
            refused(&Refusal { status: 500, message, hints: Vec::new() })
        }
    }
}

fn answer(opened: &Opened, address: &str, packs: bool, interest: &Interest) -> Result<Response<Full<Bytes>>, Refusal> {
    if address == "captures" {
        return Ok(json(&opened.listed()));
    }
    let (page, address) = opened.find(address)?;
    let answer = page.answer_while(address, interest)?;
    // A file for another tool may be large, and goes no farther than this machine.
    Ok(response(200, answer.kind.media_type(), answer.body, packs && answer.kind != Kind::File))
}

/// `open?name=FILE` with the file as its body, or `open?session=N`: the number of the capture that was opened.
async fn opening(opened: &Arc<Opened>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Refusal> {
    let asked = Address::parse(&format!("open?{}", request.uri().query().unwrap_or("")));
    let opened = Arc::clone(opened);
    let id = |id: u32| json(&serde_json::json!({ "id": id }));
    if let Some(at) = asked.number::<usize>("session")? {
        return Ok(made(move || opened.session(at).map(id)).await);
    }
    let mut arriving = Arriving::new(asked.get("name").unwrap_or(""))?;
    let mut body = request.into_body();
    loop {
        let late = || Refusal { status: 408, message: "the file stopped coming".to_owned(), hints: Vec::new() };
        let part = tokio::time::timeout(PATIENCE, body.frame()).await.map_err(|_| late())?;
        let Some(part) = part else { break };
        let part = part.map_err(|error| Refusal::bad(format!("the file did not come whole: {error}")))?;
        part.data_ref().map_or(Ok(()), |part| arriving.add(part))?;
    }
    Ok(made(move || opened.arrived(arriving).map(id)).await)
}

/// The cookie, and the place where it counts.
fn entered(door: &Door) -> Response<Full<Bytes>> {
    let mut response = json(&serde_json::json!({ "place": format!("/{}/", door.place) }));
    if let Ok(cookie) = HeaderValue::from_str(&door.cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn json(value: &serde_json::Value) -> Response<Full<Bytes>> {
    response(200, Kind::Json.media_type(), value.to_string().into_bytes(), false)
}

fn page(packs: bool) -> Response<Full<Bytes>> {
    response(200, "text/html; charset=utf-8", INDEX.as_bytes().to_vec(), packs)
}

fn refused(refusal: &Refusal) -> Response<Full<Bytes>> {
    let mut response = response(refusal.status, "application/json", refusal.body(), false);
    if refusal.status == 405 {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

fn response(status: u16, media_type: &'static str, body: Vec<u8>, packs: bool) -> Response<Full<Bytes>> {
    let packed = if packs && body.len() >= LEAST_PACKED { gzip(&body) } else { None };
    let is_packed = packed.is_some();
    let mut response = Response::new(Full::new(Bytes::from(packed.unwrap_or(body))));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    protect(headers);
    response
}

/// What every answer tells the browser: run nothing that is not ours, send nothing anywhere, keep nothing.
fn protect(headers: &mut HeaderMap) {
    let policy = HeaderValue::from_str(content_policy()).unwrap_or(HeaderValue::from_static("default-src 'none'"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
}

/// Packed for speed: what it is sent over is nearly always this machine.
fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// 128 random bits as letters.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
