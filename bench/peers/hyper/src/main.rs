//! hyper with one current_thread runtime. `peer-hyper --port N`.
use std::convert::Infallible;
use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, CONTENT_TYPE, SERVER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(code: i32) -> !;
}

extern "C" fn end(_: i32) {
    unsafe { _exit(0) }
}

fn port() -> u16 {
    let words: Vec<String> = std::env::args().collect();
    match words.as_slice() {
        [_, word, number] if word == "--port" => number.parse().expect("a port"),
        _ => panic!("usage: peer-hyper --port N"),
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let found = request.uri().path() == "/plaintext";
    let mut response = Response::new(Full::new(Bytes::from_static(if found { b"Hello, World!" } else { b"Not Found" })));
    if !found {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response.headers_mut().insert(SERVER, HeaderValue::from_static("hyper"));
    Ok(response)
}

async fn serve(port: u16) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await.expect("bind");
    println!("listening on 127.0.0.1:{port}");
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let _ = http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

fn main() {
    unsafe { signal(15, end) };
    let port = port();
    tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime").block_on(serve(port));
}
