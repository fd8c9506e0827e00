//! The model server, which is not killed: each work item has effects of the main agent and of a sub-agent, over three
//! answers.

use scripted::{Behaviour, Finish, Reply, Request, ScriptedServer, ServerOptions, Step};
use serde_json::{Value, json};

use crate::{
    calls::CallLedger,
    victim::{EFFECT, LOOK},
};

/// The beginning of a person's message; the name of the work item follows.
pub(crate) const WORK: &str = "Work on ";
/// The beginning of what a sub-agent is told.
pub(crate) const PART: &str = "Part ";

/// The effects of a work item.
pub(crate) fn effects(work: &str) -> Vec<String> {
    ["a", "b", "c", "part"]
        .iter()
        .map(|effect| format!("{work}.{effect}"))
        .collect()
}

/// The end of the answer.
pub(crate) fn answer(work: &str) -> String {
    format!("{work} is done.")
}

/// Starts it; it notes each call.
pub(crate) async fn start(calls: &CallLedger) -> anyhow::Result<ScriptedServer> {
    let calls = calls.clone();
    let reply = move |request: &Request| reply(request, &calls);
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    Ok(ScriptedServer::start_with(Behaviour::answer(reply), options).await?)
}

fn reply(request: &Request, calls: &CallLedger) -> Reply {
    let messages = request.body["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let is_users = |message: &&Value| message["role"] == "user";
    let asked = messages
        .iter()
        .rposition(|message| is_users(&message))
        .unwrap_or_default();
    let said = text_of(&messages[asked]);
    let answers = messages[asked..]
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
    calls.note(&said, answers);
    if let Some(work) = said.strip_prefix(PART) {
        return match answers {
            0 => Reply::calls(&[(EFFECT, json!({"what": format!("{work}.part")}))]),
            _ => Reply::text(&format!("The part of {work} is done.")),
        };
    }
    let work = said.strip_prefix(WORK).unwrap_or(&said);
    match answers {
        0 => Reply::calls(&[
            (EFFECT, json!({"what": format!("{work}.a")})),
            (EFFECT, json!({"what": format!("{work}.b")})),
            (
                "task",
                json!({"description": format!("{PART}{work}"), "subagent_type": "general"}),
            ),
            (
                "write_file",
                json!({"path": format!("/{work}.md"), "content": work}),
            ),
        ]),
        1 => Reply::calls(&[
            (LOOK, json!({"what": work})),
            (EFFECT, json!({"what": format!("{work}.c")})),
        ]),
        _ => {
            let text = format!("{} {}", "word ".repeat(20), answer(work));
            let text = Step::Text {
                text,
                tokens_per_second: Some(200.0),
            };
            Reply::stream(&[
                text,
                Step::Finish {
                    reason: Finish::Stop,
                },
            ])
        }
    }
}

fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}
