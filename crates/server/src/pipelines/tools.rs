//! Prompt texts that describe tools to models whose protocol does not offer them.

use crate::pipelines::EffectivePipelines;
use agent::{
    CODE_TOOL,
    pipelines::{Name, Pipeline},
};
use domain::UserId;
use llm::{CodePrompt, ToolPrompt};
use store::StoreError;

use super::{InForce, values};

impl EffectivePipelines {
    /// The tool prompt for a run of this user, or `None` if such models get no tools; and how many times in a row code
    /// may fail in an answer, for any model.
    ///
    /// # Errors
    /// If the database does not answer.
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
        let person = self.person_variables(&self.store.user(owner).await?);
        let now = self.time_variables();
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
