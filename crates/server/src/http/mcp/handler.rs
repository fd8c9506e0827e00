//! MCP requests of a session: the agent as a tool, document and web search, and the files of the chats it used.

use std::{borrow::Cow, sync::Arc};

use axum::http::request;
use domain::ChatId;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{Visit, call, files, graph, search, sessions::Session, web};
use crate::{
    app::App,
    documents::{GRAPH_TOOL, SEARCH_TOOL},
    platform::request_context::on_behalf_of,
};

/// The tool's name.
const ASK: &str = "ask";
/// Maximum number of chats whose files a session lists; files of older ones can still be read.
const CHATS_LISTED: u64 = 20;

/// One session of a client, or one message of a client without a session.
#[derive(Debug)]
pub(super) struct Handler;

/// Notes that the session uses the chat, so that its files are listed. In the background, as the chat goes on anyway.
fn note(app: &Arc<App>, session: Option<&Session>, chat: ChatId) {
    let Some(session) = session else {
        return;
    };
    let (store, id, now) = (app.store.clone(), session.id.clone(), app.clock.now_ms());
    app.tasks.spawn(async move {
        if let Err(error) = store.note_mcp_chat(&id, chat, now).await {
            tracing::warn!(%error, "failed to note the chat of an MCP session");
        }
    });
}

/// The caller of the request, which [`super::any`] stores in its extensions.
fn visit(context: &RequestContext<RoleServer>) -> Result<Visit, ErrorData> {
    let parts = context.extensions.get::<request::Parts>();
    let visit = parts
        .and_then(|parts| parts.extensions.get::<Visit>())
        .cloned();
    visit.ok_or_else(|| ErrorData::internal_error("The request has lost its caller.", None))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("glasshouse", env!("CARGO_PKG_VERSION")).with_title("Glasshouse"),
            )
            .with_instructions(
                "Glasshouse runs agents that a person can watch. Give one a task with `ask`; go on in the same \
                 chat with the `chat` of its result. The files it wrote are resources. Where there are documents \
                 to search, `search_knowledge` finds passages in them. `web_search` and `fetch_page` search and read \
                 the web, where the server allows it.",
            )
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        // Later versions have no requests from the server, such as questions.
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let visit = visit(&context)?;
        let search = search::tool(&visit).await?;
        let graph = graph::tool(&visit).await?;
        let all = std::iter::once(ask())
            .chain(search)
            .chain(graph)
            .chain(web::tools(&visit));
        Ok(ListToolsResult::with_all_items(all.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let visit = visit(&context)?;
        let mut arguments = request.arguments.unwrap_or_default();
        // Some clients send `null` for an optional argument.
        arguments.retain(|_, value| !value.is_null());
        let arguments = Value::Object(arguments);
        // `rmcp` handles the request in a separate task.
        let origin = visit.origin.clone();
        if let Some(answer) =
            on_behalf_of(origin, direct(&visit, &request.name, &arguments)).await?
        {
            return Ok(answer.into());
        }
        if request.name != ASK {
            let message = format!(
                "There is no tool “{}” here; the list of tools says which there are.",
                request.name
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        let Visit {
            app,
            caller,
            origin,
            session,
        } = visit;
        let note = |chat| note(&app, session.as_deref(), chat);
        let answer = call::answer(&app, &caller, arguments, &context, note);
        let result = on_behalf_of(origin, answer).await;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let visit = visit(&context)?;
        let chats = match &visit.session {
            Some(session) => {
                let store = &visit.app.store;
                let chats = store.mcp_session_chats(&session.id, CHATS_LISTED).await;
                chats.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
            }
            None => Vec::new(),
        };
        Ok(ListResourcesResult::with_all_items(
            files::list(&visit, &chats).await?,
        ))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            files::template(),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(files::read(&visit(&context)?, request.uri).await?.into())
    }
}

/// Runs a tool that needs no run; `None` if the caller has no such tool.
async fn direct(
    visit: &Visit,
    name: &str,
    arguments: &Value,
) -> Result<Option<CallToolResult>, ErrorData> {
    let arguments = arguments.clone();
    Ok(match name {
        SEARCH_TOOL if search::tool(visit).await?.is_some() => {
            Some(search::answer(visit, arguments).await)
        }
        GRAPH_TOOL if graph::tool(visit).await?.is_some() => {
            Some(graph::answer(visit, arguments).await)
        }
        name if web::has(visit, name) => Some(web::answer(visit, name, arguments).await),
        _ => None,
    })
}

/// The tool that runs our agent.
fn ask() -> Tool {
    let description = "Gives a task to the agent of Glasshouse and waits for its answer. It plans, works with files, \
                       runs programs where the server allows it, and hands work to helpers. Whose key this is can \
                       watch it in Glasshouse, and is asked there where a step needs consent.";
    Tool::new(ASK, description, schema(input()))
        .with_title("Ask Glasshouse")
        .with_raw_output_schema(schema(output()))
        .with_annotations(ToolAnnotations::from_raw(
            None,
            Some(false),
            Some(true),
            Some(false),
            Some(true),
        ))
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "message": {"type": "string", "minLength": 1, "description": "What the agent is to do or to answer."},
            "chat": {
                "type": "string",
                "minLength": 1,
                "maxLength": call::CHAT_LIMIT_CHARS,
                "description": "Goes on in this chat, with what was said and its files: the `chat` of an earlier \
                                result, or a name of your own choice. Without it a new chat begins.",
            },
            "model": {"type": "string", "description": "The model to use, by its id. Without it the default one."},
            "mode": {
                "enum": ["chat", "web_search", "research", "deep"],
                "description": "\"research\" and \"deep\" search, read and write a report with sources; \"web_search\" answers with \
                                what a quick search of the web finds. Without it \"chat\".",
            },
        },
        "required": ["message"],
        "additionalProperties": false,
    })
}

fn output() -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "What the agent answered, Markdown."},
            "run": text,
            "chat": {"type": "string", "description": "To be sent with the next message of this conversation."},
            "outcome": text,
            "problem": {"type": "string", "description": "Why it did not simply complete."},
            "usage": {
                "type": "object",
                "properties": {"input_tokens": count, "output_tokens": count},
                "required": ["input_tokens", "output_tokens"],
            },
            "files": {
                "type": "array",
                "description": "The files that were written; each can be read as a resource.",
                "items": {
                    "type": "object",
                    "properties": {"path": text, "uri": text, "size_bytes": count},
                    "required": ["path", "uri", "size_bytes"],
                },
            },
        },
        "required": ["answer", "run", "chat", "outcome", "usage", "files"],
    })
}

pub(super) fn schema(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}
