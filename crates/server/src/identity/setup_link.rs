//! The token of the set-up link, which all servers on a database share.

use std::collections::BTreeMap;

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
    let sealed = sealer.seal(SETTING, &random_token("")?)?;
    let new = json!(BASE64.encode(&sealed));
    if let Some(token) = opened(sealer, &store.setting_or(SETTING, &new).await?) {
        return Ok(token);
    }
    // It was sealed with a key that is lost.
    let change = BTreeMap::from([(SETTING.to_owned(), Some(new.clone()))]);
    store.change_settings(&change).await?;
    Ok(opened(sealer, &new).unwrap_or_else(|| Secret::new("")))
}

fn opened(sealer: &Sealer, stored: &Value) -> Option<Secret> {
    let sealed = BASE64.decode(stored.as_str()?.as_bytes()).ok()?;
    sealer.unseal(SETTING, &sealed).ok()
}
