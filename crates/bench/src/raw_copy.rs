//! A minimal gateway as a baseline: `raw-copy --upstream 127.0.0.1:PORT` forwards each request and its response without
//! looking at them.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use clap::Parser;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// An HTTP proxy that only copies.
#[derive(Parser)]
struct Options {
    /// Where to forward requests.
    #[arg(long)]
    upstream: SocketAddr,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program says where it listens")]
async fn main() -> anyhow::Result<()> {
    let Options { upstream } = Options::parse();
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build(connector);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .context("cannot listen")?;
    println!("listening on http://{}", listener.local_addr()?);
    let connections = TaskTracker::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let client = client.clone();
        let service = service_fn(move |request| pass_on(client.clone(), upstream, request));
        connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn pass_on(
    client: Client<HttpConnector, Incoming>,
    upstream: SocketAddr,
    mut request: Request<Incoming>,
) -> anyhow::Result<Response<Incoming>> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    *request.uri_mut() = format!("http://{upstream}{path}").parse()?;
    Ok(client.request(request).await?)
}
