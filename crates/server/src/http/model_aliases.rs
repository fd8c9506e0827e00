//! Model aliases: other names for models and agents, for clients that ask for a fixed model name.

use std::{collections::BTreeMap, sync::Arc};

use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::{
    app::App, error::ApiError, http::extract::Json, identity::audit::Noted,
    platform::model_aliases::Aliases,
};

/// What each name stands for.
#[derive(Debug, Serialize)]
pub(super) struct ModelAliases {
    /// What administrators have set here.
    aliases: Aliases,
    /// What the configuration file says; the same name here comes first.
    configured: Aliases,
}

/// The names to set, in the place of all that were.
#[derive(Debug, Deserialize)]
pub(super) struct SetAliases {
    aliases: BTreeMap<String, String>,
}

async fn view(app: &App) -> Result<Json<ModelAliases>, ApiError> {
    let aliases = app.models.set_aliases().await?;
    Ok(Json(ModelAliases {
        aliases,
        configured: app.config.model_aliases.clone(),
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
