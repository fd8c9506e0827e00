//! The parameters of an agent's model calls: the caller's take precedence over the agent's, and the agent's over the
//! model's.

use std::sync::PoisonError;

use domain::{EventBody, LeftOut, ModelParameters, event::NoticeLevel};

use crate::{models::OneModel, turns::AgentContext};

impl AgentContext {
    /// The parameters for its calls of this model. A sub-agent's own parameters take precedence; one with its own model
    /// inherits only the caller's limit on output tokens.
    pub(crate) fn parameters(&self, model: &OneModel) -> ModelParameters {
        let requested = &self.run.spec.parameters;
        let own = &self.spec.parameters;
        let of_model = &model.settings().parameters;
        if self.emitter.agent().is_main() {
            return requested.over(own).over(of_model);
        }
        let inherited = match self.spec.models {
            None => ModelParameters {
                system_prompt: None,
                ..requested.clone()
            },
            Some(_) => ModelParameters {
                max_output_tokens: requested.max_output_tokens,
                ..ModelParameters::default()
            },
        };
        own.over(&inherited).over(of_model)
    }

    /// The parameters for a call whose answer is not the agent's: it is not cut, and its instructions are complete.
    pub(crate) fn internal_parameters(&self, model: &OneModel) -> ModelParameters {
        ModelParameters {
            system_prompt: None,
            max_output_tokens: None,
            stop: None,
            ..self.parameters(model)
        }
    }

    /// Logs that a parameter is not sent, once per run.
    pub(crate) async fn tell_left_out(&self, left_out: LeftOut) {
        let is_new = {
            let mut notified = self
                .run
                .left_out
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            notified.insert(left_out)
        };
        if is_new {
            let notice =
                EventBody::notice(NoticeLevel::Info, crate::messages::Runs::from(left_out));
            self.journal.once(notice).await;
        }
    }
}
