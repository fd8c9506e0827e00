//! Stored responses, which are found by id, by their owner only.

use domain::{Message, RunId};
use serde_json::{Map, Value};
use wire::responses::{conversation, named_items, run_of_response};

use super::{encoder, start};
use crate::{
    app::App,
    error::ApiError,
    http::runs::find_own,
    http::streams::{RunFiles, for_reader},
    identity::auth::Caller,
};

/// What is stored of a response in addition to its log.
pub(super) struct Stored {
    pub(super) run: RunId,
    pub(super) is_going: bool,
    /// The fields of its request that it repeats.
    pub(super) echo: Map<String, Value>,
    /// The input items.
    pub(super) items: Vec<Value>,
    /// The id of its workspace.
    pub(super) workspace: String,
    /// The previous response.
    pub(super) previous: Option<RunId>,
}

impl Stored {
    /// The response with this id, if it is the caller's.
    pub(super) async fn find(app: &App, caller: &Caller, id: &str) -> Result<Self, ApiError> {
        let found = match run_of_response(id) {
            Some(run) => Self::of_run(app, caller, run).await?,
            None => None,
        };
        found.ok_or_else(|| ApiError::not_found("There is no such response, or it is not yours."))
    }

    /// The response of this run; `None` if it has none that the caller may read.
    pub(super) async fn of_run(
        app: &App,
        caller: &Caller,
        run: RunId,
    ) -> Result<Option<Self>, ApiError> {
        let Some(found) = find_own(app, caller, run).await? else {
            return Ok(None);
        };
        let is_going = found.finished_at.is_none();
        let Some(mut kept) = app.store.run_input(run).await? else {
            return Ok(None);
        };
        if kept["object"] != "response" || kept["store"] == false {
            return Ok(None);
        }
        let (Value::Object(echo), Value::Array(items)) =
            (kept["echo"].take(), kept["items"].take())
        else {
            return Ok(None);
        };
        let workspace = kept["workspace"]
            .as_str()
            .map_or_else(|| run.to_string(), str::to_owned);
        let previous = kept["previous"].as_str().and_then(run_of_response);
        Ok(Some(Self {
            run,
            is_going,
            echo,
            items,
            workspace,
            previous,
        }))
    }

    /// The current state of the response.
    pub(super) async fn response(
        &self,
        app: &App,
        mut files: Option<RunFiles>,
    ) -> Result<Value, ApiError> {
        let mut encoder = encoder(self.echo.clone(), None);
        let mut reader = app.runs.read_stored(self.run);
        while let Some(events) = reader.next().await? {
            for logged in &events {
                if let Some(event) = for_reader(files.as_mut(), &logged.event).await {
                    encoder.prime(&event);
                }
            }
        }
        Ok(encoder.response())
    }

    /// The input items with their ids.
    pub(super) fn named_items(&self) -> Vec<Value> {
        named_items(&self.items, self.run)
    }

    /// Its part of a conversation: the input, then the output.
    pub(super) async fn messages(&self, app: &App) -> Result<Vec<Message>, ApiError> {
        let mut messages = conversation(&self.items).map_err(super::invalid)?;
        let name = |call: &str, by| start::call_id(self.run, call, by);
        messages.extend(agent::history::messages_with_handed_over(
            &app.conversations.log_of(self.run).await?,
            name,
        ));
        Ok(messages)
    }
}
