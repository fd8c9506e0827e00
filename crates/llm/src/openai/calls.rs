//! Puts the pieces of parallel tool calls together, however a server numbers them.

use std::{borrow::Cow, collections::VecDeque};

use domain::Sentence;
use wire::openai::chunk::CallDelta;

use super::fault::Fault;
use crate::ModelEvent;

/// More calls in one answer are a model gone wild.
const LIMIT_CALLS: usize = 128;

/// Ids and names longer than this are rubbish, bytes.
const LIMIT_NAME_BYTES: usize = 256;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    /// The server's number for it, which need not be ours.
    upstream: Option<u64>,
    /// The server's id.
    id: Option<String>,
    /// Without a name the call has not been announced, and its arguments wait.
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting { arguments: String },
    Announced,
}

impl Calls {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Takes the next piece.
    pub(crate) fn push(&mut self, piece: CallDelta<'_>, out: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        let index = match self.find(&piece) {
            Some(index) => index,
            None => self.open(piece.index, piece.id.as_deref())?,
        };
        let call = &mut self.0[index];
        if call.id.is_none() {
            call.id = piece.id.map(Cow::into_owned);
        }
        match &mut call.state {
            State::Announced if piece.arguments.is_empty() => {}
            State::Announced => {
                out.push_back(ModelEvent::ToolArgumentsDelta { index, delta: piece.arguments.into_owned() });
            }
            State::Waiting { arguments } => {
                arguments.push_str(&piece.arguments);
                if let Some(name) = piece.name {
                    let arguments = std::mem::take(arguments);
                    self.announce(index, &name, arguments, out)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a whole call that was not sent as one.
    pub(crate) fn add(
        &mut self,
        name: &str,
        arguments: String,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Fault> {
        let index = self.open(None, None)?;
        self.announce(index, name, arguments, out)
    }

    /// Checks that no call is left without a name.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        if self.0.iter().all(|call| matches!(call.state, State::Announced)) {
            Ok(())
        } else {
            Err(Fault::protocol(Sentence::CallWithoutName))
        }
    }

    /// The call a piece belongs to, if it is not a new one.
    fn find(&self, piece: &CallDelta<'_>) -> Option<usize> {
        let by_id = |id: &str| self.0.iter().position(|call| call.id.as_deref() == Some(id));
        let Some(number) = piece.index else {
            return match (&piece.id, &piece.name) {
                (Some(id), _) => by_id(id),
                (None, Some(_)) => None,
                (None, None) => self.0.len().checked_sub(1),
            };
        };
        // The last one counts: some servers give every call the number 0 and a new id and name.
        let index = self.0.iter().rposition(|call| call.upstream == Some(number))?;
        let call = &self.0[index];
        let other = matches!((&call.id, &piece.id), (Some(known), Some(id)) if known.as_str() != &**id);
        (!(other && piece.name.is_some())).then_some(index)
    }

    fn open(&mut self, upstream: Option<u64>, id: Option<&str>) -> Result<usize, Fault> {
        if self.0.len() >= LIMIT_CALLS {
            return Err(Fault::protocol(Sentence::TooManyCalls { count: LIMIT_CALLS as u64 }));
        }
        let state = State::Waiting { arguments: String::new() };
        self.0.push(Call { upstream, id: id.map(str::to_owned), state });
        Ok(self.0.len() - 1)
    }

    fn announce(
        &mut self,
        index: usize,
        name: &str,
        arguments: String,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Fault> {
        if name.len() > LIMIT_NAME_BYTES {
            return Err(Fault::protocol(Sentence::EndlessName));
        }
        let known = self.0[index].id.as_ref();
        let taken = self.0[..index].iter().any(|call| call.id.as_ref() == known);
        let id = match known {
            Some(id) if !taken && id.len() <= LIMIT_NAME_BYTES => id.clone(),
            _ => format!("call_{index}"),
        };
        self.0[index].state = State::Announced;
        out.push_back(ModelEvent::ToolCallStarted { index, id, name: name.to_owned() });
        if !arguments.is_empty() {
            out.push_back(ModelEvent::ToolArgumentsDelta { index, delta: arguments });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Piece = (Option<u64>, &'static str, &'static str, &'static str);

    fn push(calls: &mut Calls, piece: Piece, out: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        let text = |text: &'static str| (!text.is_empty()).then_some(Cow::Borrowed(text));
        let (index, id, name, arguments) = piece;
        calls.push(CallDelta { index, id: text(id), name: text(name), arguments: arguments.into() }, out)
    }

    /// Each call as `id name(arguments)`.
    fn check(pieces: &[Piece], expected: &[&str]) {
        let (mut calls, mut out) = (Calls::default(), VecDeque::new());
        for piece in pieces {
            push(&mut calls, *piece, &mut out).expect("lawful");
        }
        calls.finish().expect("every call has a name");
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
        let seen: Vec<String> = seen.into_iter().map(|(start, args)| format!("{start}({args})")).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn every_way_of_numbering() {
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
        check(&[(Some(0), "a", "ls", "{}"), (Some(0), "b", "cat", "{}")], &["a ls({})", "b cat({})"]);
        check(&[(Some(0), "a", "ls", "{"), (Some(0), "a", "ls", "}")], &["a ls({})"]);
        check(
            &[(None, "", "ls", "{"), (None, "", "", "}"), (None, "", "cat", "")],
            &["call_0 ls({})", "call_1 cat()"],
        );
        check(
            &[(None, "a", "ls", "{"), (None, "b", "cat", "{"), (None, "a", "", "}")],
            &["a ls({})", "b cat({)"],
        );
        check(&[(Some(1), "x", "ls", ""), (Some(2), "x", "cat", "")], &["x ls()", "call_1 cat()"]);
        check(&[(Some(0), "", "", "{\"a\""), (Some(0), "c", "ls", ":1}")], &["c ls({\"a\":1})"]);
    }

    #[test]
    fn refuses_too_many_and_nameless_calls() {
        let (mut calls, mut out) = (Calls::default(), VecDeque::new());
        for number in 0..128 {
            push(&mut calls, (Some(number), "", "ls", ""), &mut out).expect("within the limit");
        }
        assert!(push(&mut calls, (Some(128), "", "ls", ""), &mut out).is_err());
        let mut nameless = Calls::default();
        push(&mut nameless, (Some(0), "", "", "{}"), &mut VecDeque::new()).expect("may get a name");
        assert!(nameless.finish().is_err());
    }
}
