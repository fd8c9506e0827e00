//! Recorded conversations with real providers, played again to whole runs: what the provider wanted back in the recorded
//! requests stands in ours, as it came and in its order.

use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex},
};

use agent::{Tool, Toolbox, history::messages_of, tool::ToolKind};
use domain::{Message, Role};
use llm::{
    BaseUrl, ChatModel, HttpClient, OpenAiSettings, ProviderKind, Secret, ToolSpec,
    openai::{Pool, Server, ServerSettings},
};
use scripted::{
    ScriptedServer, ServerOptions,
    replay::{Exchange, Pieces, Recording},
    strict,
};
use serde_json::{Value, json};

use crate::play::{Play, lines};

/// One thing in the conversation of a request.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    /// What a person said.
    Asked(String),
    /// What the model said, as the provider wants it back.
    Said(Value),
    /// A call in what it said: what results name it by, and its tool.
    Called(String, String),
    /// What came of a call.
    Result(String, String),
}

/// The recordings of a provider, and how its format writes a conversation.
struct Provider {
    kind: ProviderKind,
    folder: &'static str,
    recordings: &'static [&'static str],
    items: fn(&Value) -> Vec<Item>,
}

const PROVIDERS: [Provider; 6] = [
    Provider {
        kind: ProviderKind::Anthropic,
        folder: "anthropic",
        recordings: &[
            "document_in_result",
            "redacted_two_turns",
            "schema_and_tools",
            "tool_with_thinking",
        ],
        items: anthropic,
    },
    Provider {
        kind: ProviderKind::Bedrock,
        folder: "bedrock",
        recordings: &[
            "code_interpreter",
            "redacted_thinking",
            "tool_stream",
            "tool_with_thinking",
        ],
        items: bedrock,
    },
    Provider {
        kind: ProviderKind::Openai,
        folder: "chat_completions",
        recordings: &[
            "cerebras",
            "deepseek",
            "groq",
            "mistral_tool",
            "openai_stream",
            "zai",
        ],
        items: chat_completions,
    },
    Provider {
        kind: ProviderKind::Gemini,
        folder: "gemini",
        recordings: &[
            "image_in_result",
            "picture_result_2_5",
            "server_side_tools",
            "signature_alone",
            "signed_calls",
            "streamed_calls",
        ],
        items: gemini,
    },
    Provider {
        kind: ProviderKind::Vertex,
        folder: "gemini",
        recordings: &["vertex_audio_result"],
        items: gemini,
    },
    Provider {
        kind: ProviderKind::OpenaiResponses,
        folder: "openai_responses",
        recordings: &[
            "call_without_reasoning",
            "function_call_stream",
            "mcp_two_turns",
            "reasoning_and_call",
            "reasoning_two_turns",
        ],
        items: openai_responses,
    },
];

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// The text of a content that is one, or a list of parts.
fn content_text(content: &Value) -> String {
    match content.as_array() {
        Some(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        None => text(content),
    }
}

/// The object without these fields, and without those that say nothing.
fn without(value: &Value, fields: &[&str]) -> Value {
    let mut value = value.clone();
    let says = |value: &Value| !value.is_null() && *value != json!([]) && *value != json!("");
    if let Some(object) = value.as_object_mut() {
        object.retain(|name, value| !fields.contains(&name.as_str()) && says(value));
    }
    value
}

fn anthropic(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for message in list(body, "messages") {
        for block in list(message, "content") {
            match (
                text(&message["role"]).as_str(),
                text(&block["type"]).as_str(),
            ) {
                ("user", "text") => items.push(Item::Asked(text(&block["text"]))),
                ("user", "tool_result") => {
                    items.push(Item::Result(
                        text(&block["tool_use_id"]),
                        content_text(&block["content"]),
                    ));
                }
                ("user", _) => {}
                (_, kind) => {
                    items.push(Item::Said(without(block, &["cache_control"])));
                    if kind == "tool_use" {
                        items.push(Item::Called(text(&block["id"]), text(&block["name"])));
                    }
                }
            }
        }
    }
    items
}

fn bedrock(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for message in list(body, "messages") {
        for block in list(message, "content") {
            let result = &block["toolResult"];
            match text(&message["role"]).as_str() {
                "user" if result.is_object() => {
                    items.push(Item::Result(
                        text(&result["toolUseId"]),
                        content_text(&result["content"]),
                    ));
                }
                "user" if block["text"].is_string() => {
                    items.push(Item::Asked(text(&block["text"])))
                }
                "assistant" if block.get("cachePoint").is_none() => {
                    items.push(Item::Said(without(block, &[])));
                    if block["toolUse"].is_object() {
                        let call = &block["toolUse"];
                        items.push(Item::Called(text(&call["toolUseId"]), text(&call["name"])));
                    }
                }
                _ => {}
            }
        }
    }
    items
}

fn chat_completions(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    // Calls of the recorded client itself, which the model has not made.
    let is_clients = |message: &&Value| {
        let id = message["tool_call_id"]
            .as_str()
            .or(message["tool_calls"][0]["id"].as_str());
        id.is_some_and(|id| id.starts_with("auto_load_"))
    };
    for message in list(body, "messages")
        .iter()
        .filter(|message| !is_clients(message))
    {
        match text(&message["role"]).as_str() {
            "user" => items.push(Item::Asked(content_text(&message["content"]))),
            "assistant" => {
                // Mistral's package says these, too.
                let mut said = without(message, &["prefix"]);
                for call in said["tool_calls"].as_array_mut().into_iter().flatten() {
                    *call = without(call, &["index"]);
                }
                items.push(Item::Said(said));
                items.extend(
                    list(message, "tool_calls").iter().map(|call| {
                        Item::Called(text(&call["id"]), text(&call["function"]["name"]))
                    }),
                );
            }
            "tool" => {
                items.push(Item::Result(
                    text(&message["tool_call_id"]),
                    content_text(&message["content"]),
                ));
            }
            _ => {}
        }
    }
    items
}

/// The part with its names in camel case, as Vertex takes and gives others too, and signatures in one of the two alphabets
/// of base64. Of tools at the provider only the id is left: the recorded client adds what it knows from elsewhere.
fn gemini_part(part: &Value) -> Value {
    let field = |(name, value): (&String, &Value)| match name.as_str() {
        "function_call" | "functionCall" => ("functionCall".to_owned(), without(value, &["id"])),
        "function_response" => ("functionResponse".to_owned(), value.clone()),
        "thought_signature" | "thoughtSignature" => (
            "thoughtSignature".to_owned(),
            json!(text(value).replace('-', "+").replace('_', "/")),
        ),
        "toolCall" | "toolResponse" => (name.clone(), value["id"].clone()),
        _ => (name.clone(), value.clone()),
    };
    part.as_object().unwrap().iter().map(field).collect()
}

fn gemini(body: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for content in list(body, "contents") {
        for part in list(content, "parts").iter().map(gemini_part) {
            let result = &part["functionResponse"];
            match text(&content["role"]).as_str() {
                "user" if result.is_object() => {
                    items.push(Item::Result(
                        text(&result["name"]),
                        text(&result["response"]),
                    ));
                }
                "user" if part["text"].is_string() => items.push(Item::Asked(text(&part["text"]))),
                "model" => {
                    if part["functionCall"].is_object() {
                        let name = text(&part["functionCall"]["name"]);
                        items.push(Item::Called(name.clone(), name));
                    }
                    items.push(Item::Said(part));
                }
                _ => {}
            }
        }
    }
    items
}

fn openai_responses(body: &Value) -> Vec<Item> {
    if let Value::String(asked) = &body["input"] {
        return vec![Item::Asked(asked.clone())];
    }
    let mut items = Vec::new();
    for item in list(body, "input") {
        match (text(&item["type"]).as_str(), text(&item["role"]).as_str()) {
            (_, "user") => items.push(Item::Asked(content_text(&item["content"]))),
            (_, "system" | "developer") => {}
            ("function_call_output", _) => {
                items.push(Item::Result(
                    text(&item["call_id"]),
                    content_text(&item["output"]),
                ));
            }
            (kind, _) => {
                // What the recorded client leaves out of calls at servers of others is not asked of us.
                items.push(Item::Said(without(item, &["status", "tools", "output"])));
                if kind == "function_call" {
                    items.push(Item::Called(text(&item["call_id"]), text(&item["name"])));
                }
            }
        }
    }
    items
}

/// What has to come back, in its order: what the model said, and which calls got results.
fn wanted_back(items: &[Item]) -> Vec<Value> {
    let wanted = |item: &Item| match item {
        Item::Said(said) => Some(said.clone()),
        Item::Result(call, _) => Some(json!({ "result_of": call })),
        Item::Asked(_) | Item::Called(..) => None,
    };
    items.iter().filter_map(wanted).collect()
}

/// The tools of the recording, which give what they gave then.
fn tools(items: &[Item]) -> Toolbox {
    let mut results: HashMap<String, VecDeque<String>> = HashMap::new();
    let mut names = HashMap::new();
    for item in items {
        match item {
            Item::Called(id, name) => drop(names.insert(id.clone(), name.clone())),
            Item::Result(id, result) => {
                results
                    .entry(names[id].clone())
                    .or_default()
                    .push_back(result.clone());
            }
            Item::Asked(_) | Item::Said(_) => {}
        }
    }
    let tool = |(name, results): (String, VecDeque<String>)| {
        let results = Mutex::new(results);
        let give = move |_, _| {
            let result = results.lock().unwrap().pop_front().unwrap_or_default();
            std::future::ready(Ok(result))
        };
        let parameters = json!({"type": "object"}).into();
        let spec = ToolSpec {
            name,
            description: "Recorded.".to_owned(),
            parameters,
        };
        Arc::new(Tool::from_outside(spec, ToolKind::REPEATABLE, give).unwrap())
    };
    Toolbox::new(results.into_iter().map(tool).collect())
}

/// The model that was asked, as its address or the request names it.
pub(crate) fn model_name(exchange: &Exchange) -> String {
    let after = |mark: &str| exchange.path.split_once(mark).map(|(_, name)| name);
    let name = after("/models/").and_then(|name| name.split(':').next());
    let name = name.or_else(|| after("/model/").and_then(|name| name.split('/').next()));
    name.map_or_else(
        || text(&exchange.request["model"]),
        |name| name.replace("%3A", ":"),
    )
}

pub(crate) fn model(kind: ProviderKind, server: &ScriptedServer, name: &str) -> ChatModel {
    let address = format!("http://{}", server.address());
    let key = match kind {
        ProviderKind::Vertex => strict::service_account(&address),
        ProviderKind::Bedrock => strict::ACCESS_KEY.to_owned(),
        _ => "key".to_owned(),
    };
    let base_url = BaseUrl::parse_of(kind, &address).unwrap();
    let settings = ServerSettings {
        kind,
        ..ServerSettings::alone(base_url, Some(Secret::new(key)))
    };
    let pool = Arc::new(Pool::of_one(Server::new(settings, Arc::default())));
    ChatModel::openai(
        OpenAiSettings::of_pool(pool, name),
        &HttpClient::new().unwrap(),
    )
}

async fn check(provider: &Provider, name: &str, pieces: Pieces) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../provider/tests/recordings")
        .join(provider.folder);
    let recording = Recording::read(&folder.join(name).with_extension("json")).unwrap();
    let recorded: Vec<Vec<Item>> = recording
        .0
        .iter()
        .map(|exchange| (provider.items)(&exchange.request))
        .collect();
    let options = ServerOptions {
        tokens: Some(strict::tokens()),
        ..ServerOptions::default()
    };
    let server = ScriptedServer::start_with(recording.behaviour(pieces), options)
        .await
        .unwrap();
    let mut play =
        Play::with_model(model(provider.kind, &server, &model_name(&recording.0[0]))).await;
    play.agents.main.tools = tools(recorded.last().unwrap());
    let asked = |items: &[Item]| {
        items.iter().rev().find_map(|item| match item {
            Item::Asked(text) => Some(text.clone()),
            _ => None,
        })
    };
    let questions = || -> Vec<scripted::Request> {
        server
            .received()
            .into_iter()
            .filter(|request| !request.path.ends_with("/token"))
            .collect()
    };
    let mut answered = 0;
    while let Some(next) = recorded.get(answered) {
        play.question = asked(next).unwrap();
        let log = play.log().await;
        let count = questions().len();
        assert!(count > answered, "{name}: {:#?}", lines(&log));
        answered = count;
        play.said_before
            .push(Message::text(Role::User, play.question.clone()));
        play.said_before.extend(messages_of(&log));
    }
    let sent = questions();
    for (sent, recorded) in sent.iter().zip(&recorded) {
        let sent = wanted_back(&(provider.items)(&sent.body));
        let recorded = wanted_back(recorded);
        assert_eq!(sent, recorded, "{} {name}", provider.folder);
    }
}

#[tokio::test]
async fn provider_data_is_sent_back() {
    for provider in &PROVIDERS {
        for name in provider.recordings {
            check(provider, name, Pieces::Whole).await;
        }
    }
}

#[tokio::test]
async fn answers_may_come_in_pieces_cut_anywhere() {
    for provider in &PROVIDERS {
        for name in provider.recordings {
            check(provider, name, Pieces::Bytes(61)).await;
        }
    }
}
