//! Assembles parallel tool calls from their pieces, however a server numbers them.

use std::{borrow::Cow, collections::VecDeque};

use provider::{DataPart, openai::chunk::CallDelta};
use serde_json::{Value, json};

use super::{call_json::UNREADABLE, json_end::JsonEnd};
use crate::ModelEvent;

/// Maximum number of calls in one answer; further ones are left out as runaway output.
const MAX_CALLS: usize = 128;

/// Maximum length of an id or name, bytes; longer ones are invalid.
const MAX_NAME_BYTES: usize = 256;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// How many were announced to the agent.
    announced: usize,
}

#[derive(Debug)]
struct Call {
    /// The server's index, which may differ from ours.
    upstream: Option<u64>,
    /// The server's id.
    id: Option<String>,
    name: String,
    /// Our index; `None` until the name is complete and the call is announced.
    index: Option<usize>,
    /// Arguments received before that.
    waiting: String,
    /// Tracks whether the arguments are complete.
    end: JsonEnd,
    /// The name was repeated after the arguments were complete: further arguments belong to a second call of the tool.
    is_named_again: bool,
    /// Opaque content to return with it.
    extra_content: Option<Value>,
}

impl Calls {
    /// How many were announced to the agent.
    pub(crate) fn count(&self) -> usize {
        self.announced
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, piece: CallDelta<'_>, out: &mut VecDeque<ModelEvent>) {
        let at = match self.find(&piece) {
            Some(at) => at,
            None if self.calls.len() >= MAX_CALLS => return,
            None => {
                // The name of the previous call is complete.
                self.announce_named(out);
                let name = self.repeated_name(&piece);
                let at = self.open(piece.index, piece.id.as_deref());
                self.calls[at].name = name;
                at
            }
        };
        let call = &mut self.calls[at];
        call.is_named_again |= call.end.is_whole() && piece.name.is_some();
        if call.id.is_none() {
            call.id = piece.id.map(Cow::into_owned);
        }
        call.end.push(&piece.arguments);
        call.extra_content = piece
            .extra_content
            .and_then(|json| serde_json::from_str(&json).ok())
            .or(call.extra_content.take());
        match call.index {
            Some(index) => add_arguments(index, piece.arguments, out),
            None => {
                call.add_name(piece.name.as_deref().unwrap_or_default());
                call.waiting.push_str(&piece.arguments);
                if !call.name.is_empty() && !call.waiting.is_empty() {
                    self.announce(at, out);
                }
            }
        }
    }

    /// Adds a complete call that came in another form.
    pub(crate) fn add(&mut self, name: &str, arguments: String, out: &mut VecDeque<ModelEvent>) {
        if self.calls.len() < MAX_CALLS {
            let at = self.open(None, None);
            self.calls[at].add_name(name);
            self.calls[at].waiting = arguments;
            self.announce(at, out);
        }
    }

    /// The answer has ended. A call without a name is emitted as unreadable, so that the model is told; an empty one is
    /// dropped.
    pub(crate) fn finish(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.announce_rest(out);
        for call in &mut self.calls {
            if let (Some(index), Some(extra_content)) = (call.index, call.extra_content.take()) {
                let data = json!({ "extra_content": extra_content });
                out.push_back(ModelEvent::ProviderData {
                    part: DataPart::Call(index),
                    data,
                });
            }
        }
    }

    fn announce_rest(&mut self, out: &mut VecDeque<ModelEvent>) {
        for at in 0..self.calls.len() {
            let call = &mut self.calls[at];
            if call.index.is_some()
                || (call.name.is_empty() && call.waiting.is_empty() && call.id.is_none())
            {
                continue;
            }
            if call.name.is_empty() {
                UNREADABLE.clone_into(&mut call.name);
            }
            self.announce(at, out);
        }
    }

    /// The call that a piece belongs to; `None` if it starts a new one.
    fn find(&self, piece: &CallDelta<'_>) -> Option<usize> {
        // Searched from the last: some servers give every call the index 0, or the same id.
        let found = match (piece.index, &piece.id, &piece.name) {
            (Some(number), _, _) => self
                .calls
                .iter()
                .rposition(|call| call.upstream == Some(number)),
            (None, Some(id), _) => self
                .calls
                .iter()
                .rposition(|call| call.id.as_deref() == Some(&**id)),
            (None, None, Some(_)) => None,
            (None, None, None) => self.calls.len().checked_sub(1),
        };
        found.filter(|at| !self.calls[*at].is_before(piece))
    }

    /// The name of a new call that came before the arguments and under the index of the previous call.
    fn repeated_name(&self, piece: &CallDelta<'_>) -> String {
        let before = self
            .calls
            .last()
            .filter(|before| before.is_named_again && piece.name.is_none());
        before.map(|before| before.name.clone()).unwrap_or_default()
    }

    fn open(&mut self, upstream: Option<u64>, id: Option<&str>) -> usize {
        self.calls.push(Call {
            upstream,
            id: id.map(str::to_owned),
            name: String::new(),
            index: None,
            waiting: String::new(),
            end: JsonEnd::default(),
            is_named_again: false,
            extra_content: None,
        });
        self.calls.len() - 1
    }

    /// Announces the calls that have a name and no arguments yet.
    fn announce_named(&mut self, out: &mut VecDeque<ModelEvent>) {
        for at in 0..self.calls.len() {
            if self.calls[at].index.is_none() && !self.calls[at].name.is_empty() {
                self.announce(at, out);
            }
        }
    }

    fn announce(&mut self, at: usize, out: &mut VecDeque<ModelEvent>) {
        let index = self.announced;
        self.announced += 1;
        let known = self.calls[at].id.as_ref();
        let taken = self
            .calls
            .iter()
            .any(|call| call.index.is_some() && call.id.as_ref() == known);
        let id = match known {
            Some(id) if !taken && id.len() <= MAX_NAME_BYTES => id.clone(),
            _ => format!("call_{index}"),
        };
        let call = &mut self.calls[at];
        call.index = Some(index);
        let name = if call.name.len() > MAX_NAME_BYTES {
            UNREADABLE
        } else {
            &call.name
        };
        out.push_back(ModelEvent::ToolCallStarted {
            index,
            id,
            name: name.to_owned(),
        });
        add_arguments(index, Cow::Owned(std::mem::take(&mut call.waiting)), out);
    }
}

fn add_arguments(index: usize, delta: Cow<'_, str>, out: &mut VecDeque<ModelEvent>) {
    if !delta.is_empty() {
        out.push_back(ModelEvent::ToolArgumentsDelta {
            index,
            delta: delta.into_owned(),
        });
    }
}

impl Call {
    /// Names come in pieces, at once, or again with each piece of the arguments.
    fn add_name(&mut self, piece: &str) {
        if self.name.is_empty() || piece.starts_with(&self.name) {
            piece.clone_into(&mut self.name);
        } else if self.name.len() <= MAX_NAME_BYTES {
            self.name.push_str(piece);
        }
    }

    /// Whether a piece with the same index or id belongs to a later call.
    fn is_before(&self, piece: &CallDelta<'_>) -> bool {
        let Some(name) = &piece.name else {
            return self.is_named_again && piece.arguments.trim_start().starts_with('{');
        };
        let has_other_id =
            matches!((&self.id, &piece.id), (Some(known), Some(id)) if known.as_str() != &**id);
        // Some servers repeat the name with each piece.
        let is_new =
            self.end.is_whole() && (!piece.arguments.trim().is_empty() || *name != *self.name);
        has_other_id || is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Piece = (Option<u64>, &'static str, &'static str, &'static str);

    fn push(calls: &mut Calls, piece: Piece, out: &mut VecDeque<ModelEvent>) {
        let text = |text: &'static str| (!text.is_empty()).then_some(Cow::Borrowed(text));
        let (index, id, name, arguments) = piece;
        calls.push(
            CallDelta {
                index,
                id: text(id),
                name: text(name),
                arguments: arguments.into(),
                extra_content: None,
            },
            out,
        );
    }

    /// Each call as `id name(arguments)`.
    fn read(pieces: impl IntoIterator<Item = Piece>) -> Vec<String> {
        let mut calls = Calls::default();
        let mut out = VecDeque::new();
        pieces
            .into_iter()
            .for_each(|piece| push(&mut calls, piece, &mut out));
        calls.finish(&mut out);
        let mut seen: Vec<(String, String)> = Vec::new();
        for event in out {
            match event {
                ModelEvent::ToolCallStarted { index, id, name } => {
                    assert_eq!(index, seen.len());
                    seen.push((format!("{id} {name}"), String::new()));
                }
                ModelEvent::ToolArgumentsDelta { index, delta } => seen[index].1.push_str(&delta),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(seen.len(), calls.count());
        seen.into_iter()
            .map(|(start, args)| format!("{start}({args})"))
            .collect()
    }

    fn check(pieces: &[Piece], expected: &[&str]) {
        assert_eq!(read(pieces.iter().copied()), expected);
    }

    #[test]
    fn calls_in_every_numbering() {
        check(
            &[
                (Some(0), "a", "ls", ""),
                (Some(1), "b", "cat", "{"),
                (Some(0), "", "", "{}"),
                (Some(1), "", "", "}"),
            ],
            &["a ls({})", "b cat({})"],
        );
        check(&[(Some(4_000_000_000), "a", "ls", "{}")], &["a ls({})"]);
        check(
            &[(Some(0), "a", "ls", "{}"), (Some(0), "b", "cat", "{}")],
            &["a ls({})", "b cat({})"],
        );
        check(
            &[(Some(0), "a", "ls", ""), (Some(0), "b", "cat", "")],
            &["a ls()", "b cat()"],
        );
        check(
            &[(Some(0), "a", "ls", "{"), (Some(0), "a", "ls", "}")],
            &["a ls({})"],
        );
        check(
            &[
                (None, "", "ls", "{"),
                (None, "", "", "}"),
                (None, "", "cat", ""),
            ],
            &["call_0 ls({})", "call_1 cat()"],
        );
        check(
            &[
                (None, "a", "ls", "{"),
                (None, "b", "cat", "{"),
                (None, "a", "", "}"),
            ],
            &["a ls({})", "b cat({)"],
        );
        check(
            &[(Some(1), "x", "ls", ""), (Some(2), "x", "cat", "")],
            &["x ls()", "call_1 cat()"],
        );
        check(
            &[(Some(0), "", "", "{\"a\""), (Some(0), "c", "ls", ":1}")],
            &["c ls({\"a\":1})"],
        );
    }

    #[test]
    fn a_name_after_complete_arguments_starts_another_call() {
        let two = ["call_0 ls({})", "call_1 ls({\"a\":\"}\"})"];
        check(
            &[
                (Some(0), "", "ls", "{}"),
                (Some(0), "", "ls", "{\"a\":\"}\"}"),
            ],
            &two,
        );
        check(
            &[
                (Some(0), "", "ls", "{}"),
                (Some(0), "", "ls", "{\"a\":"),
                (Some(0), "", "", "\"}\"}"),
            ],
            &two,
        );
        check(
            &[(Some(0), "a", "ls", "{}"), (Some(0), "a", "ls", "{}")],
            &["a ls({})", "call_1 ls({})"],
        );
        check(
            &[(None, "a", "ls", "{}"), (None, "a", "ls", "{}")],
            &["a ls({})", "call_1 ls({})"],
        );
        check(
            &[(Some(0), "", "ls", "{}"), (Some(0), "", "cat", "")],
            &["call_0 ls({})", "call_1 cat()"],
        );
        check(
            &[
                (Some(0), "a", "ls", "{\"a\":\"}"),
                (Some(0), "", "ls", "\"}"),
                (Some(0), "", "ls", ""),
            ],
            &["a ls({\"a\":\"}\"})"],
        );
        // In pieces, all of them number 0.
        let begun = [
            (Some(0), "", "ls", ""),
            (Some(0), "", "", "{}"),
            (Some(0), "", "ls", ""),
        ];
        check(&begun, &["call_0 ls({})"]);
        let more = [(Some(0), "", "", "{\"a\":"), (Some(0), "", "", "\"}\"}")];
        check(&[begun.as_slice(), &more].concat(), &two);
    }

    #[test]
    fn split_and_repeated_names() {
        let pieces = [
            (Some(0), "a", "write", ""),
            (Some(0), "", "_file", ""),
            (Some(0), "", "", "{}"),
        ];
        check(&pieces, &["a write_file({})"]);
        check(&pieces[..2], &["a write_file()"]);
        check(
            &[
                (Some(0), "a", "ls", ""),
                (Some(0), "a", "ls", "{"),
                (Some(0), "a", "ls", "}"),
            ],
            &["a ls({})"],
        );
        check(
            &[
                (Some(0), "a", "wri", ""),
                (Some(0), "a", "write_file", "{}"),
            ],
            &["a write_file({})"],
        );
        check(
            &[(Some(0), "a", "write", ""), (Some(1), "b", "ls", "{}")],
            &["a write()", "b ls({})"],
        );
    }

    #[test]
    fn unreadable_calls_are_emitted_and_empty_ones_dropped() {
        check(&[(Some(0), "", "", "{}")], &["call_0 tool_calls({})"]);
        check(
            &[(Some(0), "a", "", ""), (Some(1), "b", "ls", "{}")],
            &["b ls({})", "a tool_calls()"],
        );
        check(&[(Some(0), "", "", "")], &[]);
        let endless = "x".repeat(300).leak();
        check(&[(Some(0), "a", endless, "{}")], &["a tool_calls({})"]);
        let many = read((0..300).map(|number| (Some(number), "", "ls", "{}")));
        assert_eq!(many.len(), MAX_CALLS);
    }
}
