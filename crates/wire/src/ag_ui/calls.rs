//! Encodes a tool call for an AG-UI client: its start, its arguments, its result.

use domain::{AgentPath, message::arguments_text};
use serde_json::Value;

use super::{
    encoder::AgUiEncoder,
    event::{Event, Sink},
};

/// An unanswered call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) agent: AgentPath,
    arguments: Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    /// The reader has none of them; the model may still be writing.
    Nothing,
    /// The model has finished without sending any as deltas: the whole value will come.
    Unseen,
    /// Some.
    Some,
    /// All.
    Ended,
}

impl Call {
    pub(super) fn is_being_written(&self) -> bool {
        matches!(self.arguments, Arguments::Nothing | Arguments::Some)
    }

    pub(super) fn is_open(&self) -> bool {
        self.arguments != Arguments::Ended
    }
}

impl AgUiEncoder {
    /// A call belongs to the text before it; calls without one share a separate message.
    pub(super) fn start_call(
        &mut self,
        agent: &AgentPath,
        call: &str,
        name: &str,
        sink: &mut impl Sink,
    ) {
        self.calls.insert(
            call.to_owned(),
            Call {
                agent: agent.clone(),
                arguments: Arguments::Nothing,
            },
        );
        let (item, suffix) = self
            .carriers
            .entry(agent.clone())
            .or_insert_with(|| (call.to_owned(), "-m"))
            .clone();
        let started = Event::ToolCallStart {
            tool_call_id: self.id(call, ""),
            tool_call_name: name,
            parent_message_id: self.id(&item, suffix),
        };
        self.put(agent, &started, sink);
    }

    pub(super) fn arguments(
        &mut self,
        agent: &AgentPath,
        call: &str,
        delta: &str,
        sink: &mut impl Sink,
    ) {
        let Some(open) = self
            .calls
            .get_mut(call)
            .filter(|call| call.is_open() && !delta.is_empty())
        else {
            return;
        };
        open.arguments = Arguments::Some;
        self.put(
            agent,
            &Event::ToolCallArgs {
                tool_call_id: self.id(call, ""),
                delta,
            },
            sink,
        );
    }

    /// The arguments are complete; if the reader has none of them yet, it gets them at once.
    pub(super) fn end_arguments(
        &mut self,
        call: &str,
        whole: Option<&Value>,
        sink: &mut impl Sink,
    ) {
        let Some(open) = self.calls.get_mut(call).filter(|call| call.is_open()) else {
            return;
        };
        let had_some = open.arguments == Arguments::Some;
        open.arguments = Arguments::Ended;
        let agent = open.agent.clone();
        let tool_call_id = self.id(call, "");
        if let (false, Some(whole)) = (had_some, whole) {
            let delta = &*arguments_text(whole);
            self.put(
                &agent,
                &Event::ToolCallArgs {
                    tool_call_id,
                    delta,
                },
                sink,
            );
        }
        self.put(&agent, &Event::ToolCallEnd { tool_call_id }, sink);
    }

    /// The model has written all arguments of these calls.
    pub(super) fn end_written_arguments(
        &mut self,
        is_it: impl Fn(&str, &Call) -> bool,
        sink: &mut impl Sink,
    ) {
        let mut written = Vec::new();
        for (id, call) in self.calls.iter_mut().filter(|(id, call)| is_it(id, call)) {
            match call.arguments {
                Arguments::Some => written.push(id.clone()),
                Arguments::Nothing => call.arguments = Arguments::Unseen,
                Arguments::Unseen | Arguments::Ended => {}
            }
        }
        for call in written {
            self.end_arguments(&call, None, sink);
        }
    }

    pub(super) fn result(
        &mut self,
        agent: &AgentPath,
        call: &str,
        result: &str,
        error: bool,
        sink: &mut impl Sink,
    ) {
        let marked = if error {
            format!("Error: {result}")
        } else {
            String::new()
        };
        let answered = Event::ToolCallResult {
            message_id: self.id(call, "-result"),
            tool_call_id: self.id(call, ""),
            content: if error { &marked } else { result },
            role: "tool",
        };
        self.put(agent, &answered, sink);
    }
}
