//! A client that costs little: one connection, requests one after the other, answers scanned and not parsed.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

/// A kept-alive connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// When things came, after the request was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// The first byte of the body.
    pub(crate) first_ms: f64,
    /// The first occurrence of the mark.
    pub(crate) mark_ms: Option<f64>,
    /// The end.
    pub(crate) end_ms: f64,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and returns once the header of the answer is there; what follows it stays in the buffer.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let header = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
                self.buffer.drain(..end + 4);
                if !header.starts_with("HTTP/1.1 2") {
                    bail!("{path} answered {header} {}", String::from_utf8_lossy(&self.buffer));
                }
                return Ok(header);
            }
            self.more().await?;
        }
    }

    /// Sends a request and reads its chunked answer to the end.
    pub(crate) async fn stream(&mut self, path: &str, body: &str, mark: &[u8]) -> anyhow::Result<Timing> {
        let began = Instant::now();
        let ms = || began.elapsed().as_secs_f64() * 1000.0;
        self.send("POST", path, body).await?;
        let (mut first_ms, mut mark_ms) = (None, None);
        loop {
            if !self.buffer.is_empty() {
                first_ms.get_or_insert_with(ms);
            }
            if mark_ms.is_none() && find(&self.buffer, mark).is_some() {
                mark_ms = Some(ms());
            }
            if self.buffer.ends_with(b"0\r\n\r\n") {
                let first_ms = first_ms.context("an empty answer")?;
                return Ok(Timing { first_ms, mark_ms, end_ms: ms() });
            }
            // Only the end of what has been seen can be the beginning of something looked for.
            let keep = mark.len().max(8);
            if self.buffer.len() > keep {
                self.buffer.drain(..self.buffer.len() - keep);
            }
            self.more().await?;
        }
    }

    /// Reads until `mark` has come.
    pub(crate) async fn until(&mut self, mark: &[u8]) -> anyhow::Result<()> {
        while find(&self.buffer, mark).is_none() {
            self.more().await?;
        }
        Ok(())
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|window| window == mark)
}
