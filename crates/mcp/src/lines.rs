//! Splits a stream of bytes into lines of limited length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::{connection::MESSAGE_LIMIT_BYTES, json::Outline};

/// A line without its end.
#[derive(Debug)]
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// It exceeds the limit; the outline of the message in it.
    TooLong(Outline),
}

/// The lines of a source, including an unterminated last one.
pub(crate) struct Lines<R> {
    source: R,
    ends: &'static [u8],
    begun: Begun,
    /// The last line ended with a carriage return, so a following line feed belongs to it.
    after_return: bool,
}

#[derive(Default)]
struct Begun {
    line: Vec<u8>,
    outline: Option<Outline>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    /// Lines that end with one of the bytes `ends`.
    pub(crate) fn new(source: R, ends: &'static [u8]) -> Self {
        Self {
            source,
            ends,
            begun: Begun::default(),
            after_return: false,
        }
    }

    /// The next line. Cancel-safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let bytes = self.source.fill_buf().await?;
            if bytes.is_empty() {
                let is_begun = self.begun.outline.is_some() || !self.begun.line.is_empty();
                return Ok(is_begun.then(|| self.begun.take()));
            }
            if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
                self.source.consume(1);
                continue;
            }
            let end = bytes.iter().position(|byte| self.ends.contains(byte));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.begun.push(part);
            self.after_return = rest.first() == Some(&b'\r');
            let count = part.len() + usize::from(end.is_some());
            self.source.consume(count);
            if end.is_some() {
                return Ok(Some(self.begun.take()));
            }
        }
    }
}

impl Begun {
    fn push(&mut self, part: &[u8]) {
        if let Some(outline) = &mut self.outline {
            outline.read(part);
        } else if self.line.len() + part.len() > MESSAGE_LIMIT_BYTES {
            let mut outline = Outline::default();
            outline.read(&std::mem::take(&mut self.line));
            outline.read(part);
            self.outline = Some(outline);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Line {
        let Self { line, outline } = std::mem::take(self);
        outline.map_or(Line::Whole(line), Line::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_end_in_any_form_at_any_chunking() {
        for (ends, expected) in [
            (b"\r\n".as_slice(), "a||b|c|"),
            (b"\n", "a\r|\r|b|c\rd\r||"),
        ] {
            let text = if ends.len() == 2 {
                "a\r\n\rb\nc"
            } else {
                "a\r\n\r\nb\nc\rd\r\n\n"
            };
            for capacity in 1..5 {
                let mut lines =
                    Lines::new(BufReader::with_capacity(capacity, text.as_bytes()), ends);
                let mut seen = String::new();
                while let Some(Line::Whole(line)) = lines.next().await.unwrap() {
                    seen.push_str(&format!("{}|", String::from_utf8(line).unwrap()));
                }
                assert_eq!(seen, expected, "{capacity}");
            }
        }
    }
}
