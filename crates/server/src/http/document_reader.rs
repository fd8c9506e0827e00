//! The external document reader, for administrators: whether it is there.

use std::sync::Arc;

use axum::extract::State;
use domain::MessageCode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    documents::Documents,
    http::{extract::Json, openapi::Operations},
};

/// The program that reads [files that this server does not read](docs/knowledge/document-readers.md).
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "DocumentReader")]
pub(super) struct DocumentReaderView {
    /// Whether one is set.
    enabled: bool,
    /// Its name and version, such as `Apache Tika 3.2.3`; `null` if it does not answer.
    version: Option<String>,
    /// Why it cannot be used.
    problem: Option<ReaderProblem>,
}

/// Why a document reader cannot be used.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReaderProblem {
    /// A sentence for people.
    message: String,
    /// The message as a code, for translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<MessageCode>,
}

/// `GET /api/v1/document-reader`: returns whether the external document reader answers.
pub(super) async fn get_state(State(documents): State<Arc<Documents>>) -> Json<DocumentReaderView> {
    Json(match documents.reader_version().await {
        None => DocumentReaderView::default(),
        Some(Ok(version)) => DocumentReaderView {
            enabled: true,
            version: Some(version),
            problem: None,
        },
        Some(Err(words)) => DocumentReaderView {
            enabled: true,
            version: None,
            problem: Some(ReaderProblem {
                message: words.message,
                sentence: words.sentence.map(|code| *code),
            }),
        },
    })
}

/// Describes the call of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/document-reader",
        get_state,
        "Returns whether the external document reader answers, and its version",
    );
}
