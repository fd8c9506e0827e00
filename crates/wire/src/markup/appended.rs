//! The text for readers that can only append: a piece is sent once its place is certain.

use super::{Change, whole::said};

/// A text of this length is taken for the answer and streamed, since models seldom write that much before a tool call;
/// shorter ones wait until it is known whether a call follows.
const HELD_BYTES: usize = 1_200;

/// The relevant state of the reader's text.
#[derive(Debug, Default)]
pub(super) struct Appended {
    /// Texts before the first tool call.
    said: Vec<String>,
    /// The part of the current text that was not sent.
    held: String,
    /// The current text is being streamed.
    flowing: bool,
    block_is_open: bool,
    has_text: bool,
}

impl Appended {
    pub(super) fn write(&mut self, delta: &str) -> Change {
        self.held.push_str(delta);
        if self.flowing || self.held.len() > HELD_BYTES {
            self.flow()
        } else {
            Change::Nothing
        }
    }

    pub(super) fn end_text(&mut self, is_answer: bool) -> Change {
        let change = if is_answer || self.flowing {
            self.flow()
        } else {
            let text = std::mem::take(&mut self.held).trim().to_owned();
            match (text.is_empty(), self.block_is_open) {
                (true, _) => Change::Nothing,
                (false, true) => Change::More(said(&text) + "\n\n"),
                (false, false) => {
                    self.said.push(text);
                    Change::Nothing
                }
            }
        };
        self.flowing = false;
        change
    }

    /// A tool was requested: from now on there is a block. The number of tools cannot be known.
    pub(super) fn request(&mut self) -> Change {
        if self.block_is_open {
            return Change::Nothing;
        }
        let mut block =
            self.gap().to_owned() + "<details open>\n<summary>🔍 Execution Steps</summary>\n\n";
        for text in self.said.drain(..) {
            block = block + &said(&text) + "\n\n";
        }
        (self.block_is_open, self.has_text) = (true, true);
        Change::More(block)
    }

    pub(super) fn step(&mut self, line: &str) -> Change {
        let Change::More(opening) = self.request() else {
            return Change::More(format!("{line}\n\n"));
        };
        Change::More(format!("{opening}{line}\n\n"))
    }

    pub(super) fn finish(&mut self) -> Change {
        let mut rest = self.plain();
        if std::mem::take(&mut self.block_is_open) {
            rest.push_str("</details>");
        }
        if rest.is_empty() {
            Change::Nothing
        } else {
            Change::More(rest)
        }
    }

    /// Sends the held text as (part of) the answer.
    fn flow(&mut self) -> Change {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Change::Nothing;
        }
        if std::mem::replace(&mut self.flowing, true) {
            return Change::More(held);
        }
        let mut updates = self.plain();
        if std::mem::take(&mut self.block_is_open) {
            updates.push_str("</details>");
        }
        updates.push_str(self.gap());
        self.has_text = true;
        Change::More(updates + &held)
    }

    /// The intermediate texts without a tool call, for which there is no block.
    fn plain(&mut self) -> String {
        let mut plain = String::new();
        for text in std::mem::take(&mut self.said) {
            plain.push_str(self.gap());
            plain.push_str(&text);
            self.has_text = true;
        }
        plain
    }

    fn gap(&self) -> &'static str {
        if self.has_text { "\n\n" } else { "" }
    }
}
