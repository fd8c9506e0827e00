//! The pipelines of a chat: small model calls separate from the answer, each with a template, a response format and a
//! parser. The server decides when they run, with which model and on whose account.

mod answers;
mod model_call;
mod template;
mod texts;
mod title;
mod values;

use serde_json::{Value, json};

use crate::messages;

pub use answers::{
    FOLLOW_UPS, Notes, QUERIES, TAGS, continuation, continued_so_far, enough_continued,
    enough_read_along, read_completion, read_queries,
};
pub use model_call::{Asked, Bounds, ask, continue_text};
pub use template::{MAX_TEMPLATE_BYTES, Name, Template, TemplateError};
pub use values::{Now, Person, Said, Values, fit_answers};

/// One of the pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// The title of the chat.
    Title,
    /// Its topics, of one to three words each, for browsing.
    Tags,
    /// Questions that the person could ask next.
    FollowUps,
    /// Search queries, for documents or the web, that help to answer the last message.
    Queries,
    /// How retrieved passages are presented to the model that answers.
    Rag,
    /// The continuation of the text that is being written.
    Autocomplete,
    /// How several answers to one message are combined: a mixture of agents.
    Moa,
    /// How tools are described to models without native tool calling.
    Tools,
    /// How such models are instructed to write code that is then run.
    CodeInterpreter,
}

impl Pipeline {
    /// All pipelines, in display order.
    pub const ALL: [Self; 9] = [
        Self::Title,
        Self::Tags,
        Self::FollowUps,
        Self::Queries,
        Self::Rag,
        Self::Autocomplete,
        Self::Moa,
        Self::Tools,
        Self::CodeInterpreter,
    ];

    /// The name in URLs and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Tags => "tags",
            Self::FollowUps => "follow_ups",
            Self::Queries => "queries",
            Self::Rag => "rag",
            Self::Autocomplete => "autocomplete",
            Self::Moa => "moa",
            Self::Tools => "tools",
            Self::CodeInterpreter => "code_interpreter",
        }
    }

    /// Open WebUI's name for the task, for the `metadata` sent to model servers.
    #[must_use]
    pub fn task(self) -> &'static str {
        match self {
            Self::Title => "title_generation",
            Self::Tags => "tags_generation",
            Self::FollowUps => "follow_up_generation",
            Self::Queries => "query_generation",
            Self::Rag => "rag",
            Self::Autocomplete => "autocomplete_generation",
            Self::Moa => "moa_response_generation",
            Self::Tools => "function_calling",
            Self::CodeInterpreter => "code_interpreter",
        }
    }

    /// The pipeline with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|pipeline| pipeline.name() == name)
    }

    /// The default template, used unless an administrator has set one.
    #[must_use]
    pub fn default_template(self) -> String {
        match self {
            Self::Title => texts::for_chat(&[texts::TITLE], 2),
            Self::Tags => texts::for_chat(&[texts::TAGS], 6),
            Self::FollowUps => texts::for_chat(&[texts::FOLLOW_UPS], 5),
            Self::Queries => texts::QUERIES.to_owned(),
            Self::Rag => texts::RAG.to_owned(),
            Self::Autocomplete => texts::AUTOCOMPLETE.to_owned(),
            Self::Moa => texts::MOA.to_owned(),
            Self::Tools => texts::TOOLS.to_owned(),
            Self::CodeInterpreter => texts::CODE_INTERPRETER.to_owned(),
        }
    }

    /// The variables that its template may use in addition to the common ones.
    #[must_use]
    pub fn own_variables(self) -> &'static [Name] {
        match self {
            Self::Rag => &[Name::Context, Name::Query],
            Self::Autocomplete => &[Name::Type],
            Self::Moa => &[Name::Responses],
            Self::Tools | Self::CodeInterpreter => &[Name::Tools],
            Self::Title | Self::Tags | Self::FollowUps | Self::Queries => &[],
        }
    }

    /// Parses a template for it.
    ///
    /// # Errors
    /// With the position and the error, also if the template omits an essential variable.
    pub fn template(self, text: &str) -> Result<Template, TemplateError> {
        let template = Template::parse(text, self.own_variables())?;
        let needs = |name: &str| messages::Pipelines::TemplateNeeds {
            name: name.to_owned(),
        };
        let (has, problem) = match self {
            Self::Title | Self::Tags | Self::FollowUps | Self::Queries | Self::Autocomplete => (
                template.has_conversation(),
                messages::Pipelines::TemplateNeedsConversation,
            ),
            Self::Rag => (template.has(Name::Context), needs("CONTEXT")),
            Self::Moa => (template.has(Name::Responses), needs("responses")),
            Self::Tools => (template.has(Name::Tools), needs("TOOLS")),
            Self::CodeInterpreter => (
                text.contains("<code_interpreter"),
                messages::Pipelines::TemplateNeedsTag,
            ),
        };
        if has {
            return Ok(template);
        }
        Err(TemplateError {
            line: 1,
            column: 1,
            problem,
        })
    }
}

/// The template of a single call for these pipelines of a chat, if they all use the default templates.
#[must_use]
pub fn shared_template(pipelines: &[Pipeline]) -> Option<Template> {
    let part = |pipeline: &Pipeline| match pipeline {
        Pipeline::Title => Some(texts::TITLE),
        Pipeline::Tags => Some(texts::TAGS),
        Pipeline::FollowUps => Some(texts::FOLLOW_UPS),
        _ => None,
    };
    let parts: Option<Vec<_>> = pipelines.iter().map(part).collect();
    Template::parse(&texts::for_chat(&parts?, 6), &[]).ok()
}

/// A chat as a text that ends at the cursor, for autocompletion by text-continuing models, which need no template.
#[must_use]
pub fn text_to_continue(said: &[Said], written: &str) -> String {
    texts::to_continue(said, written)
}

/// The JSON schema of the answer for these pipelines, in the form of `response_format`; `None` for plain text.
#[must_use]
pub fn answer_format(pipelines: &[Pipeline]) -> Option<Value> {
    let list =
        |most: usize| json!({"type": "array", "items": {"type": "string"}, "maxItems": most});
    let mut properties = serde_json::Map::new();
    for pipeline in pipelines {
        let (field, form) = match pipeline {
            Pipeline::Title => ("title", json!({"type": "string"})),
            Pipeline::Tags => ("tags", list(TAGS)),
            Pipeline::FollowUps => ("follow_ups", list(FOLLOW_UPS)),
            Pipeline::Queries => ("queries", list(QUERIES)),
            Pipeline::Autocomplete => ("text", json!({"type": "string"})),
            _ => continue,
        };
        properties.insert(field.to_owned(), form);
    }
    if properties.is_empty() {
        return None;
    }
    let required: Vec<&String> = properties.keys().collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    Some(
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_templates_can_be_used_and_names_lead_back() {
        for pipeline in Pipeline::ALL {
            assert_eq!(Pipeline::of_name(pipeline.name()), Some(pipeline));
            pipeline.template(&pipeline.default_template()).unwrap();
        }
    }

    #[test]
    fn a_template_without_its_required_variable_is_refused() {
        for (pipeline, text) in [
            (Pipeline::Title, "Say a title."),
            (Pipeline::Rag, "{{QUERY}}"),
            (Pipeline::Moa, "{{prompt}}"),
            (Pipeline::Tools, "Call a tool."),
            (Pipeline::CodeInterpreter, "Write Python. {{TOOLS}}"),
            (Pipeline::Title, "{{prompt}} {{responses}}"),
        ] {
            assert!(pipeline.template(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pipelines_in_one_call_share_its_format() {
        let all = [Pipeline::Title, Pipeline::Tags, Pipeline::FollowUps];
        assert!(shared_template(&all).is_some() && shared_template(&[Pipeline::Rag]).is_none());
        assert_eq!(answer_format(&[Pipeline::Moa]), None);
        let format = answer_format(&all).unwrap();
        assert_eq!(
            format["json_schema"]["schema"]["required"],
            json!(["title", "tags", "follow_ups"])
        );
    }
}
