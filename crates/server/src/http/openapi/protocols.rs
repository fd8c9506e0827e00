//! The operations of foreign protocols, limited to the fields we read; their own documents have the rest.
#![expect(
    dead_code,
    reason = "describes what codecs read and write without these types"
)]

use domain::Problem;
use schemars::JsonSchema;
use serde_json::{Map, Value};

use super::{Operations, operations::Describe};
use crate::{
    gateway::work_mode::WorkMode,
    http::{
        ag_ui::AgUiQuery,
        anthropic::models::PageQuery,
        openai::responses::{GetQuery, items::ItemsQuery},
    },
};

type Object = Map<String, Value>;

const STREAM: &[&str] = &["text/event-stream"];
const REPEATED: &str =
    "[Sent again](docs/reference/api.md#idempotency) with the same key, it starts nothing.";

/// A model server for [the chat with debug events](docs/integrate/debug-chat.md).
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DebugChatConfig {
    api_endpoint: String,
    api_key: Option<String>,
    model: Option<String>,
}

/// Whether a model server was connected.
#[derive(JsonSchema)]
struct DebugChatConfigured {
    success: bool,
    message: String,
}

/// A request of [the chat with debug events](docs/integrate/debug-chat.md).
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DebugChatRequest {
    message: TextOrParts,
    conversation_id: Option<String>,
    parent_message_id: Option<String>,
    messages: Option<Vec<Object>>,
    model: Option<String>,
    mode: Option<WorkMode>,
    features: Option<Object>,
}

/// A text, or a list of parts.
#[derive(JsonSchema)]
#[serde(untagged)]
enum TextOrParts {
    Text(String),
    Parts(Vec<Object>),
}

/// An answer with its debug events.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DebugChatAnswer {
    message: DebugChatMessage,
    conversation_id: Option<String>,
    debug_events: Vec<DebugEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// A message with the time it was written.
#[derive(JsonSchema)]
struct DebugChatMessage {
    id: String,
    #[schemars(extend("enum" = ["assistant"]))]
    role: String,
    content: String,
    /// Milliseconds since 1970-01-01 UTC.
    timestamp: i64,
}

/// What happened behind an answer.
#[derive(JsonSchema)]
struct DebugEvent {
    id: String,
    /// Milliseconds since 1970-01-01 UTC.
    timestamp: i64,
    #[schemars(extend("enum" = ["request", "response", "tool_call", "thought", "error"]))]
    r#type: String,
    #[schemars(extend("enum" = ["frontend", "backend", "llm"]))]
    source: String,
    data: Value,
    description: String,
}

/// A request of the [AI SDK](docs/integrate/ai-sdk.md).
#[derive(JsonSchema)]
struct UiMessageRequest {
    /// The chat.
    id: String,
    messages: Vec<Object>,
    model: Option<String>,
    mode: Option<WorkMode>,
    features: Option<Object>,
}

/// The input of a run by [AG-UI](docs/integrate/ag-ui.md).
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgUiInput {
    thread_id: String,
    run_id: String,
    messages: Vec<Object>,
    tools: Option<Vec<Object>>,
    context: Option<Vec<Object>>,
    #[serde(default)]
    state: Value,
    #[serde(default)]
    forwarded_props: Value,
}

/// The agents, as CopilotKit lists them.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CopilotKitInfo {
    version: String,
    agents: Object,
    mode: String,
    audio_file_transcription_enabled: bool,
    a2ui_enabled: bool,
    #[serde(rename = "openGenerativeUIEnabled")]
    open_generative_ui_enabled: bool,
}

/// Whether something was stopped.
#[derive(JsonSchema)]
struct CopilotKitStopped {
    stopped: bool,
}

/// A request for a [chat completion](docs/integrate/openai.md).
#[derive(JsonSchema)]
struct CompletionRequest {
    model: String,
    messages: Vec<Object>,
    stream: Option<bool>,
}

/// A request for a [response](docs/integrate/openai.md).
#[derive(JsonSchema)]
struct ResponseRequest {
    #[serde(default)]
    model: String,
    input: TextOrParts,
    stream: Option<bool>,
    previous_response_id: Option<String>,
}

/// A response in OpenAI's format.
#[derive(JsonSchema)]
struct Response {
    id: String,
    #[schemars(extend("enum" = ["response"]))]
    object: String,
    created_at: f64,
    status: String,
    model: String,
    output: Vec<Object>,
    #[serde(flatten)]
    more: Object,
}

/// A response that was deleted.
#[derive(JsonSchema)]
struct ResponseDeleted {
    id: String,
    object: String,
    deleted: bool,
}

/// A page of the input items of a response.
#[derive(JsonSchema)]
struct ResponseInput {
    #[schemars(extend("enum" = ["list"]))]
    object: String,
    data: Vec<Object>,
    first_id: Option<String>,
    last_id: Option<String>,
    has_more: bool,
}

/// A request for [embeddings](docs/integrate/openai.md).
#[derive(JsonSchema)]
struct EmbeddingsRequest {
    model: String,
    input: EmbeddingsInput,
}

/// A text, or a list of texts or tokens.
#[derive(JsonSchema)]
#[serde(untagged)]
enum EmbeddingsInput {
    Text(String),
    Several(Vec<Value>),
}

/// A request of [Anthropic's Messages](docs/integrate/anthropic.md).
#[derive(JsonSchema)]
struct MessagesRequest {
    model: String,
    messages: Vec<Object>,
    #[serde(flatten)]
    more: Object,
}

/// The tokens of a request.
#[derive(JsonSchema)]
struct MessagesTokens {
    input_tokens: u64,
}

/// Models in the format of OpenAI, or of Anthropic.
#[derive(JsonSchema)]
#[serde(untagged)]
enum ModelListing {
    OpenAi(OpenAiModels),
    Anthropic(AnthropicModels),
}

/// Models in OpenAI's format.
#[derive(JsonSchema)]
struct OpenAiModels {
    #[schemars(extend("enum" = ["list"]))]
    object: String,
    data: Vec<OpenAiModel>,
}

/// A page of models in Anthropic's format.
#[derive(JsonSchema)]
struct AnthropicModels {
    data: Vec<AnthropicModel>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

/// A model in the format of OpenAI, or of Anthropic.
#[derive(JsonSchema)]
#[serde(untagged)]
enum ListedOne {
    OpenAi(OpenAiModel),
    Anthropic(AnthropicModel),
}

/// A model in OpenAI's format.
#[derive(JsonSchema)]
struct OpenAiModel {
    id: String,
    #[schemars(extend("enum" = ["model"]))]
    object: String,
    created: u64,
    owned_by: String,
}

/// A model in Anthropic's format.
#[derive(JsonSchema)]
struct AnthropicModel {
    #[schemars(extend("enum" = ["model"]))]
    r#type: String,
    id: String,
    display_name: String,
    created_at: String,
    max_input_tokens: Option<u64>,
}

/// Describes the operations of all protocols.
pub(super) fn operations(api: &mut Operations) {
    openai(api);
    anthropic(api);
    ag_ui(api);
    ai_sdk(api);
    mcp(api);
    debug_chat(api);
}

fn openai(api: &mut Operations) {
    api.operation(
        "POST /v1/chat/completions",
        "OpenAI's chat completions: of an agent, or forwarded to the model's server",
    )
    .details("See [OpenAI](docs/integrate/openai.md).")
    .header("Idempotency-Key", REPEATED)
    .body::<CompletionRequest>()
    .answers::<Object>(200)
    .answers_media(200, STREAM)
    .errors(&[404, 409, 422, 429, 502, 504]);
    api.operation(
        "POST /v1/responses",
        "OpenAI's responses: of an agent, or of a model with its tools",
    )
    .details("See [OpenAI](docs/integrate/openai.md).")
    .header("Idempotency-Key", REPEATED)
    .body::<ResponseRequest>()
    .answers::<Response>(200)
    .answers_media(200, STREAM)
    .errors(&[404, 409, 422, 429, 502, 504]);
    api.operation(
        "GET /v1/responses/{response}",
        "Returns a response, or with `stream=true` its events",
    )
    .query::<GetQuery>()
    .answers::<Response>(200)
    .answers_media(200, STREAM);
    api.operation("DELETE /v1/responses/{response}", "Deletes a response")
        .answers::<ResponseDeleted>(200)
        .errors(&[409]);
    api.operation("POST /v1/responses/{response}/cancel", "Stops a response")
        .answers::<Response>(200)
        .errors(&[409]);
    api.operation(
        "GET /v1/responses/{response}/input_items",
        "Lists what a response was asked with",
    )
    .query::<ItemsQuery>()
    .answers::<ResponseInput>(200);
    api.operation(
        "POST /v1/embeddings",
        "OpenAI's embeddings, forwarded to the model's server",
    )
    .body::<EmbeddingsRequest>()
    .answers::<Object>(200)
    .errors(&[404, 422, 429, 502, 504]);
    api.operation(
        "GET /v1/models",
        "Lists the models and agents that the caller may use",
    )
    .details("With the header `anthropic-version` it is a page in Anthropic's format.")
    .query::<PageQuery>()
    .answers::<ModelListing>(200);
    api.operation("GET /v1/models/{model}", "Returns one of them")
        .answers::<ListedOne>(200);
}

fn anthropic(api: &mut Operations) {
    api.operation(
        "POST /v1/messages",
        "Anthropic's Messages: of an agent, or of a model",
    )
    .details("See [Anthropic](docs/integrate/anthropic.md).")
    .body::<MessagesRequest>()
    .answers::<Object>(200)
    .answers_media(200, STREAM)
    .errors(&[404, 422, 429, 502, 504]);
    api.operation(
        "POST /v1/messages/count_tokens",
        "Counts the tokens of such a request",
    )
    .body::<MessagesRequest>()
    .answers::<MessagesTokens>(200)
    .errors(&[404, 422, 429, 502, 504]);
}

fn ag_ui(api: &mut Operations) {
    let run = |operation: &mut Describe<'_>| {
        operation
            .query::<AgUiQuery>()
            .body::<AgUiInput>()
            .answers_media(200, STREAM);
    };
    let mut default = api.operation("POST /ag-ui", "Runs the default agent by AG-UI");
    run(default
        .details("See [AG-UI](docs/integrate/ag-ui.md).")
        .errors(&[404, 409, 422, 429, 502]));
    let mut one = api.operation("POST /ag-ui/{agent}", "Runs an agent by AG-UI");
    run(one.errors(&[409, 422, 429, 502]));
    api.operation("GET /copilotkit/info", "Lists the agents for CopilotKit")
        .answers::<CopilotKitInfo>(200);
    let mut copilotkit = api.operation(
        "POST /copilotkit/agent/{agent}/run",
        "Runs an agent for CopilotKit",
    );
    run(copilotkit.errors(&[409, 422, 429, 502]));
    run(&mut api.operation(
        "POST /copilotkit/agent/{agent}/connect",
        "Streams a thread as it is, then the run that is in progress",
    ));
    api.operation(
        "POST /copilotkit/agent/{agent}/stop/{thread}",
        "Stops what runs in a thread",
    )
    .answers::<CopilotKitStopped>(200);
}

fn ai_sdk(api: &mut Operations) {
    api.operation(
        "POST /api/ui-message-stream",
        "The AI SDK's stream: answers the last message of a chat",
    )
    .details("See [AI SDK](docs/integrate/ai-sdk.md).")
    .body::<UiMessageRequest>()
    .answers_media(200, STREAM)
    .errors(&[404, 409, 422, 429, 502]);
    api.operation(
        "GET /api/ui-message-stream/{chat}/stream",
        "Streams the answer that is being written, from its beginning",
    )
    .answers_media(200, STREAM)
    .answers_nothing(204);
    api.operation(
        "POST /api/ui-message-stream/{chat}/stop",
        "Stops what is being written",
    )
    .answers_nothing(204);
}

fn mcp(api: &mut Operations) {
    const SESSION: &str = "The session.";
    api.operation(
        "POST /mcp",
        "Our agent as a tool of MCP clients: one message",
    )
    .details("See [MCP](docs/integrate/mcp.md).")
    .header("Mcp-Session-Id", SESSION)
    .body::<Object>()
    .answers::<Object>(200)
    .answers_media(200, STREAM)
    .answers_nothing(202)
    .errors(&[404, 406, 409, 422]);
    api.operation("GET /mcp", "Streams what the server sends to an MCP client")
        .header("Mcp-Session-Id", SESSION)
        .answers_media(200, STREAM)
        .errors(&[404, 405, 406, 409]);
    api.operation("DELETE /mcp", "Ends an MCP session")
        .header("Mcp-Session-Id", SESSION)
        .answers_nothing(202)
        .answers_nothing(204)
        .errors(&[404, 405]);
}

fn debug_chat(api: &mut Operations) {
    let mut configure = api.operation(
        "POST /api/config",
        "Connects a model server for the chat with debug events",
    );
    configure
        .details("See [the chat with debug events](docs/integrate/debug-chat.md).")
        .body::<DebugChatConfig>();
    for status in [200, 404, 409, 422] {
        configure.answers::<DebugChatConfigured>(status);
    }
    api.operation(
        "POST /api/chat",
        "Asks one thing, and answers with what happened behind it",
    )
    .header("Idempotency-Key", REPEATED)
    .body::<DebugChatRequest>()
    .answers::<DebugChatAnswer>(200)
    .errors(&[404, 409, 422, 429, 502]);
    api.operation(
        "GET /ws",
        "A WebSocket with the debug events of all runs of the caller",
    )
    .answers_nothing(101);
    api.operation("GET /", "The web app; as a WebSocket the same as `/ws`")
        .answers_nothing(101)
        .answers_media(200, &["text/html"]);
}
