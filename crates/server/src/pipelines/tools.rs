//! How tools are told to models that are not offered them by the protocol.

use agent::{
    CODE_TOOL,
    pipelines::{Name, Pipeline},
};
use domain::UserId;
use llm::{CodePrompt, ToolPrompt};
use store::StoreError;

use super::{InForce, values};
use crate::app::App;

impl App {
    /// The words for a run of this person; nothing where such models are to have no tools.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub(crate) async fn tool_prompt(&self, owner: UserId) -> Result<Option<ToolPrompt>, StoreError> {
        let [tools, code] = self.these_in_force([Pipeline::Tools, Pipeline::CodeInterpreter]).await?;
        let of = |set: InForce| set.template.filter(|_| set.enabled);
        let Some(tools) = of(tools) else { return Ok(None) };
        let (person, now) = (self.told_person(&self.store.user(owner).await?), self.told_now());
        let values = values(&[], &person, &now);
        let code = of(code).map(|template| CodePrompt {
            tool: CODE_TOOL.to_owned(),
            text: template.fill_around(Name::Tools, &values),
            not_run: None,
        });
        Ok(Some(ToolPrompt { tools: tools.fill_around(Name::Tools, &values), code }))
    }
}
