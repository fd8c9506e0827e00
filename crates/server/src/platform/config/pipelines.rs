//! `[pipelines]`: the model calls around a chat. The settings have Open WebUI's names and are also read from its
//! environment variables. Settings made by an administrator on the page take precedence.

use agent::pipelines::Pipeline;
use serde::Deserialize;
use toml::{Table, Value};

use super::Environment;

/// Maximum number of retrieved passages per message.
pub const MAX_PASSAGES: u32 = 50;
/// Maximum number of consecutive failures of code in one answer, after the first.
pub const MAX_CODE_RETRIES: u32 = 50;

/// The settings as written; an empty template means the built-in one, an empty model the chat's own.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switch is a setting of its own"
)]
pub struct PipelineDefaults {
    /// The model of all pipelines of chats with a local model.
    pub task_model: String,
    /// The model of all pipelines of chats with an external model.
    pub task_model_external: String,
    /// Whether chats get titles.
    pub enable_title_generation: bool,
    /// The prompt for titles.
    pub title_generation_prompt_template: String,
    /// Whether chats get tags.
    pub enable_tags_generation: bool,
    /// The prompt for tags.
    pub tags_generation_prompt_template: String,
    /// Whether answers get follow-up questions.
    pub enable_follow_up_generation: bool,
    /// The prompt for follow-up questions.
    pub follow_up_generation_prompt_template: String,
    /// Whether a model generates queries for the web search.
    pub enable_search_query_generation: bool,
    /// Whether a model generates queries for documents.
    pub enable_retrieval_query_generation: bool,
    /// The prompt for both kinds of queries.
    pub query_generation_prompt_template: String,
    /// The template that presents retrieved passages to the model.
    pub rag_template: String,
    /// Maximum number of passages.
    pub rag_top_k: u32,
    /// Whether passages are added to the system prompt instead of the message.
    pub rag_system_context: bool,
    /// Whether text is autocompleted while people write.
    pub enable_autocomplete_generation: bool,
    /// Maximum length of text that is completed, characters; negative for no limit.
    pub autocomplete_generation_input_max_length: i64,
    /// The prompt for autocompletion.
    pub autocomplete_generation_prompt_template: String,
    /// Whether several answers can be merged into one.
    pub enable_moa_generation: bool,
    /// The prompt for merging.
    pub moa_generation_prompt_template: String,
    /// Default number of parallel answers of one model.
    pub moa_samples: usize,
    /// Default number of rounds of answers before they are merged.
    pub moa_layers: u32,
    /// The template that describes tools to models that are not offered them by the protocol.
    pub tools_function_calling_prompt_template: String,
    /// Whether such models write code in tags.
    pub enable_code_interpreter: bool,
    /// The prompt for code in tags.
    pub code_interpreter_prompt_template: String,
    /// Number of consecutive failures after which no more code is run in an answer.
    pub code_interpreter_max_retries: u32,
}

impl PipelineDefaults {
    pub(super) fn check(self) -> anyhow::Result<Self> {
        anyhow::ensure!(
            (1..=MAX_PASSAGES).contains(&self.rag_top_k),
            "pipelines.rag_top_k must be 1 to {MAX_PASSAGES}"
        );
        anyhow::ensure!(
            (1..=8).contains(&self.moa_samples),
            "pipelines.moa_samples must be 1 to 8"
        );
        anyhow::ensure!(
            (1..=3).contains(&self.moa_layers),
            "pipelines.moa_layers must be 1 to 3"
        );
        anyhow::ensure!(
            self.code_interpreter_max_retries <= MAX_CODE_RETRIES,
            "pipelines.code_interpreter_max_retries must be 0 to {MAX_CODE_RETRIES}"
        );
        for pipeline in Pipeline::ALL {
            let (setting, text) = self.template(pipeline);
            if let Err(error) = pipeline.template(text)
                && !text.trim().is_empty()
            {
                anyhow::bail!("pipelines.{setting} cannot be used: {error}");
            }
        }
        Ok(self)
    }
}

impl PipelineDefaults {
    /// The setting that holds a pipeline's template, and the template; empty if there is none.
    #[must_use]
    pub fn template(&self, pipeline: Pipeline) -> (&'static str, &str) {
        match pipeline {
            Pipeline::Title => (
                "title_generation_prompt_template",
                &self.title_generation_prompt_template,
            ),
            Pipeline::Tags => (
                "tags_generation_prompt_template",
                &self.tags_generation_prompt_template,
            ),
            Pipeline::FollowUps => (
                "follow_up_generation_prompt_template",
                &self.follow_up_generation_prompt_template,
            ),
            Pipeline::Queries => (
                "query_generation_prompt_template",
                &self.query_generation_prompt_template,
            ),
            Pipeline::Rag => ("rag_template", &self.rag_template),
            Pipeline::Autocomplete => (
                "autocomplete_generation_prompt_template",
                &self.autocomplete_generation_prompt_template,
            ),
            Pipeline::Moa => (
                "moa_generation_prompt_template",
                &self.moa_generation_prompt_template,
            ),
            Pipeline::Tools => (
                "tools_function_calling_prompt_template",
                &self.tools_function_calling_prompt_template,
            ),
            Pipeline::CodeInterpreter => (
                "code_interpreter_prompt_template",
                &self.code_interpreter_prompt_template,
            ),
        }
    }

    /// Whether a pipeline is on. Those without a switch always are.
    #[must_use]
    pub fn enables(&self, pipeline: Pipeline) -> bool {
        match pipeline {
            Pipeline::Title => self.enable_title_generation,
            Pipeline::Tags => self.enable_tags_generation,
            Pipeline::FollowUps => self.enable_follow_up_generation,
            Pipeline::Queries => {
                self.enable_search_query_generation || self.enable_retrieval_query_generation
            }
            Pipeline::Autocomplete => self.enable_autocomplete_generation,
            Pipeline::Moa => self.enable_moa_generation,
            Pipeline::CodeInterpreter => self.enable_code_interpreter,
            Pipeline::Rag | Pipeline::Tools => true,
        }
    }
}

/// Reads Open WebUI's variables for these settings, such as `TASK_MODEL`, unless ours are set.
pub(super) fn read_environment(
    known: &Table,
    environment: &Environment,
    over: &mut Table,
) -> anyhow::Result<()> {
    let Some(Value::Table(known)) = known.get("pipelines") else {
        return Ok(());
    };
    let mut found = Table::new();
    for (name, default) in known {
        let variable = name.to_uppercase();
        if let Some(text) = environment
            .get(&variable)
            .filter(|text| !text.trim().is_empty())
        {
            let value = super::layers::parse_like(default, text)
                .map_err(|error| anyhow::anyhow!("{variable} {error}"))?;
            found.insert(name.clone(), value);
        }
    }
    if let Some(Value::Table(ours)) = over.remove("pipelines") {
        super::layers::merge(&mut found, ours);
    }
    if !found.is_empty() {
        over.insert("pipelines".to_owned(), Value::Table(found));
    }
    Ok(())
}
