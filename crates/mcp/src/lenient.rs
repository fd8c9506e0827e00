//! Messages of servers that omit fields the protocol requires but no client needs.

use std::borrow::Cow;

use rmcp::{
    RoleClient,
    model::{CustomResult, InitializeResult, JsonRpcMessage, JsonRpcResponse, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};

/// A transport whose messages are completed as they come.
pub(crate) struct Lenient<T>(pub(crate) T);

impl<T: Transport<RoleClient>> Transport<RoleClient> for Lenient<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.0.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.0.receive().await.map(completed)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.0.close()
    }
}

/// The answer to `initialize` with what it lacks: loose servers say nothing of themselves, or of what they can do.
fn completed(message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
    let JsonRpcMessage::Response(JsonRpcResponse {
        result: ServerResult::CustomResult(CustomResult(Value::Object(fields))),
        ..
    }) = &message
    else {
        return message;
    };
    if !fields.get("protocolVersion").is_some_and(Value::is_string) {
        return message;
    }
    let mut fields = fields.clone();
    let is_named = fields.get("serverInfo").and_then(|info| info.get("name")).is_some_and(Value::is_string);
    if !is_named {
        fields.insert("serverInfo".to_owned(), json!({"name": "", "version": ""}));
    } else if fields["serverInfo"].get("version").is_none_or(|version| !version.is_string()) {
        fields["serverInfo"]["version"] = json!("");
    }
    if !fields.get("capabilities").is_some_and(Value::is_object) {
        fields.insert("capabilities".to_owned(), json!({"tools": {}}));
    }
    fields.retain(|_, value| !value.is_null());
    match (serde_json::from_value::<InitializeResult>(Value::Object(fields)), message) {
        (Ok(whole), JsonRpcMessage::Response(response)) => JsonRpcMessage::Response(JsonRpcResponse {
            result: ServerResult::InitializeResult(whole),
            ..response
        }),
        (_, message) => message,
    }
}
