//! Message attachments: each is a collection with one document, which belongs to the chat once the message is sent.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::StatusCode,
};
use domain::{CollectionId, DocumentId, UserId};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Collection, StoreError};

use super::{
    NAME_CHARS,
    documents::{DocumentView, Named, checked_name, keep},
    owner,
};
use crate::{
    app::App,
    error::ApiError,
    http::{
        body::read_body,
        extract::{Json, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// Maximum number of unsent attachments per user.
const MAX_UNSENT: u32 = 100;

/// A file for a message.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Attachment")]
pub(in crate::http) struct AttachmentView {
    /// Where it is: a message refers to it as `{"type": "document", collection, document, name}`.
    collection: CollectionId,
    #[serde(flatten)]
    document: DocumentView,
}

/// `POST /api/v1/attachments?name=`: uploads a file for a message, which is parsed in the background. It is deleted
/// with the chat in which it is sent, or after a day if it is never sent.
pub(in crate::http) async fn put(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(query): Query<Named>,
    request: Request,
) -> Result<(StatusCode, Json<AttachmentView>), ApiError> {
    let owner = owner(&caller)?;
    let name = checked_name(&query.name)?;
    let limit = usize::try_from(app.config.now().knowledge.file_bytes).unwrap_or(usize::MAX);
    let file = read_body(&app, request, limit).await?;
    let now = app.clock.now_ms();
    let id = CollectionId::generate();
    let new = collection(id, owner, &name, now);
    app.store
        .create_collection(&new, MAX_UNSENT)
        .await
        .map_err(|error| match error {
            StoreError::Conflict(_) => ApiError::conflict(messages::Knowledge::TooManyUnsent {
                count: MAX_UNSENT.into(),
            }),
            error => error.into(),
        })?;
    let document = match keep(&app, owner, id, DocumentId::generate(), &name, &file).await {
        Ok(document) => document,
        Err(refused) => {
            app.store.delete_collection(owner, id).await?;
            return Err(refused);
        }
    };
    let far = app.documents.far(id).await?;
    let document = DocumentView::new(document, &far, Vec::new());
    Ok((
        StatusCode::ACCEPTED,
        Json(AttachmentView {
            collection: id,
            document,
        }),
    ))
}

/// The collection for an attachment.
pub(in crate::http) fn collection(
    id: CollectionId,
    owner: UserId,
    name: &str,
    now: i64,
) -> Collection {
    Collection {
        id,
        owner,
        name: name.chars().take(NAME_CHARS).collect(),
        description: String::new(),
        open: false,
        attached: true,
        version: 0,
        created_at: now,
        updated_at: now,
    }
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.operation("POST /api/v1/attachments", "Uploads a file for a message, which is processed in the background")
        .details("It belongs to the chat of the message that refers to it and is deleted with it; a file that is \
         never sent is deleted after a day. It is not listed or searched elsewhere. Limits as for \
         documents, and 409 over 100 that are not sent.")
        .query::<Named>()
        .body_of("application/octet-stream")
        .answers::<AttachmentView>(202)
        .errors(&[409]);
}
