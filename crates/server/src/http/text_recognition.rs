//! Text recognition, for administrators: whether it is installed, and with which languages.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    documents::{Documents, Recognition},
    http::{extract::Json, openapi::Operations},
};

/// The program that reads [scanned pages and pictures](docs/knowledge/text-recognition.md).
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "TextRecognition")]
pub(super) struct TextRecognitionView {
    /// Whether it is turned on.
    enabled: bool,
    /// Its name and version, such as `tesseract 5.3.0`; `null` if it cannot be used.
    version: Option<String>,
    /// The languages and scripts that are used, as the program names them.
    languages: Vec<String>,
    /// Whether the script and the orientation of a page are detected.
    detects_script: bool,
    /// Why it cannot be used.
    problem: Option<String>,
}

/// `GET /api/v1/text-recognition`: returns whether text can be recognized in pictures, and in which languages.
pub(super) async fn get_state(
    State(documents): State<Arc<Documents>>,
) -> Json<TextRecognitionView> {
    Json(match documents.recognition().await {
        Recognition::Off => TextRecognitionView::default(),
        Recognition::Found(found) => TextRecognitionView {
            enabled: true,
            version: Some(found.version().to_owned()),
            languages: found.languages().to_vec(),
            detects_script: found.detects_script(),
            problem: None,
        },
        Recognition::Missing(why) => TextRecognitionView {
            enabled: true,
            problem: Some(why.to_string()),
            ..TextRecognitionView::default()
        },
    })
}

/// Describes the call of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/text-recognition",
        get_state,
        "Returns whether text can be recognized in pictures, and in which languages",
    );
}
