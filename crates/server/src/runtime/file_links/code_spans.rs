//! Tracks code spans and fenced blocks in streamed Markdown.

use std::mem;

/// Tracks fenced blocks and code spans, by those rules of CommonMark that need no lookahead.
#[derive(Debug, Default)]
pub(super) struct CodeSpans {
    open: Option<Code>,
    /// The last marks, if more may follow.
    run: Option<(u8, usize)>,
    /// Whether the line contains anything but list and quote marks.
    in_line: bool,
    /// Whether the marks in this line close the block, if nothing follows them.
    closes: bool,
    /// Whether the last character was a backslash.
    escaped: bool,
}

#[derive(Debug, Clone, Copy)]
enum Code {
    /// Opened by this many backticks; discarded if not closed in its line.
    Span(usize),
    /// Opened by this many of these marks; more backticks in its `first_line` turn it into a span.
    Fence {
        mark: u8,
        length: usize,
        first_line: bool,
    },
}

impl CodeSpans {
    /// Reads the next part of the text.
    pub(super) fn read(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
    }

    /// Whether the following text is code.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn byte(&mut self, byte: u8) {
        match &mut self.run {
            Some((mark, length)) if *mark == byte => return *length += 1,
            Some((mark, length)) => {
                let mark = *mark;
                let length = *length;
                self.run = None;
                self.end_run(mark, length);
            }
            None => {}
        }
        if b"`~".contains(&byte) && !self.escaped {
            self.run = Some((byte, 1));
            return;
        }
        self.escaped = byte == b'\\' && !self.escaped && self.open.is_none();
        match byte {
            b'\n' => self.end_line(),
            // A block may be inside a list or a quote.
            b' ' | b'\t' | b'\r' | b'>' | b'-' | b'*' | b'+' | b'.' | b')' | b'0'..=b'9' => {}
            _ => (self.in_line, self.closes) = (true, false),
        }
    }

    fn end_run(&mut self, mark: u8, length: usize) {
        let is_backtick = mark == b'`';
        self.open = match self.open {
            None if length >= 3 && !self.in_line => Some(Code::Fence {
                mark,
                length,
                first_line: true,
            }),
            None => is_backtick.then_some(Code::Span(length)),
            Some(Code::Span(begun)) if is_backtick && begun == length => None,
            Some(Code::Fence {
                mark: b'`',
                length: begun,
                first_line: true,
            }) if is_backtick => (begun != length).then_some(Code::Span(begun)),
            Some(Code::Fence {
                mark: begun,
                length: least,
                first_line: false,
            }) if begun == mark && length >= least && !self.in_line => {
                self.closes = true;
                self.open
            }
            open => open,
        };
        self.in_line = true;
    }

    fn end_line(&mut self) {
        let closes = mem::take(&mut self.closes);
        self.in_line = false;
        self.open = match self.open {
            Some(Code::Fence { mark, length, .. }) if !closes => Some(Code::Fence {
                mark,
                length,
                first_line: false,
            }),
            _ => None,
        };
    }
}
