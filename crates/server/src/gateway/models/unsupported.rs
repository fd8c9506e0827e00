//! The parameters that a model does not take, as far as its servers, its name and its settings tell.

use domain::{Capabilities, Parameter};
use llm::openai::ServerSettings;

use super::Model;

impl Model {
    /// The parameters that it does not take: those that an administrator has named, or else all that are known.
    #[must_use]
    pub fn unsupported_parameters(&self) -> &[Parameter] {
        let known = &self.listed.abilities.unsupported_parameters;
        self.settings
            .unsupported_parameters
            .as_ref()
            .unwrap_or(known)
    }
}

/// Adds the parameters that the model does not take by what its server says of reasoning and by its name.
pub(super) fn add_unsupported(abilities: &mut Capabilities, server: &ServerSettings, model: &str) {
    let known = &mut abilities.unsupported_parameters;
    known.extend((abilities.reasoning == Some(false)).then_some(Parameter::ReasoningEffort));
    known.extend(server.unsupported_parameters(model));
    known.sort_unstable();
    known.dedup();
}
