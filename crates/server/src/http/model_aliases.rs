//! Model aliases: other names for models and agents, for clients that ask for a fixed model name.

use std::{collections::BTreeMap, sync::Arc};

use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    app::App, error::ApiError, http::extract::Json, http::openapi::Operations,
    identity::audit::Noted, platform::model_aliases::Aliases,
};

/// [Model aliases](docs/models/connect.md#model-aliases): the model that each name refers to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ModelAliases {
    /// Those that administrators have set here.
    aliases: Aliases,
    /// Those of the configuration file; the same name here takes precedence.
    configured: Aliases,
}

/// The aliases to set, at most 200; they replace all that were set here.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ModelAliasesChange")]
pub(super) struct SetAliases {
    aliases: BTreeMap<String, String>,
}

async fn view(app: &App) -> Result<Json<ModelAliases>, ApiError> {
    let aliases = app.models.set_aliases().await?;
    Ok(Json(ModelAliases {
        aliases,
        configured: app.config.now().model_aliases.clone(),
    }))
}

/// `GET /api/v1/settings/model-aliases`.
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<ModelAliases>, ApiError> {
    view(&app).await
}

/// `PUT /api/v1/settings/model-aliases`.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(SetAliases { aliases }): Json<SetAliases>,
) -> Result<Json<ModelAliases>, ApiError> {
    let aliases = Aliases::new(aliases)
        .map_err(|refused| ApiError::invalid(refused).with_field(Some("aliases")))?;
    noted.with("aliases", &aliases);
    app.models.put_aliases(&aliases).await?;
    view(&app).await
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/settings/model-aliases",
        get,
        "Returns the [model aliases](docs/models/connect.md#model-aliases)",
    );
    api.handler(
        "PUT /api/v1/settings/model-aliases",
        put,
        "Replaces the model aliases",
    );
}
