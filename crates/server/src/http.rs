//! The route table, the access check of each route and the middleware around all of them.

mod activity;
mod ag_ui;
mod agents;
mod allowed_calls;
mod alternatives;
mod anthropic;
mod audit;
mod audited;
mod base_path;
pub(crate) mod body;
mod chat_order;
mod chat_search;
mod chat_stream;
mod chats;
mod connections;
mod cookies;
mod copilotkit;
mod cors;
mod debug_chat;
mod document_reader;
mod embedding;
mod exports;
pub mod extract;
mod facts;
mod files;
mod forks;
mod groups;
mod health;
mod hooks;
mod images;
mod imports;
mod inbox;
mod inputs;
mod invitations;
mod jobs;
mod keys;
mod knowledge;
mod known_device;
mod limits;
mod lists;
pub(crate) mod mcp;
mod mcp_servers;
mod mcp_sign_ins;
mod memories;
mod messages;
mod metrics;
mod moa;
mod model_aliases;
mod models;
mod oidc;
mod openai;
pub mod openapi;
mod pages;
mod passkey_login;
mod passkeys;
mod password_resets;
mod permissions;
mod pipelines;
mod programs;
mod push;
mod request_log;
mod request_parts;
mod route;
mod runner;
mod runs;
mod schedules;
mod second_factor;
mod second_step;
mod session;
mod sessions;
mod settings;
mod sharing;
mod sign_up;
mod state;
pub mod streams;
mod task_config;
mod tasks;
mod text_recognition;
mod threads;
mod ui_message_stream;
mod unrouted;
mod usage;
mod users;
pub mod web;
mod web_search;
mod webhooks;
mod workspaces;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub use self::route::Route;
use self::{
    knowledge::{documents, graph},
    request_log::RequestLine,
    route::{delete, get, patch, post, put},
    unrouted::Protocol,
};
use crate::{
    app::App,
    error::{ApiError, catch_panic},
    http::{
        state::AppState,
        web::{Site, WebApp},
    },
    identity::auth::{Access, Caller, check_access, check_origin, keep_from_proxy},
    platform::request_context,
};

/// All routes except the web app's files. A new route is one line here; access is checked before the handler runs,
/// unless it is [`Access::Public`].
#[must_use]
pub fn table() -> Vec<Route> {
    use Access::{Account, Admin, Chat, Public, Runner, User};
    vec![
        get(Public, "/healthz", health::live),
        get(Public, "/readyz", health::ready),
        get(Public, "/openapi.json", openapi::get),
        get(Admin, "/metrics", metrics::get),
        // Set-up and sign-in
        get(Public, "/api/v1/me", session::me),
        post(Public, "/api/v1/setup", session::set_up).noted("user.set_up"),
        post(Public, "/api/v1/login", session::log_in).noted("session.open"),
        post(Public, "/api/v1/login/code", second_step::finish).noted("session.open"),
        post(
            Public,
            "/api/v1/login/passkey/challenge",
            passkey_login::begin,
        ),
        post(Public, "/api/v1/login/passkey", passkey_login::finish).noted("session.open"),
        post(Public, "/api/v1/logout", session::log_out).noted("session.close"),
        patch(Account, "/api/v1/me", users::rename).noted("user.change"),
        delete(Account, "/api/v1/me", users::close).noted("user.close"),
        put(Account, "/api/v1/me/password", session::change_password).noted("password.change"),
        get(Account, "/api/v1/me/second-factor", second_factor::get),
        post(Account, "/api/v1/me/second-factor", second_factor::begin)
            .noted("second_factor.begin"),
        post(
            Account,
            "/api/v1/me/second-factor/confirm",
            second_factor::confirm,
        )
        .noted("second_factor.on"),
        post(
            Account,
            "/api/v1/me/second-factor/recovery-codes",
            second_factor::renew,
        )
        .noted("second_factor.renew"),
        delete(Account, "/api/v1/me/second-factor", second_factor::turn_off)
            .noted("second_factor.off"),
        get(Account, "/api/v1/me/passkeys", passkeys::list),
        post(Account, "/api/v1/me/passkeys/challenge", passkeys::begin).noted("passkey.begin"),
        post(Account, "/api/v1/me/passkeys", passkeys::create).noted("passkey.create"),
        delete(Account, "/api/v1/me/passkeys/{passkey}", passkeys::delete).noted("passkey.delete"),
        post(Public, "/api/v1/password-reset", password_resets::reset).noted("password.reset"),
        post(
            Public,
            "/api/v1/password-reset/request",
            password_resets::request,
        ),
        post(
            Public,
            "/api/v1/password-reset/check",
            password_resets::check,
        ),
        post(Public, "/api/v1/sign-up", sign_up::sign_up).noted("user.sign_up"),
        post(Public, "/api/v1/sign-up/check", sign_up::check),
        get(Public, "/oauth/login", oidc::begin),
        get(Public, "/oauth/login/callback", oidc::callback).noted("session.open"),
        get(Account, "/api/v1/me/sessions", sessions::list),
        delete(Account, "/api/v1/me/sessions", sessions::end_all).noted("session.end_all"),
        delete(Account, "/api/v1/me/sessions/{session}", sessions::end).noted("session.end"),
        get(Account, "/api/v1/me/export", exports::get).noted("user.export"),
        post(Account, "/api/v1/me/import", imports::post).noted("user.import"),
        get(User, "/api/v1/keys", keys::list),
        post(Account, "/api/v1/keys", keys::create).noted("key.create"),
        post(Account, "/api/v1/keys/{key}/rotate", keys::rotate).noted("key.rotate"),
        delete(Account, "/api/v1/keys/{key}", keys::delete).noted("key.delete"),
        // Administration of accounts
        get(Admin, "/api/v1/users", users::list),
        post(Admin, "/api/v1/users", users::create).noted("user.create"),
        patch(Admin, "/api/v1/users/{user}", users::change).noted("user.change"),
        delete(Admin, "/api/v1/users/{user}", users::delete).noted("user.delete"),
        get(Admin, "/api/v1/users/{user}/chats", sharing::of_user),
        post(
            Admin,
            "/api/v1/users/{user}/password-reset",
            password_resets::create,
        )
        .noted("password.link"),
        delete(
            Admin,
            "/api/v1/users/{user}/second-factor",
            users::reset_second_factor,
        )
        .noted("second_factor.reset"),
        delete(Admin, "/api/v1/users/{user}/passkeys", passkeys::delete_all).noted("passkey.reset"),
        get(Admin, "/api/v1/settings/sign-up", sign_up::get),
        put(Admin, "/api/v1/settings/sign-up", sign_up::put).noted("settings.sign_up"),
        get(Admin, "/api/v1/invitations", invitations::list),
        post(Admin, "/api/v1/invitations", invitations::create).noted("invitation.create"),
        post(
            Admin,
            "/api/v1/invitations/{invitation}/link",
            invitations::renew,
        )
        .noted("invitation.renew"),
        delete(
            Admin,
            "/api/v1/invitations/{invitation}",
            invitations::delete,
        )
        .noted("invitation.delete"),
        get(Admin, "/api/v1/audit", audit::get),
        get(Admin, "/api/v1/settings", settings::get),
        patch(Admin, "/api/v1/settings", settings::change).noted("settings.change"),
        post(
            Admin,
            "/api/v1/settings/sign-in-provider/test",
            settings::test_sign_in_provider,
        )
        .noted("settings.sign_in_provider.test"),
        post(Admin, "/api/v1/settings/mail/test", settings::test_mail).noted("settings.mail.test"),
        get(Admin, "/api/v1/jobs", jobs::list),
        // Groups and permissions
        get(Admin, "/api/v1/groups", groups::list),
        post(Admin, "/api/v1/groups", groups::create).noted("group.create"),
        patch(Admin, "/api/v1/groups/{group}", groups::change).noted("group.change"),
        delete(Admin, "/api/v1/groups/{group}", groups::delete).noted("group.delete"),
        get(Admin, "/api/v1/groups/{group}/members", groups::members),
        post(Admin, "/api/v1/groups/{group}/members", groups::add_members)
            .noted("group.add_members"),
        delete(
            Admin,
            "/api/v1/groups/{group}/members/{user}",
            groups::remove_member,
        )
        .noted("group.remove_member"),
        get(Admin, "/api/v1/permissions", permissions::list),
        put(Admin, "/api/v1/permissions", permissions::put).noted("permission.set"),
        // Usage and limits
        get(User, "/api/v1/usage", usage::get),
        get(User, "/api/v1/limits/own", limits::own),
        get(Admin, "/api/v1/limits", limits::list),
        put(Admin, "/api/v1/limits", limits::put).noted("limits.set"),
        // Models
        get(Chat, "/api/v1/models", models::list),
        put(Admin, "/api/v1/models/{model}", models::put).noted("model.change"),
        put(Admin, "/api/v1/settings/default-model", models::put_default)
            .noted("settings.default_model"),
        get(Admin, "/api/v1/settings/model-aliases", model_aliases::get),
        put(Admin, "/api/v1/settings/model-aliases", model_aliases::put)
            .noted("settings.model_aliases"),
        get(Admin, "/api/v1/connections", connections::list),
        post(Admin, "/api/v1/connections", connections::create).noted("connection.create"),
        post(Admin, "/api/v1/connections/test", connections::test).noted("connection.test"),
        get(Admin, "/api/v1/connections/discover", connections::discover),
        post(
            Admin,
            "/api/v1/connections/{connection}/refresh",
            connections::refresh,
        )
        .noted("connection.refresh"),
        post(
            Admin,
            "/api/v1/connections/{connection}/test",
            connections::try_out,
        )
        .noted("connection.test"),
        patch(
            Admin,
            "/api/v1/connections/{connection}",
            connections::change,
        )
        .noted("connection.change"),
        delete(
            Admin,
            "/api/v1/connections/{connection}",
            connections::delete,
        )
        .noted("connection.delete"),
        post(
            Admin,
            "/api/v1/connections/{connection}/keys",
            connections::add_key,
        )
        .noted("connection.add_key"),
        patch(
            Admin,
            "/api/v1/connections/{connection}/keys/{key}",
            connections::weigh_key,
        )
        .noted("connection.change_key"),
        delete(
            Admin,
            "/api/v1/connections/{connection}/keys/{key}",
            connections::remove_key,
        )
        .noted("connection.remove_key"),
        // Embedding model
        get(Admin, "/api/v1/embedding", embedding::get_state),
        put(Admin, "/api/v1/embedding", embedding::choose).noted("embedding.change"),
        post(Admin, "/api/v1/embedding/test", embedding::test).noted("embedding.try"),
        get(
            Admin,
            "/api/v1/text-recognition",
            text_recognition::get_state,
        ),
        get(Admin, "/api/v1/document-reader", document_reader::get_state),
        // Pipelines: small model calls around a chat
        get(Admin, "/api/v1/pipelines", pipelines::list),
        put(Admin, "/api/v1/pipelines/{pipeline}", pipelines::put).noted("pipeline.change"),
        post(
            Admin,
            "/api/v1/pipelines/{pipeline}/preview",
            pipelines::preview,
        )
        .noted("pipeline.try"),
        get(User, "/api/v1/runs/{run}/pipelines", pipelines::of_run),
        get(Chat, "/api/v1/tasks/config", task_config::get),
        post(Admin, "/api/v1/tasks/config/update", task_config::update).noted("pipeline.change"),
        post(Chat, "/api/v1/tasks/title/completions", tasks::title),
        post(Chat, "/api/v1/tasks/tags/completions", tasks::tags),
        post(
            Chat,
            "/api/v1/tasks/follow_up/completions",
            tasks::follow_ups,
        ),
        post(Chat, "/api/v1/tasks/queries/completions", tasks::queries),
        post(Chat, "/api/v1/tasks/auto/completions", tasks::autocomplete),
        post(Chat, "/api/v1/tasks/moa/completions", moa::complete),
        // The same at the paths that older front ends use
        post(Chat, "/tasks/title/completions", tasks::title),
        post(Chat, "/tasks/tags/completions", tasks::tags),
        post(Chat, "/tasks/follow_up/completions", tasks::follow_ups),
        post(Chat, "/tasks/queries/completions", tasks::queries),
        post(Chat, "/tasks/auto/completions", tasks::autocomplete),
        post(Chat, "/tasks/moa/completions", moa::complete),
        // Agents, programs, hooks and MCP servers
        get(Admin, "/api/v1/agents", agents::list),
        post(Admin, "/api/v1/agents", agents::create).noted("agent.create"),
        put(Admin, "/api/v1/agents/{agent}", agents::replace).noted("agent.change"),
        delete(Admin, "/api/v1/agents/{agent}", agents::delete).noted("agent.delete"),
        get(User, "/api/v1/programs", programs::get),
        // Runners of programs
        post(Runner, "/api/v1/runner/beat", runner::beat),
        post(Runner, "/api/v1/runner/lease", runner::lease),
        get(
            Runner,
            "/api/v1/runner/calls/{lease}/files/{sha256}",
            runner::get_file,
        ),
        put(
            Runner,
            "/api/v1/runner/calls/{lease}/files/{sha256}",
            runner::put_file,
        ),
        post(Runner, "/api/v1/runner/calls/{lease}/output", runner::print),
        post(
            Runner,
            "/api/v1/runner/calls/{lease}/result",
            runner::finish,
        ),
        get(Admin, "/api/v1/hooks", hooks::list),
        get(Admin, "/api/v1/mcp-servers", mcp_servers::list),
        post(Admin, "/api/v1/mcp-servers", mcp_servers::create).noted("mcp_server.create"),
        post(Admin, "/api/v1/mcp-servers/test", mcp_servers::test).noted("mcp_server.test"),
        post(
            Admin,
            "/api/v1/mcp-servers/{server}/test",
            mcp_servers::test_changed,
        )
        .noted("mcp_server.test"),
        patch(Admin, "/api/v1/mcp-servers/{server}", mcp_servers::change)
            .noted("mcp_server.change"),
        delete(Admin, "/api/v1/mcp-servers/{server}", mcp_servers::delete)
            .noted("mcp_server.delete"),
        get(Admin, "/api/v1/web-search", web_search::list),
        put(Admin, "/api/v1/web-search", web_search::replace).noted("web_search.change"),
        post(Admin, "/api/v1/web-search/test", web_search::test).noted("web_search.test"),
        get(User, "/api/v1/workspaces", workspaces::list),
        get(User, "/api/v1/mcp-sign-ins", mcp_sign_ins::list),
        post(User, "/api/v1/mcp-sign-ins/{server}", mcp_sign_ins::begin),
        put(User, "/api/v1/mcp-sign-ins/{server}", mcp_sign_ins::put),
        delete(User, "/api/v1/mcp-sign-ins/{server}", mcp_sign_ins::delete),
        get(Public, "/oauth/mcp/callback", mcp_sign_ins::callback),
        // Chats
        get(User, "/api/v1/chats", chats::list),
        post(User, "/api/v1/chats", chats::create),
        get(User, "/api/v1/chats/search", chat_search::get),
        post(User, "/api/v1/chats/order", chat_order::order_many),
        post(User, "/api/v1/chats/delete", chat_order::delete_many),
        get(User, "/api/v1/chats/{chat}", chats::get),
        patch(User, "/api/v1/chats/{chat}", chats::patch),
        delete(User, "/api/v1/chats/{chat}", chats::delete),
        post(User, "/api/v1/chats/{chat}/read", chats::mark_read),
        get(User, "/api/v1/chats/{chat}/export", exports::get_one),
        put(User, "/api/v1/chats/{chat}/tags", chat_order::put_tags),
        get(User, "/api/v1/folders", chat_order::folders),
        post(User, "/api/v1/folders", chat_order::create_folder),
        patch(User, "/api/v1/folders/{folder}", chat_order::rename_folder),
        delete(User, "/api/v1/folders/{folder}", chat_order::delete_folder),
        get(User, "/api/v1/tags", chat_order::tags),
        get(User, "/api/v1/chats/{chat}/sharing", sharing::get),
        put(User, "/api/v1/chats/{chat}/sharing", sharing::put).noted("chat.open"),
        post(User, "/api/v1/chats/{chat}/readers", sharing::add).noted("chat.share"),
        delete(
            User,
            "/api/v1/chats/{chat}/readers/{reader}",
            sharing::remove,
        )
        .noted("chat.unshare"),
        get(User, "/api/v1/shared-chats", sharing::list),
        post(User, "/api/v1/chats/{chat}/messages", messages::send),
        post(
            User,
            "/api/v1/chats/{chat}/messages/{message}/regenerate",
            messages::regenerate,
        ),
        post(
            User,
            "/api/v1/chats/{chat}/messages/{message}/others",
            alternatives::ask,
        ),
        post(
            User,
            "/api/v1/chats/{chat}/messages/{message}/merge",
            alternatives::merge,
        ),
        get(User, "/api/v1/chats/{chat}/files", files::list),
        get(
            User,
            "/api/v1/chats/{chat}/files/content",
            files::content::get,
        ),
        put(User, "/api/v1/chats/{chat}/files/content", files::put),
        delete(User, "/api/v1/chats/{chat}/files/content", files::delete),
        // Public, as other front ends show these files: the token in the URL is the authorization.
        get(Public, "/files/{token}/{name}", files::linked::get),
        get(User, "/api/v1/chats/{chat}/files/zip", files::zip::get),
        get(
            User,
            "/api/v1/chats/{chat}/files/versions",
            files::past::versions,
        ),
        get(User, "/api/v1/chats/{chat}/files/diff", files::past::diff),
        post(
            User,
            "/api/v1/chats/{chat}/files/restore",
            files::past::restore,
        ),
        post(User, "/api/v1/runs/{run}/fork", forks::create),
        get(User, "/api/v1/activity", activity::get),
        // Pending approvals and questions, and standing approvals
        get(User, "/api/v1/inbox", inbox::list),
        get(User, "/api/v1/allowed-calls", allowed_calls::list),
        delete(
            User,
            "/api/v1/allowed-calls/{allowed}",
            allowed_calls::delete,
        ),
        // Schedules
        get(User, "/api/v1/schedules", schedules::list),
        post(User, "/api/v1/schedules", schedules::create),
        put(User, "/api/v1/schedules/{schedule}", schedules::replace),
        delete(User, "/api/v1/schedules/{schedule}", schedules::delete),
        post(User, "/api/v1/schedules/{schedule}/run", schedules::run),
        // Webhooks for finished background runs
        get(User, "/api/v1/webhooks", webhooks::list),
        post(User, "/api/v1/webhooks", webhooks::create),
        delete(User, "/api/v1/webhooks/{webhook}", webhooks::delete),
        post(User, "/api/v1/webhooks/{webhook}/test", webhooks::test),
        // Push notifications
        get(User, "/api/v1/push-subscriptions", push::list),
        post(User, "/api/v1/push-subscriptions", push::create),
        delete(
            User,
            "/api/v1/push-subscriptions/{subscription}",
            push::delete,
        ),
        // Memory beyond a single chat
        get(User, "/api/v1/memory-use", facts::get_use),
        put(User, "/api/v1/memory-use", facts::put_use),
        get(User, "/api/v1/memories", memories::list),
        post(User, "/api/v1/memories", memories::create),
        put(User, "/api/v1/memories/{memory}", memories::put),
        delete(User, "/api/v1/memories/{memory}", memories::delete),
        get(User, "/api/v1/facts", facts::list),
        delete(User, "/api/v1/facts", facts::delete_all),
        put(User, "/api/v1/facts/{fact}", facts::put),
        delete(User, "/api/v1/facts/{fact}", facts::delete),
        // Documents
        get(User, "/api/v1/knowledge", knowledge::list),
        post(User, "/api/v1/knowledge", knowledge::create),
        post(User, "/api/v1/knowledge/search", knowledge::search),
        get(
            User,
            "/api/v1/knowledge/metadata",
            knowledge::metadata::known,
        ),
        patch(User, "/api/v1/knowledge/{collection}", knowledge::change),
        get(
            User,
            "/api/v1/knowledge/{collection}/sharing",
            knowledge::sharing::get,
        ),
        put(
            User,
            "/api/v1/knowledge/{collection}/sharing",
            knowledge::sharing::put,
        )
        .noted("collection.share"),
        get(
            User,
            "/api/v1/knowledge/{collection}/documents",
            knowledge::documents::list,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/documents",
            knowledge::documents::put,
        ),
        patch(
            User,
            "/api/v1/knowledge/{collection}/documents",
            knowledge::metadata::change,
        )
        .noted("collection.tag"),
        get(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}",
            knowledge::documents::get,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}/copy",
            knowledge::documents::copy,
        ),
        delete(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}/copy",
            knowledge::documents::delete_copies,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}/file",
            knowledge::documents::file,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}/retry",
            knowledge::documents::retry,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}/cancel",
            documents::cancel,
        ),
        delete(
            User,
            "/api/v1/knowledge/{collection}/documents/{document}",
            knowledge::documents::delete,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/crawls",
            knowledge::crawls::list,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/crawls",
            knowledge::crawls::create,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/crawls/{crawl}/cancel",
            knowledge::crawls::cancel,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/crawls/{crawl}/retry",
            knowledge::crawls::retry,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/crawls/{crawl}/dismiss",
            knowledge::crawls::dismiss,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/sources",
            knowledge::sources::list,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/sources",
            knowledge::sources::create,
        )
        .noted("source.create"),
        put(
            User,
            "/api/v1/knowledge/{collection}/sources/{source}",
            knowledge::sources::change,
        )
        .noted("source.change"),
        delete(
            User,
            "/api/v1/knowledge/{collection}/sources/{source}",
            knowledge::sources::delete,
        )
        .noted("source.delete"),
        post(
            User,
            "/api/v1/knowledge/{collection}/sources/{source}/sync",
            knowledge::sources::synchronize,
        )
        .noted("source.sync"),
        get(
            User,
            "/api/v1/knowledge/{collection}/sources/{source}/syncs",
            knowledge::syncs::list,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/sync",
            knowledge::syncs::begin,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/sync/{sync}",
            knowledge::syncs::get,
        ),
        put(
            User,
            "/api/v1/knowledge/{collection}/sync/{sync}/document",
            knowledge::syncs::receive,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/sync/{sync}/complete",
            knowledge::syncs::complete,
        )
        .noted("source.confirm"),
        post(
            User,
            "/api/v1/knowledge/{collection}/sync/{sync}/cancel",
            knowledge::syncs::cancel,
        )
        .noted("source.stop"),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph",
            knowledge::graph::state,
        ),
        put(
            User,
            "/api/v1/knowledge/{collection}/graph",
            knowledge::graph::switch,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/graph/documents/{document}/cancel",
            graph::cancel,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/graph/documents/{document}/retry",
            graph::retry,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/entities",
            knowledge::graph::entities,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/entities/{entity}",
            knowledge::graph::entity,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/neighbours",
            knowledge::graph::neighbours,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/path",
            knowledge::graph::path,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/subgraph",
            knowledge::graph::subgraph,
        ),
        get(
            User,
            "/api/v1/knowledge/{collection}/graph/aliases",
            knowledge::aliases::list,
        ),
        post(
            User,
            "/api/v1/knowledge/{collection}/graph/aliases",
            knowledge::aliases::merge,
        ),
        delete(
            User,
            "/api/v1/knowledge/{collection}/graph/aliases/{entity}",
            knowledge::aliases::part,
        ),
        delete(User, "/api/v1/knowledge/{collection}", knowledge::delete),
        post(User, "/api/v1/attachments", knowledge::attachments::put),
        // Fetched web pages, and images of other sites
        get(User, "/api/v1/pages/{page}", pages::get),
        post(User, "/api/v1/images", images::fetch),
        // Runs
        get(Chat, "/runs/{run}", runs::get),
        get(Chat, "/runs/{run}/events", runs::events),
        get(Chat, "/runs/{run}/calls/{call}", runs::call),
        post(Chat, "/runs/{run}/cancel", runs::cancel),
        post(Chat, "/runs/{run}/finish", runs::finish),
        post(Chat, "/runs/{run}/agents/{agent}/stop", runs::stop_agent),
        post(Chat, "/runs/{run}/input", inputs::send),
        delete(Chat, "/runs/{run}/input/{input}", inputs::remove),
        post(Chat, "/runs/{run}/approvals/{approval}", runs::approve),
        post(
            Chat,
            "/runs/{run}/questions/{question}",
            runs::questions::answer,
        ),
        post(Chat, "/chat/stream", chat_stream::post),
        // A chat with debug events
        post(Admin, "/api/config", debug_chat::configure).noted("debug_chat.configure"),
        post(Chat, "/api/chat", debug_chat::chat),
        get(Chat, "/ws", debug_chat::socket),
        get(Public, "/", debug_chat::root),
        // The AI SDK
        post(Chat, "/api/ui-message-stream", ui_message_stream::post),
        get(
            Chat,
            "/api/ui-message-stream/{chat}/stream",
            ui_message_stream::resume,
        ),
        post(
            Chat,
            "/api/ui-message-stream/{chat}/stop",
            ui_message_stream::stop,
        ),
        // AG-UI, and CopilotKit's calls around it
        post(Chat, "/ag-ui", ag_ui::post),
        post(Chat, "/ag-ui/{agent}", ag_ui::post),
        get(Chat, "/copilotkit/info", copilotkit::info),
        post(Chat, "/copilotkit/agent/{agent}/run", copilotkit::run),
        post(
            Chat,
            "/copilotkit/agent/{agent}/connect",
            copilotkit::connect,
        ),
        post(
            Chat,
            "/copilotkit/agent/{agent}/stop/{thread}",
            copilotkit::stop,
        ),
        // MCP server: our agent as a tool
        post(Chat, "/mcp", mcp::any),
        get(Chat, "/mcp", mcp::any),
        delete(Chat, "/mcp", mcp::any),
        // OpenAI's format
        post(Chat, "/v1/chat/completions", openai::chat),
        post(Chat, "/v1/responses", openai::responses::create),
        get(Chat, "/v1/responses/{response}", openai::responses::get),
        delete(Chat, "/v1/responses/{response}", openai::responses::delete),
        post(
            Chat,
            "/v1/responses/{response}/cancel",
            openai::responses::cancel,
        ),
        get(
            Chat,
            "/v1/responses/{response}/input_items",
            openai::responses::items::list,
        ),
        post(Chat, "/v1/embeddings", openai::embeddings),
        // Anthropic's format
        post(Chat, "/v1/messages", anthropic::messages),
        post(Chat, "/v1/messages/count_tokens", anthropic::count_tokens),
        get(Chat, "/v1/models", openai::models::list),
        get(Chat, "/v1/models/{*model}", openai::models::get),
    ]
}

/// The whole server as one service, with the files of `web_app`.
pub fn router(app: Arc<App>, web_app: WebApp) -> Router {
    let mcp_adapter = Arc::new(mcp::McpAdapter::new(
        &app.stopping,
        app.config.now().body_limit_bytes,
    ));
    app.jobs.start(vec![mcp::sweep_job(&mcp_adapter)]);
    let base = app.config.now().base_path().to_owned();
    let site = Site::new(web_app, &base);
    let state = AppState {
        app: app.clone(),
        site: site.clone(),
    };
    // Few layers: each costs several allocations per request.
    let routes = table().into_iter().fold(Router::new(), |router, route| {
        let protocol = Protocol::of(route.path);
        let guard = Guard {
            app: app.clone(),
            access: route.access,
            noted: route.noted,
            protocol,
        };
        let handler = if route.path == "/mcp" {
            route.handler.layer(Extension(Arc::clone(&mcp_adapter)))
        } else {
            route.handler
        };
        router.route(
            route.path,
            handler.route_layer(from_fn_with_state(guard, guarded)),
        )
    });
    let routes = routes.method_not_allowed_fallback(unrouted::wrong_method);
    let once_more = routes
        .clone()
        .fallback(unrouted::fallback)
        .with_state(state.clone());
    let routes = routes
        .fallback(move |request| unrouted::by_plain_path(once_more, site, request))
        .layer(from_fn_with_state(app.clone(), surrounded));
    let routes = if app.config.now().cors_allow_origins.is_empty() {
        routes
    } else {
        // Outermost, so that a page can read why its request was refused.
        routes.layer(from_fn_with_state(
            app.config.now().clone(),
            cors::allow_named_origins,
        ))
    };
    base_path::also_below(&base, routes.with_state(state))
}

/// Who may call a route, and the protocol of its error responses.
#[derive(Clone)]
struct Guard {
    app: Arc<App>,
    access: Access,
    noted: Option<&'static str>,
    protocol: Protocol,
}

/// The response, or 503 if the server is stopping and has no more time to make it.
async fn within_time(
    ending: CancellationToken,
    answer: impl Future<Output = Response>,
) -> Response {
    tokio::select! {
        biased;
        response = answer => response,
        () = ending.cancelled() => ApiError::stopping().into_response(),
    }
}

/// Middleware of each route: checks access, writes the audit log, and adapts the response to the protocol.
async fn guarded(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let protocol = guard.protocol.asked_by(request.headers());
    if let Err(refused) = check_access(&guard.app.identity, guard.access, &mut request).await {
        return unrouted::refuse(protocol, refused);
    }
    let caller = request.extensions().get::<Caller>().cloned();
    if let Some(caller) = &caller {
        request_log::note_caller(caller);
    }
    let ending = guard.app.ending.clone();
    let answer = |request| within_time(ending, next.run(request));
    let response = match (&caller, guard.noted) {
        // An audited action runs to its end, even if the caller's access is revoked meanwhile.
        (_, Some(action)) => audited::audited(&guard.app, action, request, answer).await,
        (Some(caller), None) => {
            guard
                .app
                .identity
                .standing
                .until_revoked(caller, answer(request))
                .await
        }
        (None, None) => answer(request).await,
    };
    if protocol == Protocol::Ours {
        return response;
    }
    let mut response = protocol.reword(response);
    if let Some(caller) = caller {
        let tell_limits = if protocol == Protocol::Anthropic {
            anthropic::tell_limits
        } else {
            openai::tell_limits
        };
        tell_limits(&guard.app, &caller, response.headers_mut());
    }
    response
}

/// Middleware around all routes: request id, request log, origin check, panics and security headers.
async fn surrounded(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let origin = request_context::of_headers(request.headers());
    let id = request_context::header_value(&origin);
    let about = request_log::span(origin.request.as_deref());
    let config = app.config.now();
    let line = RequestLine::begin(&about, &request, config.log.format);
    let protocol = Protocol::of(request.uri().path()).asked_by(request.headers());
    let answer = async {
        let checked =
            keep_from_proxy(&config, &mut request).and_then(|()| check_origin(&config, &request));
        match checked {
            Ok(()) => next.run(request).await,
            Err(refused) => unrouted::refuse(protocol, refused),
        }
    };
    let answered = request_context::on_behalf_of(origin, catch_panic(answer))
        .instrument(about)
        .await;
    let mut response = answered.unwrap_or_else(|panic| unrouted::refuse(protocol, panic));
    if let Some(id) = id {
        if protocol == Protocol::Anthropic {
            response
                .headers_mut()
                .insert(anthropic::REQUEST_ID, id.clone());
        }
        response
            .headers_mut()
            .insert(request_context::REQUEST_ID, id);
    }
    web::harden(&mut response, config.strict_transport_security.as_ref());
    line.end(response.status());
    response
}
