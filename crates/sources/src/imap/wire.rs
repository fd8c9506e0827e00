//! Splits what a mail server sends into answers, and numbers the commands.

use std::{io, ops::ControlFlow, panic::catch_unwind};

use bytes::{Buf, BytesMut};
use imap_proto::{RequestId, Response};
use outbound::Fault;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{SourceProblem, problem::malformed};

/// How much is read at a time, bytes.
const READ_BYTES: usize = 32 << 10;
/// Maximum number of parentheses in each other. What is asked for has two; the parser is recursive, and takes tens of
/// kilobytes of the stack for each.
const MAX_NESTING: usize = 8;
/// Maximum number of digits of the length of a literal.
const MAX_DIGITS: usize = 10;

/// What a connection is made of: with or without TLS.
pub(super) trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// Both directions of a connection.
pub(super) struct Wire {
    stream: Box<dyn Transport>,
    buffer: BytesMut,
    commands: u32,
}

impl Wire {
    pub(super) fn new(stream: impl Transport + 'static) -> Self {
        Self {
            stream: Box::new(stream),
            buffer: BytesMut::new(),
            commands: 0,
        }
    }

    /// The stream, for TLS. What was read already is dropped.
    pub(super) fn into_stream(self) -> Box<dyn Transport> {
        self.stream
    }

    /// Sends a command. Returns its tag.
    pub(super) async fn send(&mut self, command: &str) -> Result<RequestId, SourceProblem> {
        self.commands += 1;
        let tag = format!("A{}", self.commands);
        self.send_line(&format!("{tag} {command}")).await?;
        Ok(RequestId(tag))
    }

    /// Sends a line that belongs to a command.
    pub(super) async fn send_line(&mut self, line: &str) -> Result<(), SourceProblem> {
        let line = format!("{line}\r\n");
        let sent = async {
            self.stream.write_all(line.as_bytes()).await?;
            self.stream.flush().await
        };
        sent.await.map_err(lost)
    }

    /// Reads answers until `each` breaks, up to so many bytes. `each` is given `None` for an untagged answer that cannot be
    /// read, which may be one of an extension, or one that was asked for.
    pub(super) async fn receive<T>(
        &mut self,
        mut bytes: usize,
        mut each: impl FnMut(Option<&Response<'_>>) -> ControlFlow<T>,
    ) -> Result<T, SourceProblem> {
        loop {
            let length = self.fill(bytes).await?;
            bytes -= length;
            let answer = self.buffer.get(..length).unwrap_or_default();
            let flow = match parse(answer) {
                Some(response) => each(Some(&response)),
                None if answer.starts_with(b"* ") => each(None),
                None => return Err(malformed("the server's answer is no IMAP")),
            };
            self.buffer.advance(length);
            if let ControlFlow::Break(done) = flow {
                return Ok(done);
            }
        }
    }

    /// Reads until the buffer has a whole answer. Returns its length.
    async fn fill(&mut self, bytes: usize) -> Result<usize, SourceProblem> {
        let mut start = 0;
        let mut searched = 0;
        loop {
            let rest = self.buffer.get(searched..).unwrap_or_default();
            if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let end = searched + end + 1;
                let line = self.buffer.get(start..end).unwrap_or_default();
                let Some(literal) = literal(line) else {
                    return if end > bytes {
                        Err(SourceProblem::TooLarge)
                    } else {
                        Ok(end)
                    };
                };
                // The next line begins behind the literal.
                start = end.saturating_add(literal);
                searched = start;
            } else {
                searched = searched.max(self.buffer.len());
            }
            if searched > bytes || self.buffer.len() > bytes.saturating_add(READ_BYTES) {
                return Err(SourceProblem::TooLarge);
            }
            if searched >= self.buffer.len() {
                self.buffer.reserve(READ_BYTES);
                let read = self.stream.read_buf(&mut self.buffer).await.map_err(lost)?;
                if read == 0 {
                    return Err(Fault::CutOff.into());
                }
            }
        }
    }
}

/// Reads a whole answer. The parser panics at some that no honest server gives.
fn parse(answer: &[u8]) -> Option<Response<'_>> {
    if is_too_deep(answer) {
        return None;
    }
    match catch_unwind(|| Response::parse(answer)) {
        Ok(Ok(([], response))) => Some(response),
        _ => None,
    }
}

/// Whether an answer could exhaust the stack. Literals are not parsed.
fn is_too_deep(answer: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut start = 0;
    while let Some(rest) = answer.get(start..).filter(|rest| !rest.is_empty()) {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = rest.get(..=end.unwrap_or(rest.len() - 1)).unwrap_or(rest);
        for byte in line {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_NESTING {
                return true;
            }
        }
        let skipped = literal(line).unwrap_or(0);
        start = start.saturating_add(line.len()).saturating_add(skipped);
    }
    false
}

/// The length of the literal that a line such as `* 1 FETCH (BODY[] {310}` announces.
fn literal(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r\n")?.strip_suffix(b"}")?;
    let start = line.iter().rposition(|byte| *byte == b'{')?;
    let digits = line.get(start + 1..)?;
    let is_number =
        !digits.is_empty() && digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    digits.parse().ok()
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn lost(error: io::Error) -> SourceProblem {
    tracing::debug!(%error, "the connection to a mail server was lost");
    Fault::CutOff.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers in what a server sends in parts of this size.
    async fn answers(sent: &[u8], part: usize, bytes: usize) -> Result<Vec<String>, SourceProblem> {
        let (near, mut far) = tokio::io::duplex(part);
        let mut wire = Wire::new(near);
        let mut seen = Vec::new();
        let sending = async {
            let _ = far.write_all(sent).await;
            drop(far);
        };
        let receiving = async {
            let received = wire.receive(bytes, |response| {
                seen.push(format!("{response:?}"));
                match response {
                    Some(Response::Done { .. }) => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            let received = received.await;
            drop(wire);
            received
        };
        let (received, ()) = tokio::join!(receiving, sending);
        received.map(|()| seen)
    }

    const ANSWER: &[u8] =
        b"* 1 FETCH (UID 5 BODY[] {12}\r\na {3}\r\nb\r\nc\r BODY[TEXT] {0}\r\n)\r\n\
                            * SEARCH 1 2 3\r\n* OK {curly}\r\nA1 OK done\r\n";

    #[tokio::test]
    async fn answers_end_behind_their_literals() {
        for part in [1, 2, 7, 1_000] {
            let seen = answers(ANSWER, part, 1_000).await.unwrap();
            assert_eq!(seen.len(), 4, "{part}");
            assert!(seen[0].starts_with("Some(Fetch(1, [Uid(5), BodySection"));
            assert!(seen[1].contains("Search([1, 2, 3])"));
        }
        let (near, mut far) = tokio::io::duplex(1_000);
        far.write_all(ANSWER).await.unwrap();
        let mut wire = Wire::new(near);
        let content = wire.receive(1_000, |response| match response {
            Some(Response::Fetch(_, attributes)) => match &attributes[1] {
                imap_proto::AttributeValue::BodySection { data, .. } => {
                    ControlFlow::Break(data.as_deref().map(<[u8]>::to_vec))
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        let content = content.await.unwrap();
        assert_eq!(content.as_deref(), Some(&b"a {3}\r\nb\r\nc\r"[..]));
    }

    #[test]
    fn answers_that_cannot_be_read_are_none() {
        for (answer, is_known) in [
            (&b"* 1 FETCH (UID 1 RFC822.SIZE 9)\r\n"[..], true),
            // imap-proto panics here.
            (b"* 1 FETCH (UID 1 INTERNALDATE NIL)\r\n", false),
            (b"* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n", false),
            (b"* SEARCH 1 2 \r\n", true),
        ] {
            assert_eq!(parse(answer).is_some(), is_known);
        }
    }

    #[test]
    fn deep_answers_are_not_parsed() {
        let structure = |depth: usize| {
            let open = "(".repeat(depth);
            format!("* 1 FETCH (BODYSTRUCTURE {open})\r\n")
        };
        for depth in [MAX_NESTING - 1, MAX_NESTING, 100_000] {
            assert_eq!(parse(structure(depth).as_bytes()), None, "{depth}");
        }
        let text = "(".repeat(1_000);
        let fetched = format!("* 1 FETCH (UID 5 BODY[] {{1000}}\r\n{text})\r\n");
        assert!(parse(fetched.as_bytes()).is_some());
    }

    #[tokio::test]
    async fn answers_that_are_cut_off_are_an_error() {
        for length in 0..ANSWER.len() {
            let cut_off = answers(&ANSWER[..length], 1_000, 1_000).await;
            assert_eq!(cut_off, Err(Fault::CutOff.into()), "{length}");
        }
    }

    #[tokio::test]
    async fn what_is_too_large_cut_off_or_no_imap_is_an_error() {
        let malformed = malformed("the server's answer is no IMAP");
        let endless = b"* ".repeat(100_000);
        for (sent, expected) in [
            (
                &b"* 1 FETCH (BODY[] {1001}\r\nabc"[..],
                SourceProblem::TooLarge,
            ),
            (
                b"* 1 FETCH (BODY[] {9999999999}\r\n",
                SourceProblem::TooLarge,
            ),
            (&endless, SourceProblem::TooLarge),
            (b"* 1 FETCH (BODY[] {100}\r\nabc", Fault::CutOff.into()),
            (b"* SEARCH 1 2", Fault::CutOff.into()),
            (b"", Fault::CutOff.into()),
            (b"* SEARCH 1\r\n", Fault::CutOff.into()),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", malformed),
        ] {
            assert_eq!(answers(sent, 100, 1_000).await, Err(expected));
        }
    }
}
