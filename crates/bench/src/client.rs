//! A low-overhead HTTP client: one connection, sequential requests, and responses that are scanned rather than parsed.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use memchr::memmem;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::Instant,
};

/// The end of a chunked response.
const CHUNKS_END: &[u8] = b"0\r\n\r\n";

/// A kept-alive connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Header lines sent with each request, with their line ends.
    headers: String,
}

/// Times after sending the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// The first byte of the body.
    pub(crate) first_ms: f64,
    /// The first occurrence of the mark.
    pub(crate) mark_ms: Option<f64>,
    /// How often the mark occurred.
    pub(crate) marks: usize,
    /// The end of the response.
    pub(crate) end_ms: f64,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
            headers: String::new(),
        })
    }

    /// Adds these header lines, with their line ends, to every request.
    pub(crate) fn with_headers(self, headers: &str) -> Self {
        Self {
            headers: headers.to_owned(),
            ..self
        }
    }

    /// Sends a request; its response is read with [`Self::take_line`].
    pub(crate) async fn begin(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<()> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{}{}content-length: {}\r\n\r\n{body}",
            if self.headers.contains("content-type:") {
                ""
            } else {
                "content-type: application/json\r\n"
            },
            self.headers,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        Ok(())
    }

    /// Sends a request and returns after the response's header; what follows stays in the buffer.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<String> {
        self.begin(method, path, body).await?;
        loop {
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                let header = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
                self.buffer.drain(..end + 4);
                if !header.starts_with("HTTP/1.1 2") {
                    let (status, body) =
                        (header.lines().next(), String::from_utf8_lossy(&self.buffer));
                    bail!("{path} answered {} {body}", status.unwrap_or_default());
                }
                return Ok(header);
            }
            self.more().await?;
        }
    }

    /// Sends a request and reads its chunked response to the end.
    pub(crate) async fn stream(
        &mut self,
        path: &str,
        body: &str,
        mark: &[u8],
    ) -> anyhow::Result<Timing> {
        let began = Instant::now();
        let ms = || began.elapsed().as_secs_f64() * 1000.0;
        self.send("POST", path, body).await?;
        let mut first_ms = None;
        let mut mark_ms = None;
        let mut marks = 0;
        loop {
            if !self.buffer.is_empty() {
                first_ms.get_or_insert_with(ms);
            }
            let mut looked_at = 0;
            while let Some(at) = memmem::find(&self.buffer[looked_at..], mark) {
                mark_ms.get_or_insert_with(ms);
                marks += 1;
                looked_at += at + mark.len();
            }
            if self.buffer.ends_with(CHUNKS_END) {
                let first_ms = first_ms.context("an empty answer")?;
                return Ok(Timing {
                    first_ms,
                    mark_ms,
                    marks,
                    end_ms: ms(),
                });
            }
            // Only the end of the scanned data can be the beginning of a match.
            let keep = CHUNKS_END.len().max(mark.len() - 1);
            let seen = looked_at.max(self.buffer.len().saturating_sub(keep));
            self.buffer.drain(..seen);
            self.more().await?;
        }
    }

    /// Sends a `POST` request and reads the response to the end. Returns the time taken, milliseconds.
    pub(crate) async fn ask(&mut self, path: &str, body: &str) -> anyhow::Result<f64> {
        self.call("POST", path, body).await.map(|(ms, _)| ms)
    }

    /// Sends a request and reads its response, chunked or with a content length, to the end. Returns the time taken,
    /// milliseconds, and the body.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(f64, Vec<u8>)> {
        let began = Instant::now();
        let header = self.send(method, path, body).await?;
        let length = header.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().ok())?
        });
        while !length.map_or_else(
            || self.buffer.ends_with(CHUNKS_END),
            |length| self.buffer.len() >= length,
        ) {
            self.more().await?;
        }
        let ms = began.elapsed().as_secs_f64() * 1000.0;
        let body = std::mem::take(&mut self.buffer);
        Ok((
            ms,
            if length.is_some() {
                body
            } else {
                without_chunks(&body)?
            },
        ))
    }

    /// Reads a chunked response to its end.
    pub(crate) async fn rest(&mut self) -> anyhow::Result<()> {
        while !self.buffer.ends_with(CHUNKS_END) {
            self.more().await?;
        }
        Ok(())
    }

    /// Reads until `mark` has arrived.
    pub(crate) async fn until(&mut self, mark: &[u8]) -> anyhow::Result<()> {
        while memmem::find(&self.buffer, mark).is_none() {
            self.more().await?;
        }
        Ok(())
    }

    /// Reads until a complete line with `mark` has arrived, and returns it.
    pub(crate) async fn line_with(&mut self, mark: &[u8]) -> anyhow::Result<Vec<u8>> {
        loop {
            let line = self
                .buffer
                .split_inclusive(|byte| *byte == b'\n')
                .find(|line| line.ends_with(b"\n") && memmem::find(line, mark).is_some());
            match line {
                Some(line) => return Ok(line.to_vec()),
                None => self.more().await?,
            }
        }
    }

    /// Takes the next complete line of the response, without its end, including lines of the header and of the chunked
    /// encoding.
    pub(crate) async fn take_line(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&self.buffer[..end])
                    .trim_end()
                    .to_owned();
                self.buffer.drain(..=end);
                return Ok(line);
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> anyhow::Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// The body without the chunk framing.
fn without_chunks(mut bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::with_capacity(bytes.len());
    loop {
        let end = memmem::find(bytes, b"\r\n").context("a chunk has no length")?;
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end])?, 16)?;
        if length == 0 {
            return Ok(body);
        }
        let chunk = bytes
            .get(end + 2..end + 2 + length)
            .context("a chunk is not whole")?;
        body.extend_from_slice(chunk);
        bytes = bytes
            .get(end + 4 + length..)
            .context("a chunk has no end")?;
    }
}
