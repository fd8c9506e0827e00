//! Loads what a new response continues: previous responses, and items that the request only references.

use std::collections::HashMap;

use domain::{Message, Role, RunId};
use serde_json::Value;
use wire::{
    openai::run_of_call,
    responses::{ResponseRequest, run_of_item},
};

use super::stored::Stored;
use crate::{app::App, error::ApiError, http::runs::find_own, identity::auth::Caller};

/// Maximum number of previous responses to load; few models have context for more.
const RESPONSES_RECALLED: usize = 100;
/// Maximum number of responses whose items one request may reference.
const RESPONSES_NAMED: usize = 50;

/// The conversation before a new response.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) messages: Vec<Message>,
    /// The id of its workspace.
    pub(super) workspace: Option<String>,
}

/// Loads the conversation that the request continues.
///
/// # Errors
/// 4xx if the previous response does not exist or has not finished.
pub(super) async fn before(
    app: &App,
    caller: &Caller,
    request: &ResponseRequest,
) -> Result<Earlier, ApiError> {
    let Some(previous) = &request.previous else {
        let workspace = workspace_of(app, caller, &request.items).await?;
        return Ok(Earlier {
            messages: Vec::new(),
            workspace,
        });
    };
    let field = Some("previous_response_id");
    let last = Stored::find(app, caller, previous)
        .await
        .map_err(|error| error.with_field(field))?;
    if last.is_going {
        let message =
            "The response in `previous_response_id` is still going. Wait for its end or cancel it.";
        return Err(ApiError::conflict(message).with_field(field));
    }
    let workspace = Some(last.workspace.clone());
    let mut turns = Vec::new();
    let mut next = Some(last);
    while let Some(response) = next {
        turns.push(response.messages(app).await?);
        next = match response
            .previous
            .filter(|_| turns.len() < RESPONSES_RECALLED)
        {
            // The history ends at a deleted response.
            Some(run) => Stored::of_run(app, caller, run).await?,
            None => None,
        };
    }
    let mut messages = turns.into_iter().rev().flatten().collect();
    drop_answers_without_calls(&mut messages);
    Ok(Earlier {
        messages,
        workspace,
    })
}

/// Drops tool results whose call is not part of a truncated conversation.
fn drop_answers_without_calls(messages: &mut Vec<Message>) {
    let mut calls: Vec<String> = Vec::new();
    messages.retain(|message| {
        calls.extend(message.tool_calls.iter().map(|call| call.id.clone()));
        message.role != Role::Tool
            || message
                .tool_call_id
                .as_ref()
                .is_some_and(|id| calls.contains(id))
    });
}

/// The workspace of the first response in a conversation that is sent in full.
async fn workspace_of(
    app: &App,
    caller: &Caller,
    items: &[Value],
) -> Result<Option<String>, ApiError> {
    let named = items.iter().find_map(|item| {
        let of = |field: &str, run: fn(&str) -> Option<RunId>| item[field].as_str().and_then(run);
        of("call_id", run_of_call).or_else(|| of("id", run_of_item))
    });
    let Some(run) = named else { return Ok(None) };
    // The id may name something that is not the caller's.
    if find_own(app, caller, run).await?.is_none() {
        return Ok(None);
    }
    let kept = app.store.run_input(run).await?.unwrap_or_default();
    Ok(Some(
        kept["workspace"]
            .as_str()
            .map_or_else(|| run.to_string(), str::to_owned),
    ))
}

/// Replaces item references by the items, if they are the caller's.
pub(super) async fn resolve(
    app: &App,
    caller: &Caller,
    items: &mut [Value],
) -> Result<(), ApiError> {
    let mut known: HashMap<RunId, Vec<Value>> = HashMap::new();
    for item in items
        .iter_mut()
        .filter(|item| item["type"] == "item_reference")
    {
        let Some((run, id)) = item["id"]
            .as_str()
            .and_then(|id| Some((run_of_item(id)?, id.to_owned())))
        else {
            continue;
        };
        if !known.contains_key(&run) && known.len() < RESPONSES_NAMED {
            known.insert(run, items_of(app, caller, run).await?);
        }
        let found = known
            .get(&run)
            .and_then(|items| items.iter().find(|item| item["id"] == *id));
        if let Some(found) = found {
            *item = found.clone();
        }
    }
    Ok(())
}

async fn items_of(app: &App, caller: &Caller, run: RunId) -> Result<Vec<Value>, ApiError> {
    let Some(stored) = Stored::of_run(app, caller, run).await? else {
        return Ok(Vec::new());
    };
    let mut items = stored.named_items();
    if let Value::Array(output) = stored.response(app, None).await?["output"].take() {
        items.extend(output);
    }
    Ok(items)
}
