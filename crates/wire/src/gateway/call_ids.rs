//! Makes tool call ids unique within a conversation.

use std::collections::HashSet;

use domain::Message;

/// Makes the ids of an answer's calls distinct from earlier ones. Some servers restart the numbering in each answer,
/// and clients such as Claude Code drop a call with a known id.
#[derive(Debug, Clone)]
pub struct CallIds {
    taken: HashSet<String>,
}

impl CallIds {
    /// For an answer to this conversation.
    #[must_use]
    pub fn after(messages: &[Message]) -> Self {
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        Self {
            taken: calls.map(|call| call.id.clone()).collect(),
        }
    }

    /// The same id, with a number appended if an earlier call has it. The server gets it back in this form, and only
    /// has to match the results to the calls.
    pub fn unique(&mut self, id: String) -> String {
        let unique = match self.taken.contains(&id) || id.is_empty() {
            false => id,
            true => {
                let mut numbered = (1_usize..).map(|number| format!("{id}_{number}"));
                numbered
                    .find(|numbered| !self.taken.contains(numbered))
                    .unwrap_or(id)
            }
        };
        self.taken.insert(unique.clone());
        unique
    }
}

#[cfg(test)]
mod tests {
    use domain::{Role, ToolCall};

    use super::*;

    #[test]
    fn an_id_is_given_once() {
        let call = |id: &str| ToolCall {
            id: id.to_owned(),
            name: "ls".to_owned(),
            arguments: String::new(),
        };
        let tool_calls = vec![call("call_0"), call("call_0_1")];
        let mut ids = CallIds::after(&[Message {
            tool_calls,
            ..Message::of(Role::Assistant, Vec::new())
        }]);
        let given: Vec<String> = ["call_1", "call_0", "call_0", "", "functions.ls:2"]
            .map(|id| ids.unique(id.to_owned()))
            .into();
        assert_eq!(
            given,
            ["call_1", "call_0_2", "call_0_3", "_1", "functions.ls:2"]
        );
    }
}
