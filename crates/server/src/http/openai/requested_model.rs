//! Resolves the model or agent of a request, and checks that the caller may use it.

use domain::ProblemCode;
use llm::ModelError;
use wire::openai::PassedRequest;

use super::{invalid, models::AgentModel};
use crate::{app::App, error::ApiError, gateway::models::ModelServer, identity::auth::Caller};

/// A request for a model or an agent.
#[derive(Debug)]
pub(in crate::http) struct RequestedModel<'a> {
    /// The fields of the request that we read.
    pub(in crate::http) passing: PassedRequest<'a>,
    /// The requested id, with aliases resolved.
    pub(in crate::http) id: String,
    /// The agent, if the request names one.
    pub(in crate::http) agent: Option<AgentModel>,
}

impl<'a> RequestedModel<'a> {
    /// Reads a request body.
    ///
    /// # Errors
    /// 400 if it is not a request for a model, 403 if the caller's key does not allow the model.
    pub(in crate::http) fn read(
        app: &App,
        caller: &Caller,
        body: &'a [u8],
    ) -> Result<Self, ApiError> {
        let passing = PassedRequest::peek(body).map_err(invalid)?;
        let id = app.models.catalogue().meant(&passing.model).to_owned();
        caller.check_model(&id)?;
        let agent = AgentModel::find(app, caller, &id);
        Ok(Self { passing, id, agent })
    }

    /// The servers of the requested model, for a call such as `chat/completions`.
    ///
    /// # Errors
    /// 404 for an unknown model, 503 if its server has not answered yet.
    pub(in crate::http) async fn server(
        &self,
        app: &App,
        caller: &Caller,
        call: &str,
    ) -> Result<ModelServer, ApiError> {
        app.models.first_look().await;
        let server = app
            .models
            .upstream(&self.id, call, &app.gateway.permit_of(caller));
        let server = server.map_err(|error| error.with_field(Some("model")))?;
        server.ok_or_else(|| ApiError::internal("a model without a server is no agent"))
    }

    /// The caller's error for a failed call; if the server no longer has the model, it lists similar names.
    pub(in crate::http) fn failed(
        &self,
        app: &App,
        caller: &Caller,
        error: ModelError,
    ) -> ApiError {
        match error.code {
            ProblemCode::ModelNotFound => {
                let missing =
                    app.models
                        .not_found(&self.id, &app.gateway.permit_of(caller), error.words());
                missing.with_field(Some("model"))
            }
            _ => error.into(),
        }
    }
}
