//! How tools are told to models that are not offered them by the protocol.

use crate::chat::pipelines::EffectivePipelines;
use agent::{
    CODE_TOOL,
    pipelines::{Name, Pipeline},
};
use domain::UserId;
use llm::{CodePrompt, ToolPrompt};
use store::StoreError;

use super::{InForce, values};

impl EffectivePipelines {
    /// The words for a run of this person, nothing where such models are to have no tools; and how often code in a row may fail in
    /// an answer, of any model.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn tool_prompt(
        &self,
        owner: UserId,
    ) -> Result<(Option<ToolPrompt>, u32), StoreError> {
        let [tools, code] = self
            .these_in_force([Pipeline::Tools, Pipeline::CodeInterpreter])
            .await?;
        let code_retries = code.common.code_max_retries;
        let of = |set: InForce| set.template.filter(|_| set.enabled);
        let Some(tools) = of(tools) else {
            return Ok((None, code_retries));
        };
        let (person, now) = (
            self.told_person(&self.store.user(owner).await?),
            self.told_now(),
        );
        let values = values(&[], &person, &now);
        let code = of(code).map(|template| CodePrompt {
            tool: CODE_TOOL.to_owned(),
            text: template.fill_around(Name::Tools, &values),
            not_run: None,
        });
        let tools = tools.fill_around(Name::Tools, &values);
        Ok((Some(ToolPrompt { tools, code }), code_retries))
    }
}
