//! The token of the set-up link, which all servers on a database share.

use data_encoding::BASE64;
use llm::Secret;
use serde_json::{Value, json};
use store::Store;

use crate::platform::secret::{Sealer, random_token};

/// The setting with the sealed token.
const SETTING: &str = "setup_token";

/// The token; the first server that asks for it makes it.
///
/// # Errors
/// If the database or the system's randomness fails.
pub(crate) async fn token(store: &Store, sealer: &Sealer) -> anyhow::Result<Secret> {
    let token = random_token("")?;
    let new = json!(BASE64.encode(&sealer.seal(SETTING, &token)?));
    if let Some(known) = opened(sealer, &store.setting_or(SETTING, &new).await?) {
        return Ok(known);
    }
    // It was sealed with a key that is lost.
    store.put_setting(SETTING, &new).await?;
    Ok(token)
}

fn opened(sealer: &Sealer, stored: &Value) -> Option<Secret> {
    let sealed = BASE64.decode(stored.as_str()?.as_bytes()).ok()?;
    sealer.unseal(SETTING, &sealed).ok()
}
