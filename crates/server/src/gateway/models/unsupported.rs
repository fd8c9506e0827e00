//! The parameters that a model does not accept, according to its servers, its name and its settings.

use domain::{Capabilities, Parameter};
use llm::openai::ServerSettings;

use super::Model;

impl Model {
    /// The parameters that it does not accept: those set by an administrator, or else all known ones.
    #[must_use]
    pub fn unsupported_parameters(&self) -> &[Parameter] {
        let known = &self.listed.abilities.unsupported_parameters;
        self.settings
            .unsupported_parameters
            .as_ref()
            .unwrap_or(known)
    }
}

/// Adds the parameters that the model does not accept, derived from the reasoning support its server reports and from
/// its name.
pub(super) fn add_unsupported(abilities: &mut Capabilities, server: &ServerSettings, model: &str) {
    let known = &mut abilities.unsupported_parameters;
    known.extend((abilities.reasoning == Some(false)).then_some(Parameter::ReasoningEffort));
    known.extend(server.unsupported_parameters(model));
    known.sort_unstable();
    known.dedup();
}
