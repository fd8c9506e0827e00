//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

mod accounts;
mod chats;
mod imports;
mod knowledge;
mod limits;
mod requests;
mod runs;
mod settings;
mod sources;
mod tools;

pub use accounts::Accounts;
pub use chats::Chats;
pub use imports::Imports;
pub use knowledge::Knowledge;
pub use limits::Limits;
pub use requests::Requests;
pub use runs::Runs;
pub use settings::Settings;
pub use sources::Sources;
pub use tools::Tools;

/// The codes of all messages of all crates, each with the names of its parameters.
///
/// # Errors
/// If two messages have the same code, or one has no code.
pub fn codes() -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut codes = BTreeMap::new();
    add::<domain::form::Forms>(&mut codes)?;
    add::<auth_protocols::messages::OAuth>(&mut codes)?;
    add::<llm::messages::Models>(&mut codes)?;
    add::<llm::messages::Connections>(&mut codes)?;
    add::<agent::messages::Runs>(&mut codes)?;
    add::<agent::messages::Approvals>(&mut codes)?;
    add::<agent::messages::Inputs>(&mut codes)?;
    add::<agent::messages::Files>(&mut codes)?;
    add::<agent::messages::Pipelines>(&mut codes)?;
    add::<agent::messages::Agents>(&mut codes)?;
    add::<agent::messages::Skills>(&mut codes)?;
    add::<web_access::messages::Web>(&mut codes)?;
    add::<run_registry::messages::Runs>(&mut codes)?;
    add::<Accounts>(&mut codes)?;
    add::<Chats>(&mut codes)?;
    add::<Imports>(&mut codes)?;
    add::<Knowledge>(&mut codes)?;
    add::<Limits>(&mut codes)?;
    add::<Requests>(&mut codes)?;
    add::<Runs>(&mut codes)?;
    add::<Settings>(&mut codes)?;
    add::<Sources>(&mut codes)?;
    add::<Tools>(&mut codes)?;
    Ok(codes)
}

fn add<Messages: JsonSchema>(codes: &mut BTreeMap<String, Vec<String>>) -> anyhow::Result<()> {
    let schema = Value::from(Messages::json_schema(&mut SchemaGenerator::default()));
    let variants = schema["oneOf"].as_array().context("no alternatives")?;
    for variant in variants {
        let code = variant["properties"]["code"]["const"]
            .as_str()
            .with_context(|| format!("no code: {variant}"))?;
        let params = variant["properties"]["params"]["properties"].as_object();
        let names = params.into_iter().flat_map(|params| params.keys().cloned());
        if codes.insert(code.to_owned(), names.collect()).is_some() {
            bail!("two messages have the code {code}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::LocalizedText;

    use super::*;

    #[test]
    fn codes_are_unique_and_have_their_parameters() {
        let codes = codes().unwrap();
        assert!(codes.len() > 590, "{}", codes.len());
        assert_eq!(codes["wrong_login"], [""; 0]);
        assert_eq!(codes["out_of_range"], ["field", "least", "most"]);
    }

    #[test]
    fn messages_are_serialized_with_the_same_code() {
        let text = LocalizedText::from(Requests::OutOfRange {
            field: "depth".to_owned(),
            least: 0,
            most: 5,
        });
        assert_eq!(text.code(), Some("out_of_range"));
        assert_eq!(
            LocalizedText::from(Accounts::WrongLogin).code(),
            Some("wrong_login")
        );
    }
}
