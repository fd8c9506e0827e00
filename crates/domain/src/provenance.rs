//! What a provider wants back with an answer of its model: reasoning and opaque data, in the order of the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Message, Part, Role, ToolCall};

/// How an answer was given, for the provider that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Who can take `blocks` back: providers of the same format share a name.
    pub provider: String,
    /// The parts of the answer in their order.
    pub blocks: Vec<StoredBlock>,
}

/// One part of an answer. Text and calls stand in the message; here is their place and what belongs to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StoredBlock {
    /// Reasoning, whole.
    Reasoning {
        /// The text or summary; may be empty.
        text: String,
        /// The provider's data: a signature, encrypted reasoning, the name of a field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The next text part of the message.
    Text {
        /// The provider's data, such as a signature or citations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The call with this id.
    Call {
        /// The id that the model gave.
        id: String,
        /// The provider's data, such as a signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// A block of the provider's own, such as a call of a tool that runs at the provider.
    Other {
        /// The block as the provider wrote it.
        data: Value,
    },
}

/// One part of a message in the order of the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Block<'a> {
    /// Reasoning with the provider's data.
    Reasoning {
        /// The text or summary; may be empty.
        text: &'a str,
        /// The provider's data.
        data: Option<&'a Value>,
    },
    /// Text, a picture or another medium.
    Part {
        /// The part.
        part: &'a Part,
        /// The provider's data.
        data: Option<&'a Value>,
    },
    /// A tool call.
    Call {
        /// The call.
        call: &'a ToolCall,
        /// The provider's data.
        data: Option<&'a Value>,
    },
    /// A block of the provider's own.
    Other {
        /// The block as the provider wrote it.
        data: &'a Value,
    },
}

impl Message {
    /// The parts of the message for `provider`, in the order of the answer. Reasoning and data are among them only where
    /// that provider gave them. Text and calls are always complete, whatever became of the message since.
    #[must_use]
    pub fn blocks(&self, provider: &str) -> Vec<Block<'_>> {
        let provenance = self
            .provenance
            .as_deref()
            .filter(|it| it.provider == provider);
        let stored = match (provenance, self.role) {
            (Some(provenance), Role::Assistant) => provenance.blocks.as_slice(),
            _ => &[],
        };
        let mut blocks =
            Vec::with_capacity(stored.len() + self.content.len() + self.tool_calls.len());
        let mut parts = self.content.iter();
        let mut calls: Vec<&ToolCall> = self.tool_calls.iter().collect();
        for block in stored {
            match block {
                StoredBlock::Reasoning { text, data } => {
                    blocks.push(Block::Reasoning {
                        text,
                        data: data.as_ref(),
                    });
                }
                StoredBlock::Text { data } => {
                    blocks.extend(parts.next().map(|part| Block::Part {
                        part,
                        data: data.as_ref(),
                    }));
                }
                StoredBlock::Call { id, data } => {
                    let at = calls.iter().position(|call| call.id == *id);
                    let call = at.map(|at| calls.remove(at));
                    blocks.extend(call.map(|call| Block::Call {
                        call,
                        data: data.as_ref(),
                    }));
                }
                StoredBlock::Other { data } => blocks.push(Block::Other { data }),
            }
        }
        let first_call = blocks
            .iter()
            .position(|block| matches!(block, Block::Call { .. }));
        let rest = parts.map(|part| Block::Part { part, data: None });
        let at = first_call.unwrap_or(blocks.len());
        blocks.splice(at..at, rest);
        blocks.extend(
            calls
                .into_iter()
                .map(|call| Block::Call { call, data: None }),
        );
        blocks
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: "ls".to_owned(),
            arguments: "{}".to_owned(),
        }
    }

    fn answer(blocks: Vec<StoredBlock>) -> Message {
        let text = |text: &str| Part::Text {
            text: text.to_owned(),
        };
        Message {
            content: vec![text("a"), text("b")],
            tool_calls: vec![call("1"), call("2")],
            provenance: Some(Box::new(Provenance {
                provider: "anthropic".to_owned(),
                blocks,
            })),
            ..Message::text(Role::Assistant, "")
        }
    }

    fn shown(message: &Message, provider: &str) -> Vec<String> {
        let data = |data: Option<&Value>| data.map(|data| format!(" {data}")).unwrap_or_default();
        let one = |block: &Block<'_>| match block {
            Block::Reasoning { text, data: of } => format!("reasoning {text}{}", data(*of)),
            Block::Part { part, data: of } => {
                format!("{}{}", part.as_text().unwrap_or("medium"), data(*of))
            }
            Block::Call { call, data: of } => format!("call {}{}", call.id, data(*of)),
            Block::Other { data } => format!("other {data}"),
        };
        message.blocks(provider).iter().map(one).collect()
    }

    #[test]
    fn keeps_the_order_of_the_answer() {
        let message = answer(vec![
            StoredBlock::Reasoning {
                text: "hm".to_owned(),
                data: Some(json!("sig")),
            },
            StoredBlock::Text { data: None },
            StoredBlock::Call {
                id: "1".to_owned(),
                data: Some(json!(1)),
            },
            StoredBlock::Other { data: json!("x") },
            StoredBlock::Text {
                data: Some(json!(2)),
            },
            StoredBlock::Call {
                id: "2".to_owned(),
                data: None,
            },
        ]);
        let whole = [
            "reasoning hm \"sig\"",
            "a",
            "call 1 1",
            "other \"x\"",
            "b 2",
            "call 2",
        ];
        assert_eq!(shown(&message, "anthropic"), whole);
        assert_eq!(
            shown(&message, "gemini"),
            ["a", "b", "call 1", "call 2"],
            "nothing of another provider"
        );
    }

    #[test]
    fn text_and_calls_that_have_no_block_or_no_message_are_minded() {
        let message = answer(vec![
            StoredBlock::Call {
                id: "gone".to_owned(),
                data: None,
            },
            StoredBlock::Call {
                id: "2".to_owned(),
                data: None,
            },
        ]);
        assert_eq!(shown(&message, "anthropic"), ["a", "b", "call 2", "call 1"]);
        let mut blocks = vec![StoredBlock::Text { data: None }; 4];
        blocks.push(StoredBlock::Reasoning {
            text: String::new(),
            data: None,
        });
        assert_eq!(
            shown(&answer(blocks), "anthropic"),
            ["a", "b", "reasoning ", "call 1", "call 2"]
        );
    }
}
