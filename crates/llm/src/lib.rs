//! Clients for language model servers, and the scripted model.

pub mod caller;
pub mod chat;
pub mod http;
pub mod idle_timer;
pub mod messages;
pub mod model;
mod native;
pub mod openai;
pub mod provider;
pub mod script;
mod tool_name;

pub use ::provider::tool_schema::{
    ToolSchema, normal as normal_schema, retain_patterns, target as schema_target,
};
pub use ::provider::{
    Citation, DataPart, IMAGE_GENERATION, ServerTool, is_of_whole_answer, picture_places,
};
pub use caller::CallerInfo;
pub use chat::{
    ChatRequest, CodePrompt, FinishReason, ModelError, ModelEvent, ToolLoss, ToolMode, ToolPrompt,
    ToolSpec,
};
pub use http::HttpClient;
pub use idle_timer::IdleTimer;
pub use model::{ChatModel, ModelCall};
pub use openai::{BaseUrl, OpenAiSettings, UpstreamRoute};
pub use provider::{Capabilities, ListedModel, ProviderKind, ProviderOptions};
pub use redact::Secret;
pub use script::{Line, ScriptedModel};
pub use tool_name::meant_tool;
