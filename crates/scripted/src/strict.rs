//! Model servers with the validation of the real ones. They refuse an assistant message whose reasoning, signature or
//! order was changed, a call without a result, a result without a call, and unsupported tool schemas. Their models
//! think before each step, call tools, two at once in every second step, and answer at the end. On request, they begin
//! with two parallel sub-agents.

mod anthropic;
mod aws_signature;
mod bedrock;
mod chat;
mod gemini;
mod google_token;
mod responses;
mod schemas;

use std::io;

use serde_json::{Value, json};

use crate::{Behaviour, Reply, Request, ScriptedServer, ServerOptions};

pub use aws_signature::ACCESS_KEY;
pub use google_token::{service_account, tokens};

/// The provider whose rules a server enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Anthropic's Messages with thinking.
    Anthropic,
    /// Bedrock's Converse with Claude; requests must be signed with [`ACCESS_KEY`].
    Bedrock,
    /// Gemini with thought signatures.
    Gemini,
    /// Gemini on Vertex AI, with a token for the [`service_account`].
    Vertex,
    /// OpenAI's Responses with encrypted reasoning.
    Responses,
    /// Chat Completions of DeepSeek and Kimi, with `reasoning_content` in each message with calls.
    ReasoningContent,
    /// Chat Completions of OpenRouter, with `reasoning_details` in each message with calls.
    ReasoningDetails,
    /// Gemini's Chat Completions, with a signature on the first call of each message.
    ExtraContent,
}

impl Rules {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::Bedrock,
        Self::Gemini,
        Self::Vertex,
        Self::Responses,
        Self::ReasoningContent,
        Self::ReasoningDetails,
        Self::ExtraContent,
    ];
}

/// The prompt that requests sub-agents.
pub const TWO_LOOK: &str = "Have two look.";

/// Starts a server with the model [`behaviour`]; it also issues the tokens that Vertex AI requires.
///
/// # Errors
/// If no port is available.
pub async fn start(rules: Rules, tool: &'static str, steps: usize) -> io::Result<ScriptedServer> {
    let options = ServerOptions {
        tokens: Some(tokens()),
        ..ServerOptions::default()
    };
    ScriptedServer::start_with(behaviour(rules, tool, steps), options).await
}

/// A model that thinks, calls `tool` with `{"step": n, "at": m}` for this many steps of each turn, and answers “Done
/// after n steps.”. Without tools it answers immediately; for [`TWO_LOOK`], its first step starts two sub-agents
/// instead.
#[must_use]
pub fn behaviour(rules: Rules, tool: &'static str, steps: usize) -> Behaviour {
    Behaviour::answer(move |request| answer(rules, request, tool, steps, None))
}

/// Like [`behaviour`], with a server that also rejects this keyword in a tool's schema.
#[must_use]
pub fn behaviour_without(
    rules: Rules,
    tool: &'static str,
    steps: usize,
    keyword: &'static str,
) -> Behaviour {
    Behaviour::answer(move |request| answer(rules, request, tool, steps, Some(keyword)))
}

fn answer(
    rules: Rules,
    request: &Request,
    tool: &str,
    steps: usize,
    unknown: Option<&str>,
) -> Reply {
    let body = &request.body;
    let allowed = match rules {
        Rules::Bedrock => aws_signature::check(request),
        Rules::Vertex => google_token::check(request),
        _ => Ok(()),
    };
    if let Err(words) = allowed {
        return refusal(rules, 403, &words);
    }
    if let Err(words) = schemas::check(body, rules, unknown) {
        return refusal(rules, 400, &words);
    }
    let read = match rules {
        Rules::Anthropic => anthropic::read(body),
        Rules::Bedrock => bedrock::read(body),
        Rules::Gemini | Rules::Vertex => gemini::read(body),
        Rules::Responses => responses::read(body),
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => {
            chat::read(body, rules)
        }
    };
    let done = match read {
        Ok(done) => done,
        Err(words) => return refusal(rules, 400, &words),
    };
    let tools = match rules {
        Rules::Bedrock => &body["toolConfig"]["tools"],
        _ => &body["tools"],
    };
    let offered = tools.to_string();
    // A compacted conversation shows fewer steps than were done.
    let is_over = done >= steps || request.number > 4 * steps || !offered.contains("\"name\"");
    let mut turn = match is_over {
        true => Turn::last(done, request.number),
        false if done == 0 && body.to_string().contains(TWO_LOOK) => Turn::tasks(request.number),
        false => Turn::step(done + 1, tool, request.number),
    };
    turn.input_tokens = body.to_string().len() / 4;
    match rules {
        Rules::Anthropic => anthropic::write(&turn),
        Rules::Bedrock => bedrock::write(&turn),
        Rules::Gemini | Rules::Vertex => gemini::write(&turn),
        Rules::Responses => responses::write(&turn),
        Rules::ReasoningContent | Rules::ReasoningDetails | Rules::ExtraContent => {
            chat::write(&turn, rules)
        }
    }
}

fn refusal(rules: Rules, status: u16, words: &str) -> Reply {
    let json = ("content-type", "application/json");
    let body = match rules {
        Rules::Bedrock => {
            let kind = if status == 400 {
                "ValidationException"
            } else {
                "InvalidSignatureException"
            };
            let headers = [json, ("x-amzn-errortype", kind)];
            return Reply::status(status, &headers, &json!({ "message": words }).to_string());
        }
        Rules::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}})
        }
        Rules::Gemini | Rules::Vertex => {
            let name = if status == 400 {
                "INVALID_ARGUMENT"
            } else {
                "PERMISSION_DENIED"
            };
            json!({"error": {"code": status, "message": words, "status": name}})
        }
        _ => {
            json!({"error": {"message": words, "type": "invalid_request_error", "param": null, "code": null}})
        }
    };
    Reply::status(status, &[json], &body.to_string())
}

/// The model's output in one call.
struct Turn {
    thought: String,
    /// Before calls it is commentary.
    text: String,
    calls: Vec<Call>,
    /// Nine tenths of them are read from the cache.
    input_tokens: usize,
}

/// A call in a [`Turn`].
struct Call {
    id: String,
    name: String,
    arguments: Value,
}

impl Turn {
    fn cached_tokens(&self) -> usize {
        self.input_tokens / 10 * 9
    }

    fn step(step: usize, tool: &str, number: usize) -> Self {
        let many = if step.is_multiple_of(2) { 2 } else { 1 };
        // All calls differ, and so do their signatures.
        let arguments = |at: usize| json!({"step": step, "at": at, "request": number});
        let text = if step == 1 { "I look." } else { "" };
        Self::calling(tool, (0..many).map(arguments), text, number)
    }

    fn tasks(number: usize) -> Self {
        let arguments = |part: &str| json!({"description": format!("Look at {part}."), "subagent_type": "general"});
        Self::calling(
            "task",
            ["the left", "the right"].into_iter().map(arguments),
            "Two will look.",
            number,
        )
    }

    fn calling(
        tool: &str,
        arguments: impl Iterator<Item = Value>,
        text: &str,
        number: usize,
    ) -> Self {
        let call = |(at, arguments): (usize, Value)| Call {
            id: format!("call_{number}_{at}"),
            name: tool.to_owned(),
            arguments,
        };
        let calls = arguments.enumerate().map(call).collect();
        Self {
            thought: thought(number),
            text: text.to_owned(),
            calls,
            input_tokens: 0,
        }
    }

    fn last(done: usize, number: usize) -> Self {
        let text = format!("Done after {done} steps.");
        Self {
            thought: thought(number),
            text,
            calls: Vec::new(),
            input_tokens: 0,
        }
    }
}

/// Contains a character that is a surrogate pair in UTF-16.
fn thought(number: usize) -> String {
    format!("Thought {number} \u{1F914}.")
}

/// A signature of a text that only the server can create, so that a changed text or signature is detected.
fn signature(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes().chain(*b"only the provider knows") {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("sig-{hash:016x}==")
}

/// Calls that have no result yet.
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

    fn ids(&self) -> String {
        self.0.join(", ")
    }

    fn check(&self) -> Result<(), String> {
        match self.0.first() {
            Some(id) => Err(format!(
                "`tool_use` ids were found without `tool_result` blocks immediately after: {id}"
            )),
            None => Ok(()),
        }
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}
