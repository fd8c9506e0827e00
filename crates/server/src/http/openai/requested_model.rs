//! What every request for a model begins with: the model or agent that it means, and whether the caller may use it.

use domain::ProblemCode;
use llm::ModelError;
use wire::openai::PassedRequest;

use super::{invalid, models::AgentModel};
use crate::{app::App, error::ApiError, gateway::models::ModelServer, identity::auth::Caller};

/// A request for a model or an agent.
#[derive(Debug)]
pub(in crate::http) struct RequestedModel<'a> {
    /// What is known of the request.
    pub(in crate::http) passing: PassedRequest<'a>,
    /// The id that its name is an alias for, if it is one.
    pub(in crate::http) id: String,
    /// The agent that it names.
    pub(in crate::http) agent: Option<AgentModel>,
}

impl<'a> RequestedModel<'a> {
    /// Looks into a request body.
    ///
    /// # Errors
    /// 400 if it is no request for a model, 403 if the caller's key is not for it.
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

    /// The servers of the model that is meant, for a call of theirs such as `chat/completions`.
    ///
    /// # Errors
    /// 404 for a model that is not there, 503 if its server has not been heard of yet.
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

    /// What the caller is told of a call that failed: of a model that its server has no longer, the names like it.
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
