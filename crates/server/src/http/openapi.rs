//! `GET /openapi.json`: the OpenAPI document of this server, generated from the route table and the descriptions next
//! to the handlers.
//!
//! Each file of handlers has a function that describes its operations; the table says which routes there are and who
//! may call them. Tests ensure that exactly the routes of the table are described, and the tests' HTTP client validates
//! every response against the document.

mod operation;
mod operations;
mod protocols;
mod schemas;
mod signature;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use anyhow::{Context, ensure};
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{MessageCode, ProblemCode};
use serde_json::{Map, Value, json};

use self::operations::Operation;
pub(in crate::http) use self::operations::Operations;

use super::{
    activity, agents, allowed_calls, alternatives, chat_order, chat_search, chat_stream, chats,
    connections, document_reader, documents, embedding, exports, facts, files, forks, graph,
    groups, health, hooks, images, imports, inbox, inputs, invitations, jobs, keys, knowledge,
    limits, mcp_servers, mcp_sign_ins, memories, messages, moa, model_aliases, models, oidc, pages,
    passkey_login, passkeys, password_resets, permissions, pipelines, programs, push, runs,
    schedules, second_factor, second_step, session, sessions, sharing, sign_up, task_config, tasks,
    text_recognition, usage, users, web_search, webhooks, workspaces,
};
use crate::{
    error::ApiError,
    identity::auth::{Access, SESSION_COOKIE},
    platform::config::Config,
};

/// A group of operations, which has a page of its own in docs/reference/api.
struct Area {
    /// The name of the page and of the tag.
    name: &'static str,
    title: &'static str,
    describe: &'static [fn(&mut Operations)],
}

/// The groups that are described next to their handlers.
const AREAS: [Area; 19] = [
    Area {
        name: "sign-in",
        title: "Sign-in",
        describe: &[
            session::operations,
            second_step::operations,
            passkey_login::operations,
            password_resets::public_operations,
            sign_up::public_operations,
            oidc::operations,
        ],
    },
    Area {
        name: "account",
        title: "The caller's account",
        describe: &[
            users::own_operations,
            second_factor::operations,
            passkeys::operations,
            sessions::operations,
            exports::operations,
            imports::operations,
        ],
    },
    Area {
        name: "keys",
        title: "API keys",
        describe: &[keys::operations],
    },
    Area {
        name: "chats",
        title: "Chats",
        describe: &[
            chats::operations,
            chat_search::operations,
            chat_order::operations,
            exports::chat_operations,
            sharing::operations,
            messages::operations,
            alternatives::operations,
            forks::operations,
            activity::operations,
        ],
    },
    Area {
        name: "files",
        title: "Files",
        describe: &[
            files::operations,
            files::content::operations,
            files::zip::operations,
            files::past::operations,
            files::linked::operations,
            workspaces::operations,
        ],
    },
    Area {
        name: "runs",
        title: "Runs",
        describe: &[
            runs::operations,
            inputs::operations,
            runs::questions::operations,
            chat_stream::operations,
        ],
    },
    Area {
        name: "approvals",
        title: "Inbox and standing approvals",
        describe: &[inbox::operations, allowed_calls::operations],
    },
    Area {
        name: "schedules",
        title: "Schedules, webhooks and notifications",
        describe: &[
            schedules::operations,
            webhooks::operations,
            push::operations,
        ],
    },
    Area {
        name: "memory",
        title: "Memory",
        describe: &[memories::operations, facts::operations],
    },
    Area {
        name: "knowledge",
        title: "Documents",
        describe: &[
            knowledge::operations,
            knowledge::sharing::operations,
            documents::operations,
            knowledge::crawls::operations,
            knowledge::sources::operations,
            knowledge::syncs::operations,
            knowledge::metadata::operations,
            graph::operations,
            knowledge::aliases::operations,
            knowledge::attachments::operations,
        ],
    },
    Area {
        name: "web",
        title: "Web pages and images",
        describe: &[pages::operations, images::operations],
    },
    Area {
        name: "models",
        title: "Models and their servers",
        describe: &[
            models::operations,
            model_aliases::operations,
            connections::operations,
            embedding::operations,
            text_recognition::operations,
            document_reader::operations,
        ],
    },
    Area {
        name: "agents",
        title: "Agents and their tools",
        describe: &[
            agents::operations,
            programs::operations,
            hooks::operations,
            mcp_servers::operations,
            web_search::operations,
            mcp_sign_ins::operations,
        ],
    },
    Area {
        name: "pipelines",
        title: "Pipelines and tasks",
        describe: &[
            pipelines::operations,
            task_config::operations,
            tasks::operations,
            moa::operations,
        ],
    },
    Area {
        name: "people",
        title: "People",
        describe: &[
            users::operations,
            password_resets::operations,
            passkeys::admin_operations,
            sharing::moderation_operations,
            sign_up::operations,
            invitations::operations,
        ],
    },
    Area {
        name: "groups",
        title: "Groups and permissions",
        describe: &[groups::operations, permissions::operations],
    },
    Area {
        name: "usage",
        title: "Usage and limits",
        describe: &[usage::operations, limits::operations],
    },
    Area {
        name: "server",
        title: "Server",
        describe: &[
            health::operations,
            operations,
            super::settings::operations,
            jobs::operations,
            super::audit::operations,
        ],
    },
    Area {
        name: "protocols",
        title: "Other protocols",
        describe: &[protocols::operations],
    },
];

const ABOUT: &str = "A self-hosted server of agents. Errors have a stable code and a sentence; the answer's header \
    `x-request-id` names the request in the server's log. Requests with the cookie that change something have to come \
    from the server's own origin. Answers may get further fields.";

/// `GET /openapi.json`.
pub(super) async fn get(State(config): State<Arc<Config>>) -> Result<Response, ApiError> {
    static TEXT: LazyLock<Result<Bytes, String>> = LazyLock::new(|| match document() {
        Ok(document) => Ok(document.to_string().into()),
        Err(error) => Err(format!("{error:#}")),
    });
    let mut text = TEXT.clone().map_err(ApiError::internal)?;
    let base = config.base_path();
    if let (false, Some(rest)) = (base.is_empty(), text.strip_prefix(b"{")) {
        let servers = format!("{{\"servers\":[{{\"url\":\"{base}\"}}],");
        text = [servers.as_bytes(), rest].concat().into();
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation(
        "GET /openapi.json",
        "Returns the OpenAPI 3.1 document of this server",
    )
    .details("It needs no sign-in. Clients can be generated from it.")
    .answers::<Map<String, Value>>(200);
    api.operation(
        "GET /metrics",
        "Returns figures since the start in the text format of Prometheus",
    )
    .details("See [monitoring](docs/operate/monitoring.md).")
    .answers_media(200, &["text/plain"]);
}

/// The whole document.
///
/// # Errors
/// If the descriptions do not match the route table, or each other.
pub fn document() -> anyhow::Result<Value> {
    let (mut described, schemas) = described()?;
    let mut paths = Map::new();
    // Runners are part of this program.
    let is_public = |route: &super::Route| route.access != Access::Runner;
    for route in super::table().into_iter().filter(is_public) {
        let name = format!("{} {}", route.method, route.path.replace("{*", "{"));
        let operation = described
            .remove(&name)
            .with_context(|| format!("{name} is not described"))?;
        let operation = operation::operation(&route, operation).with_context(|| name.clone())?;
        let (method, path) = operations::method_and_path(&name)?;
        let operations = paths.entry(path).or_insert_with(|| json!({}));
        operations[method.to_ascii_lowercase()] = operation;
    }
    ensure!(
        described.is_empty(),
        "there are no such routes: {:?}",
        described.keys()
    );
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Glasshouse",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": tags(),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": operation::refusals(),
            "securitySchemes": {
                "session": { "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE },
                "key": { "type": "http", "scheme": "bearer", "description": "An API key, gh_…" },
            },
        },
    }))
}

/// The groups of operations, in the order of the documentation.
fn tags() -> Vec<Value> {
    AREAS
        .iter()
        .map(|area| json!({ "name": area.name, "description": area.title }))
        .collect()
}

/// The descriptions of all operations by method and path, and all schemas by name.
fn described() -> anyhow::Result<(BTreeMap<String, Operation>, Map<String, Value>)> {
    let mut operations = Operations::default();
    // The codes in every error response.
    operations.schema::<ProblemCode>();
    operations.schema::<MessageCode>();
    for area in AREAS {
        operations.group(area.name, area.describe);
    }
    operations.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the names of all referenced schemas.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(
                    fields
                        .get("$ref")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn describes_the_routes_and_nothing_else() {
        let document = document().unwrap();
        let mut routes = super::super::table();
        // What runners ask for is not part of the public API.
        routes.retain(|route| route.access != Access::Runner);
        let described: usize = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .map(|it| it.as_object().unwrap().len())
            .sum();
        assert_eq!(described, routes.len());
        for route in routes {
            let path = route.path.replace("{*", "{");
            let operation = &document["paths"][path][route.method.as_str().to_ascii_lowercase()];
            let access = format!("{:?}", route.access).to_ascii_lowercase();
            assert_eq!(
                operation["x-access"], access,
                "{} {}",
                route.method, route.path
            );
            let is_open = operation["security"].as_array().unwrap().is_empty();
            assert_eq!(
                is_open,
                access == "public",
                "{} {}",
                route.method,
                route.path
            );
        }
    }

    #[test]
    fn every_schema_is_there_and_used() {
        let document = document().unwrap();
        let mut used = Vec::new();
        references(&document, &mut used);
        used.sort_unstable();
        used.dedup();
        let kinds = ["schemas", "responses"];
        let mut there: Vec<String> = kinds
            .iter()
            .flat_map(|kind| {
                let names = document["components"][kind].as_object().unwrap().keys();
                names.map(move |name| format!("#/components/{kind}/{name}"))
            })
            .collect();
        there.sort_unstable();
        assert_eq!(used, there);
    }
}
