//! Converts a server's tools to agents' tools: arguments are checked against their schemas, progress is shown, and
//! tools that change something need approval.

use std::{sync::Arc, time::Duration};

use agent::{Returned, Tool, ToolContext, ToolFailure, ToolKind};
use domain::LocalizedText;
use llm::ToolSpec;
use mcp::{Answer, CallError, CallEvent, Media, OfferedTool, Piece, Server, name_for_models};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::form;
use crate::{messages, platform::config::Approval};

/// The minimum time between shown progress messages.
const PROGRESS_PAUSE: Duration = Duration::from_millis(250);

/// The usable tools of one list.
pub(super) struct Usable {
    pub(super) tools: Vec<Arc<Tool>>,
    pub(super) needs_approval: Vec<String>,
    /// Why tools were left out.
    pub(super) problems: Vec<LocalizedText>,
}

impl Usable {
    pub(super) fn make(server: &Arc<Server>, offered: &[OfferedTool], approval: Approval) -> Self {
        let mut usable = Self {
            tools: Vec::new(),
            needs_approval: Vec::new(),
            problems: Vec::new(),
        };
        let mut bad = Vec::new();
        for offer in offered {
            let name = server.definition().redact_said(&offer.name);
            match tool(server, offer) {
                Ok(tool) if usable.tools.iter().any(|other| other.name() == tool.name()) => {
                    bad.push((name, messages::Tools::McpToolNameTaken.into()));
                }
                Ok(tool) => {
                    if needs_approval(approval, offer) {
                        usable.needs_approval.push(tool.name().to_owned());
                    }
                    usable.tools.push(Arc::new(tool));
                }
                Err(why) => bad.push((name, why)),
            }
        }
        usable.problems = bad
            .into_iter()
            .map(|(name, why)| messages::Tools::McpToolLeftOut { name, why }.into())
            .collect();
        for problem in &usable.problems {
            tracing::warn!(server = server.definition().name, %problem, "a tool was left out");
        }
        usable
    }
}

/// Changes need a user's approval; whether a tool only reads is the server's own claim.
fn needs_approval(approval: Approval, offer: &OfferedTool) -> bool {
    match approval {
        Approval::Auto => !offer.read_only,
        Approval::Always => true,
        Approval::Never => false,
    }
}

fn tool(server: &Arc<Server>, offer: &OfferedTool) -> Result<Tool, LocalizedText> {
    let redact = |text: &str| server.definition().redact_said(text);
    let mut parameters = Value::Object(offer.schema.clone());
    // Names cannot be redacted: they are sent back to the server.
    if redact(&offer.name) != offer.name || names_hold_secrets(&parameters, &redact) {
        return Err(messages::Tools::McpToolNamesSecrets.into());
    }
    redact_texts(&mut parameters, &redact);
    let spec = ToolSpec {
        name: name_for_models(&server.definition().name, &offer.name),
        description: redact(&offer.description),
        parameters: parameters.into(),
    };
    // The call has its own time limit, as its server may wait for a user.
    let kind = ToolKind {
        repeatable: offer.read_only || offer.idempotent,
        waits: true,
        goes_on: false,
    };
    let server = Arc::clone(server);
    let name = offer.name.clone();
    let made = Tool::from_outside(spec, kind, move |arguments, context| {
        call(Arc::clone(&server), name.clone(), arguments, context)
    });
    made.map_err(|failure| failure.0.trim_end_matches('.').into())
}

/// Redacts secrets in all strings of a schema.
fn redact_texts(schema: &mut Value, redact: &impl Fn(&str) -> String) {
    match schema {
        Value::String(text) => *text = redact(text),
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| redact_texts(value, redact)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| redact_texts(value, redact)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a field name in a schema contains a secret.
fn names_hold_secrets(schema: &Value, redact: &impl Fn(&str) -> String) -> bool {
    match schema {
        Value::Array(values) => values.iter().any(|value| names_hold_secrets(value, redact)),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| redact(name) != *name || names_hold_secrets(value, redact)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

async fn call(
    server: Arc<Server>,
    tool: String,
    arguments: Value,
    context: ToolContext,
) -> Result<String, ToolFailure> {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    // A server may echo secrets that it was sent.
    let redact = |text: &str| server.definition().redact_said(text);
    let failure = |error: CallError| ToolFailure(redact(&error.to_string()));
    let asker = context.run_number().to_string();
    let tool_name = name_for_models(&server.definition().name, &tool);
    let mut call = server
        .call(&tool, arguments, asker)
        .await
        .map_err(failure)?;
    let mut shown: Option<Instant> = None;
    loop {
        match call.next().await {
            CallEvent::Progress(words) => {
                if shown.is_none_or(|shown| shown.elapsed() >= PROGRESS_PAUSE) {
                    shown = Some(Instant::now());
                    context.progress(redact(&words)).await;
                }
            }
            CallEvent::Asks(question) if names_hold_secrets(&question.schema, &redact) => {
                let sentence =
                    "The server asked with a form whose names repeat what it was sent to sign in.";
                context.progress(sentence.to_owned()).await;
                question.reply(mcp::Reply::Cancel);
            }
            CallEvent::Asks(mut question) => {
                question.message = redact(&question.message);
                redact_texts(&mut question.schema, &redact);
                form::ask(&server.definition().name, question, &context).await;
            }
            CallEvent::Ended(result) => {
                if matches!(result, Err(CallError::Lost | CallError::TimedOut(_))) {
                    server.doubt();
                }
                return match result {
                    Ok(answer) => Ok(result_text(&tool_name, answer, &redact, &context).await),
                    Err(CallError::Failed(answer)) => Err(ToolFailure(
                        result_text(&tool_name, answer, &redact, &context).await,
                    )),
                    Err(error) => Err(failure(error)),
                };
            }
        }
    }
}

/// The result as text; its media are stored as files of the chat.
async fn result_text(
    tool: &str,
    answer: Answer,
    redact: &impl Fn(&str) -> String,
    context: &ToolContext,
) -> String {
    let mut texts = Vec::with_capacity(answer.pieces.len());
    for piece in answer.pieces {
        texts.push(match piece {
            Piece::Text(text) => redact(&text),
            Piece::Media(media) => kept(tool, &media, redact, context).await,
        });
    }
    texts.join("\n\n")
}

/// Stores a medium as a file of the chat, and returns a description of it.
async fn kept(
    tool: &str,
    media: &Media,
    redact: &impl Fn(&str) -> String,
    context: &ToolContext,
) -> String {
    let Media {
        kind,
        media_type,
        uri,
        bytes,
        embed,
    } = media;
    let what = match *kind {
        "image" => "Image",
        "audio" => "Sound",
        _ if *embed => "HTML that the person can open",
        _ => "File",
    };
    let returned = Returned {
        bytes,
        name: uri,
        embed: *embed,
    };
    match context.keep_returned(tool, &returned).await {
        Ok(file) => {
            let odd = if file.media_type == "application/octet-stream" && *kind != "resource" {
                format!(
                    "; it is not shown, as its bytes are not those of {}",
                    redact(media_type)
                )
            } else {
                String::new()
            };
            format!(
                "[{what}: {}, {}, {} bytes{odd}]",
                file.path, file.media_type, file.size_bytes
            )
        }
        Err(problem) => format!("{} It was not kept: {problem}", redact(&media.words())),
    }
}
