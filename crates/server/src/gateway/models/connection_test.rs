//! Tests a connection for an administrator: each key, and a short answer of a model. No result is stored.

use std::{sync::Arc, time::Duration};

use domain::{
    ConnectionId, ConnectionKeyId, LocalizedText, Message, ModelParameters, ProblemCode, Role,
};
use futures_util::future::join_all;
use llm::{
    ChatModel, ChatRequest, ModelError, ModelEvent, OpenAiSettings, Secret, ToolMode,
    openai::{Pool, Server, ServerSettings, list_models},
};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{Instant, timeout};

use super::{Models, connection_changes::LIST_TIMEOUT};
use crate::{error::ApiError, messages};

/// Long enough to load a small model first.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(45);
const MAX_TOKENS: u64 = 64;
const SHOWN_CHARS: usize = 200;

/// The outcome of a test of a connection.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionTest")]
pub struct ConnectionTest {
    /// The number of models it offers; `null` if it does not list them.
    pub models: Option<usize>,
    /// Why it does not list its models.
    pub problem: Option<LocalizedText>,
    /// How long listing the models took, in milliseconds.
    pub took_ms: u64,
    /// A separate result for each key.
    pub keys: Vec<KeyTest>,
    /// The model's answer; `null` if the request names no model.
    pub answer: Option<ModelTest>,
}

/// The outcome of a test of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ConnectionKeyTest")]
pub struct KeyTest {
    /// `null` if it comes from the environment or the configuration file.
    pub id: Option<ConnectionKeyId>,
    /// Why it does not work.
    pub problem: Option<LocalizedText>,
}

/// The answer of a model.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ModelTest")]
pub struct ModelTest {
    /// The beginning of the answer.
    pub text: String,
    /// Why there is no answer.
    pub problem: Option<LocalizedText>,
    /// How long the answer took, in milliseconds.
    pub took_ms: u64,
}

impl Models {
    /// Lists a server's models with each of its keys, and asks one model for a short answer.
    ///
    /// # Errors
    /// 404 if there is no such connection.
    pub async fn try_out(
        &self,
        id: ConnectionId,
        model: Option<&str>,
    ) -> Result<ConnectionTest, ApiError> {
        let known = self.connection(id)?;
        let settings = &known.server.settings;
        let keys: Vec<Option<&Secret>> = match &settings.keys[..] {
            [] => vec![None],
            keys => keys.iter().map(|(key, _)| Some(key)).collect(),
        };
        let started = Instant::now();
        let lists = keys
            .iter()
            .map(|key| list_models(settings, *key, &self.http, LIST_TIMEOUT));
        let lists = join_all(lists).await;
        let took_ms = millis(started);
        let works = lists.iter().position(Result::is_ok);
        let answer = match model {
            Some(model) => {
                let key = keys.get(works.unwrap_or(0)).copied().flatten();
                let keys = key.map(|key| (key.clone(), 1)).into_iter().collect();
                let server = Server::new(
                    ServerSettings {
                        keys,
                        ..settings.clone()
                    },
                    Arc::default(),
                );
                let pool = Arc::new(Pool::of_one(server));
                let target = OpenAiSettings {
                    attempts: 1,
                    ..OpenAiSettings::of_pool(pool, model)
                };
                Some(self.hear(target).await)
            }
            None => None,
        };
        if works.is_some() {
            known.server.record_check(None);
        }
        let models = works
            .and_then(|at| lists.get(at)?.as_ref().ok())
            .map(Vec::len);
        let first_problem = lists
            .first()
            .and_then(|list| list.as_ref().err())
            .cloned()
            .map(ModelError::words);
        let problem = if models.is_some() {
            None
        } else {
            first_problem
        };
        let mut results = lists.into_iter();
        let keys = known.keys.iter().map(|key| KeyTest {
            id: key.id,
            problem: match key.is_open {
                true => results.next().and_then(Result::err).map(ModelError::words),
                false => Some(messages::Settings::KeyUnreadable.into()),
            },
        });
        Ok(ConnectionTest {
            models,
            problem,
            took_ms,
            keys: keys.collect(),
            answer,
        })
    }

    async fn hear(&self, target: OpenAiSettings) -> ModelTest {
        let started = Instant::now();
        let model = ChatModel::openai(target, &self.http);
        let answer = timeout(ANSWER_TIMEOUT, say_ok(&model)).await;
        let answer = answer.unwrap_or_else(|_| {
            let late = messages::Settings::NotFinishedWithin {
                seconds: ANSWER_TIMEOUT.as_secs(),
            };
            Err(ModelError::new(ProblemCode::ModelTimeout, late))
        });
        let (text, problem) = match answer {
            Ok(text) => (text.trim().chars().take(SHOWN_CHARS).collect(), None),
            Err(error) => (String::new(), Some(error.words())),
        };
        ModelTest {
            text,
            problem,
            took_ms: millis(started),
        }
    }
}

async fn say_ok(model: &ChatModel) -> Result<String, ModelError> {
    let mut call = model.call(&ChatRequest {
        messages: &[Message::text(Role::User, "Say OK.")],
        tools: &[],
        tool_mode: ToolMode::Off,
        tool_prompt: None,
        parameters: &ModelParameters {
            max_output_tokens: Some(MAX_TOKENS),
            ..ModelParameters::default()
        },
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    });
    let mut text = String::new();
    let mut thoughts = String::new();
    while let Some(event) = call.next().await {
        match event? {
            ModelEvent::TextDelta(delta) => text.push_str(&delta),
            ModelEvent::ReasoningDelta(delta) => thoughts.push_str(&delta),
            ModelEvent::TextWasReasoning => thoughts.push_str(&std::mem::take(&mut text)),
            ModelEvent::ProviderData { .. }
            | ModelEvent::Citations(_)
            | ModelEvent::ServerTool(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolArgumentsDelta { .. }
            | ModelEvent::Retrying { .. }
            | ModelEvent::FailedOver { .. }
            | ModelEvent::ToolsRefused { .. }
            | ModelEvent::ParameterLeftOut(_)
            | ModelEvent::Status { .. }
            | ModelEvent::Finished { .. } => {}
        }
    }
    // A reasoning model may not reach its answer within so few tokens.
    Ok(if text.trim().is_empty() {
        thoughts
    } else {
        text
    })
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
