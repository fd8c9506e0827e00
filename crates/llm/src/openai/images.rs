//! Pictures made by a model, in the format of OpenRouter and LiteLLM: next to the text of an answer.

use provider::{DataPart, server_tools};
use serde_json::{Value, json};

use crate::ModelEvent;

/// The events of `images`, a JSON list: data to return to the server, and a tool call for the picture.
pub(super) fn image_events(images: &str) -> impl Iterator<Item = ModelEvent> {
    let data = serde_json::from_str::<Value>(images)
        .ok()
        .map(|images| json!({ "images": images }));
    let tools = data.as_ref().map(server_tools).unwrap_or_default();
    let data = data.map(|data| ModelEvent::ProviderData {
        part: DataPart::Other,
        data,
    });
    data.into_iter()
        .chain(tools.into_iter().map(ModelEvent::ServerTool))
}
