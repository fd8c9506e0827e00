//! Model servers that refuse what the real ones refuse: an assistant message whose reasoning, signature or order is not as
//! it was given, a call without a result, a result without a call, a schema of a tool that they do not take. Their models think before each step, call tools, two at
//! once in every second step, and answer at the end.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod schemas;

use serde_json::{Value, json};

use crate::{Behaviour, Reply, Request};

/// Whose rules a server keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Anthropic's Messages with thinking.
    Anthropic,
    /// Gemini with thought signatures.
    Gemini,
    /// OpenAI's Responses with encrypted reasoning.
    Responses,
    /// Chat Completions of DeepSeek and Kimi: `reasoning_content` of each message with calls.
    ReasoningContent,
    /// Chat Completions of OpenRouter: `reasoning_details` of each message with calls.
    ReasoningDetails,
    /// Gemini's Chat Completions: a signature beside the first call of each message.
    ExtraContent,
}

impl Rules {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Anthropic,
        Self::Gemini,
        Self::Responses,
        Self::ReasoningContent,
        Self::ReasoningDetails,
        Self::ExtraContent,
    ];
}

/// A model that thinks, calls `tool` with `{"step": n, "at": m}` for so many steps of each turn, and answers “Done after n
/// steps.”. Without tools it answers at once.
#[must_use]
pub fn behaviour(rules: Rules, tool: &'static str, steps: usize) -> Behaviour {
    Behaviour::answer(move |request| answer(rules, request, (tool, steps), None))
}

/// The same; its server does not take this keyword in a tool's schema either.
#[must_use]
pub fn behaviour_without(rules: Rules, tool: &'static str, steps: usize, keyword: &'static str) -> Behaviour {
    Behaviour::answer(move |request| answer(rules, request, (tool, steps), Some(keyword)))
}

fn answer(rules: Rules, request: &Request, (tool, steps): (&str, usize), unknown: Option<&str>) -> Reply {
    if let Err(words) = schemas::check(&request.body, rules, unknown) {
        return refusal(rules, &words);
    }
    let read = match rules {
        Rules::Anthropic => anthropic::read(&request.body),
        Rules::Gemini => gemini::read(&request.body),
        Rules::Responses => responses::read(&request.body),
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => {
            chat::read(&request.body, rules)
        }
    };
    let done = match read {
        Ok(done) => done,
        Err(words) => return refusal(rules, &words),
    };
    // A conversation that was made shorter shows fewer steps than were done.
    let is_over = done >= steps || request.number > 4 * steps || list(&request.body, "tools").is_empty();
    let mut turn = match is_over {
        true => Turn::last(done, request.number),
        false => Turn::step(done + 1, tool, request.number),
    };
    turn.input_tokens = request.body.to_string().len() / 4;
    match rules {
        Rules::Anthropic => anthropic::write(&turn),
        Rules::Gemini => gemini::write(&turn),
        Rules::Responses => responses::write(&turn),
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => chat::write(&turn, rules),
    }
}

fn refusal(rules: Rules, words: &str) -> Reply {
    let body = match rules {
        Rules::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}})
        }
        Rules::Gemini => json!({"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}),
        _ => {
            json!({"error": {"message": words, "type": "invalid_request_error", "param": null, "code": null}})
        }
    };
    Reply::status(400, &[("content-type", "application/json")], &body.to_string())
}

/// What the model says in one call.
struct Turn {
    thought: String,
    /// Before calls it is commentary.
    text: String,
    /// Ids, and the arguments.
    calls: Vec<(String, Value)>,
    tool: String,
    /// Nine tenths of them come from the cache.
    input_tokens: usize,
}

impl Turn {
    fn cached_tokens(&self) -> usize {
        self.input_tokens / 10 * 9
    }

    fn step(step: usize, tool: &str, number: usize) -> Self {
        let many = if step.is_multiple_of(2) { 2 } else { 1 };
        let call = |at: usize| (format!("call_{number}_{at}"), json!({"step": step, "at": at}));
        Self {
            thought: thought(number),
            text: if step == 1 { "I look.".to_owned() } else { String::new() },
            calls: (0..many).map(call).collect(),
            tool: tool.to_owned(),
            input_tokens: 0,
        }
    }

    fn last(done: usize, number: usize) -> Self {
        let text = format!("Done after {done} steps.");
        Self { thought: thought(number), text, calls: Vec::new(), tool: String::new(), input_tokens: 0 }
    }
}

/// With a character that two halves of UTF-16 make.
fn thought(number: usize) -> String {
    format!("Thought {number} \u{1F914}.")
}

/// What only the server can write for a text: changed text or another signature is noticed.
fn signature(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes().chain(*b"only the provider knows") {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("sig-{hash:016x}==")
}

/// The calls that wait for a result.
#[derive(Default)]
struct Waiting(Vec<String>);

impl Waiting {
    fn called(&mut self, id: &str) {
        self.0.push(id.to_owned());
    }

    fn returned(&mut self, id: &str) -> Result<(), String> {
        match self.0.iter().position(|waiting| waiting == id) {
            Some(at) => {
                self.0.remove(at);
                Ok(())
            }
            None => Err(format!("a result for {id}, which was not called")),
        }
    }

    fn check(&self) -> Result<(), String> {
        match self.0.first() {
            Some(id) => {
                Err(format!("`tool_use` ids were found without `tool_result` blocks immediately after: {id}"))
            }
            None => Ok(()),
        }
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
