//! Code in tags: turned into a call of the tool that runs it, or shown.

use serde_json::json;

use super::{Marker, Piece, State, TextCallParser};
use crate::openai::code_tag::{CODE_TAG, Code, Head, Progress, bare, read_head};

impl TextCallParser {
    pub(super) fn code_tool(&self) -> Option<&str> {
        self.syntax.code.as_deref()
    }

    /// Whether code tags are recognized.
    pub(super) fn knows_code(&self) -> bool {
        self.syntax.code.is_some() || self.syntax.not_run.is_some()
    }

    pub(super) fn find_code(&mut self, out: &mut Vec<Piece>) -> bool {
        match read_head(self.rest()) {
            Head::Undecided => {
                self.state = State::Opening(Marker::Code);
                return false;
            }
            Head::No => self.release(CODE_TAG.len(), out),
            Head::Whole(language, size) => {
                self.taken += size;
                self.state = State::Coding(Code::new(language));
            }
        }
        true
    }

    pub(super) fn read_code(&mut self, mut code: Code, out: &mut Vec<Piece>) -> bool {
        match code.advance(self.rest()) {
            Progress::Open => {
                self.state = State::Coding(code);
                return false;
            }
            Progress::Ended(end, size) => {
                let from = self.taken;
                self.finish_code(&code, from + end, from + size, false, out);
            }
            Progress::TooLong => {
                self.finish_code(&code, self.held.len(), self.held.len(), true, out)
            }
        }
        true
    }

    /// The code ends at byte `end` of the held text, and its tag at byte `after`. Code that is cut off, or that no tool
    /// runs, is shown.
    pub(super) fn finish_code(
        &mut self,
        code: &Code,
        end: usize,
        after: usize,
        is_cut: bool,
        out: &mut Vec<Piece>,
    ) {
        let written = &self.held[self.taken..end];
        let size = after - self.taken;
        let in_fence = std::mem::take(&mut self.code_in_fence);
        match self.code_tool().filter(|_| code.is_python() && !is_cut) {
            Some(tool) => {
                let arguments = json!({ "code": bare(written) }).to_string();
                let call = Piece::Call {
                    name: tool.to_owned(),
                    arguments,
                };
                self.deliver(vec![call], size, out);
            }
            None => {
                let not_run = self.syntax.not_run.as_deref();
                let why = not_run.filter(|_| self.code_tool().is_none() && code.is_python());
                let shown = code.shown(written, why);
                self.taken += size;
                self.emit(shown, out);
                if in_fence {
                    self.state = State::Unfencing;
                }
            }
        }
    }

    /// Shown code gets its own fence, so the model's closing fence would open another block.
    pub(super) fn find_fence_end(&mut self) -> bool {
        let fence = Marker::Fence.text();
        let rest = self.rest().trim_start();
        if rest.len() < fence.len() && fence.starts_with(rest) {
            self.state = State::Unfencing;
            return false;
        }
        if rest.starts_with(fence) {
            self.taken = self.held.len() - rest.len() + fence.len();
        }
        true
    }
}
