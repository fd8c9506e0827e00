//! `GET /api/v1/settings`: the configuration in effect. It is set in the file, the environment or by flags; changes
//! apply after a restart.

use std::{path::PathBuf, sync::Arc};

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{app::App, http::extract::Json, http::openapi::Operations, platform::config::Setting};

/// The configuration in effect.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Configuration")]
pub(super) struct Settings {
    settings: Vec<Setting>,
    /// The file that was read, or would be.
    file: PathBuf,
    /// Whether there is one.
    file_read: bool,
}

/// All settings, and the configuration file.
pub(super) async fn get(State(app): State<Arc<App>>) -> Json<Settings> {
    let config = &app.config;
    Json(Settings {
        settings: config.settings.clone(),
        file: config
            .file
            .clone()
            .unwrap_or_else(|| config.data_dir.join("glasshouse.toml")),
        file_read: config.file.is_some(),
    })
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/settings",
        get,
        "Returns the [configuration](docs/reference/configuration.md) in effect",
    );
}
