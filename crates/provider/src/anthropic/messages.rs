//! Converts a conversation to the API's form: a system prompt, and turns in which each tool call has its result in the
//! next.

use std::{borrow::Cow, collections::HashSet, mem};

use domain::{Block as Stored, Message, Part, Role};
use serde::Serialize;
use serde_json::Value;

use super::{
    content::{Block, Input, Kind},
    ids::Ids,
};

/// The conversation in the API's form.
#[derive(Debug, Default)]
pub(crate) struct Conversation<'a> {
    pub(crate) system: Vec<Block<'a>>,
    pub(crate) turns: Vec<Turn<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Turn<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Vec<Block<'a>>,
}

/// The result sent for a call without one, as the API requires one.
const NO_RESULT: &str = "There is no result: the call was interrupted.";

impl<'a> Conversation<'a> {
    /// `provider` is the one whose data is sent back; `inline_system` tells whether system messages may occur in the
    /// middle of the conversation.
    pub(crate) fn new(messages: &'a [Message], provider: &'a str, inline_system: bool) -> Self {
        let mut builder = Builder {
            provider,
            inline_system,
            ..Builder::default()
        };
        for message in messages {
            builder.add(message);
        }
        builder.finish()
    }

    /// Whether the model is in a chain of tool calls that it began without thinking. The API then refuses a thinking
    /// budget.
    pub(crate) fn calls_without_thinking(&self) -> bool {
        let mut turns = self.turns.iter().rev();
        let is_result = |block: &Block<'_>| matches!(block.kind, Kind::ToolResult { .. });
        let answers = turns
            .next()
            .is_some_and(|turn| turn.content.iter().any(is_result));
        let called = turns.next().and_then(|turn| turn.content.first());
        answers && !called.is_some_and(|first| first.kind.is_thinking())
    }
}

#[derive(Debug, Default)]
struct Builder<'a> {
    conversation: Conversation<'a>,
    provider: &'a str,
    inline_system: bool,
    ids: Ids<'a>,
    /// The content of the next user turn: results come first.
    results: Vec<Block<'a>>,
    said: Vec<Block<'a>>,
    /// Instructions after it.
    instructions: Vec<Block<'a>>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, message: &'a Message) {
        match message.role {
            Role::System => self.add_instructions(&message.content),
            Role::User => self.said.extend(blocks(&message.content)),
            Role::Tool => self.add_result(message),
            Role::Assistant => self.add_answer(message),
        }
    }

    fn add_instructions(&mut self, content: &'a [Part]) {
        let texts = content
            .iter()
            .filter_map(Part::as_text)
            .filter(|text| !text.trim().is_empty());
        let begins =
            self.conversation.turns.is_empty() && self.said.is_empty() && self.results.is_empty();
        match (begins, self.inline_system) {
            (true, _) => self
                .conversation
                .system
                .extend(texts.map(|text| Kind::text(text).into())),
            (false, true) => self
                .instructions
                .extend(texts.map(|text| Kind::text(text).into())),
            (false, false) => {
                self.said.extend(
                    texts.map(|text| Kind::text(format!("<system>{text}</system>")).into()),
                );
            }
        }
    }

    fn add_result(&mut self, message: &'a Message) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let content = blocks(&message.content);
        match self.ids.result(id) {
            Some(tool_use_id) => {
                let (mut content, is_error): (Vec<Block<'a>>, _) =
                    (content.collect(), message.is_error);
                if is_error && content.is_empty() {
                    // The API requires content for each error.
                    content.push(Kind::text("It failed and returned nothing.").into());
                }
                self.results.push(
                    Kind::ToolResult {
                        tool_use_id,
                        content,
                        is_error,
                    }
                    .into(),
                );
            }
            // Its call is missing, and the API refuses a result without one.
            None => self.said.extend(content),
        }
    }

    fn add_answer(&mut self, message: &'a Message) {
        let blocks = message.blocks(self.provider);
        if blocks.is_empty() {
            return;
        }
        self.close_user_turn();
        let content: Vec<Block<'a>> = blocks
            .into_iter()
            .filter_map(|block| self.answer_block(block))
            .collect();
        if !content.is_empty() {
            self.push("assistant", content);
        }
    }

    fn answer_block(&mut self, block: Stored<'a>) -> Option<Block<'a>> {
        let kind = match block {
            Stored::Reasoning { text, data } => thinking(text, data?)?,
            Stored::Part {
                part: Part::Text { text },
                data,
            } => {
                let citations = data.and_then(|data| data.get("citations"));
                (!text.trim().is_empty()).then(|| Kind::Text {
                    text: Cow::Borrowed(text),
                    citations,
                })?
            }
            Stored::Part { part, .. } => {
                part.medium()?;
                Kind::text("[A medium was left out here.]")
            }
            Stored::Call { call, data } => Kind::ToolUse {
                id: self.ids.call(&call.id),
                name: &call.name,
                input: Input::of(&call.arguments),
                caller: data.and_then(|data| data.get("caller")),
            },
            Stored::Other { data } => Kind::Stored(data.as_object()?),
        };
        Some(kind.into())
    }

    /// Appends content to the turn of this role, or starts one.
    fn push(&mut self, role: &'static str, content: Vec<Block<'a>>) {
        match self.conversation.turns.last_mut() {
            Some(turn) if turn.role == role => turn.content.extend(content),
            _ => self.conversation.turns.push(Turn { role, content }),
        }
    }

    fn close_user_turn(&mut self) {
        let missing = |tool_use_id| {
            let content = vec![Kind::text(NO_RESULT).into()];
            Kind::ToolResult {
                tool_use_id,
                content,
                is_error: true,
            }
            .into()
        };
        let mut content = mem::take(&mut self.results);
        content.extend(self.ids.without_result().map(missing));
        content.append(&mut self.said);
        let instructions = mem::take(&mut self.instructions);
        if content.is_empty() && !instructions.is_empty() {
            // Instructions must follow a user turn.
            content.push(Kind::text(".").into());
        }
        if !content.is_empty() {
            self.push("user", content);
        }
        let instruction = |block| Turn {
            role: "system",
            content: vec![block],
        };
        self.conversation
            .turns
            .extend(instructions.into_iter().map(instruction));
    }

    fn finish(mut self) -> Conversation<'a> {
        self.close_user_turn();
        let turns = &mut self.conversation.turns;
        pair_provider_calls(turns);
        for turn in turns.iter_mut().filter(|turn| turn.role == "assistant") {
            // The API refuses a turn that ends in thinking.
            while turn
                .content
                .last()
                .is_some_and(|block| block.kind.is_thinking())
            {
                turn.content.pop();
            }
        }
        turns.retain(|turn| !turn.content.is_empty());
        if let Some(Turn {
            role: "assistant",
            content,
        }) = turns.last_mut()
            && let Some(Block {
                kind: Kind::Text { text, .. },
                ..
            }) = content.last_mut()
        {
            // The API refuses a prefilled answer that ends in white space.
            *text = Cow::Owned(text.trim_end().to_owned());
        }
        self.conversation
    }
}

fn blocks<'a>(parts: &'a [Part]) -> impl Iterator<Item = Block<'a>> {
    parts.iter().filter_map(Kind::of_part).map(Block::from)
}

/// Thinking as signed by the provider; `None` if it was not signed.
fn thinking<'a>(text: &'a str, data: &'a Value) -> Option<Kind<'a>> {
    let field = |name: &str| {
        data.get(name)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    match (field("data"), field("signature")) {
        (Some(data), _) => Some(Kind::RedactedThinking { data }),
        (None, Some(signature)) => Some(Kind::Thinking {
            thinking: text,
            signature,
        }),
        (None, None) => None,
    }
}

/// Removes calls of server-side tools without a result, and results without a call: the API refuses both. The result
/// may be in a later answer, and a call of the last answer may still be running.
fn pair_provider_calls(turns: &mut [Turn<'_>]) {
    let field = |block: &Block<'_>, name: &str| match &block.kind {
        Kind::Stored(stored) => stored.get(name).and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let all = |turns: &[Turn<'_>], name: &str| -> HashSet<String> {
        turns
            .iter()
            .flat_map(|turn| &turn.content)
            .filter_map(|block| field(block, name))
            .collect()
    };
    let called = all(turns, "id");
    let answered = all(turns, "tool_use_id");
    let last = turns.iter().rposition(|turn| turn.role == "assistant");
    for (at, turn) in turns.iter_mut().enumerate() {
        turn.content.retain(
            |block| match (field(block, "id"), field(block, "tool_use_id")) {
                (_, Some(call)) => called.contains(&call),
                (Some(call), None) => Some(at) == last || answered.contains(&call),
                (None, None) => true,
            },
        );
    }
}
