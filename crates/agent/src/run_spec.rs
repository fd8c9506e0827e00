//! The specification of a run: all options of its caller. It is stored with the run, so that any process can continue
//! it.

use std::{sync::Arc, time::Duration};

use domain::{Message, ModelParameters};
use llm::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AgentDefinition, AnswerForm, RunMemories, ToolChoice};

/// The caller's options. A new option is a field here and the code that uses it.
///
/// Stored as JSON. Fields that a stored specification may lack have a default, and fields keep their JSON names: during
/// a rolling update, an older server may continue a run of a newer one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunSpec {
    /// The conversation, ending with the person's message. `None` to use the chat's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Message>>,
    /// The id of its model.
    pub model: String,
    /// The agent as defined when the run began; it may have been changed or deleted since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<AgentDefinition>>,
    /// The parameters of the model's calls that neither the caller nor the agent sets, as of the beginning of the run.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub model_parameters: ModelParameters,
    /// The parameters of the calls of the main agent, and of agents that use its model and set none.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub parameters: ModelParameters,
    /// Additional fields of the requests to the model's server, sent unchanged.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// The JSON format of the answer. Not stored, since a run with one ends with the server.
    #[serde(skip)]
    pub answer_form: Option<Arc<AnswerForm>>,
    /// What runs: an agent or only the model.
    pub worker: Worker,
    /// Tools that the caller supplies and runs itself; a call of one ends the run as handed over.
    #[serde(default)]
    pub client_tools: Vec<ToolSpec>,
    /// Restrictions on the agents' tools; a tool must be allowed by all of them. If empty, there are none.
    #[serde(rename = "narrowed", default, skip_serializing_if = "Vec::is_empty")]
    pub tool_restrictions: Vec<ToolChoice>,
    /// The research or retrieval requested; `None` for neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<ResearchRequest>,
    /// Maximum active time; `None` for the server's limit.
    #[serde(rename = "patience", default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Duration>,
    /// The key of its files. Empty for the chat's, or for its own if it has no chat.
    pub workspace: String,
    /// The name of the directory with its files; `None` if they are virtual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The memories given to its agents at the beginning; `None` if they must not use any.
    #[serde(rename = "told", default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<RunMemories>,
    /// The caller's metadata of the request, for trusted model servers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Whether it ends with the server, because its caller waits on an open connection and cannot reconnect. Such a run
    /// is not stored as resumable.
    #[serde(skip)]
    pub ends_with_server: bool,
}

impl RunSpec {
    /// Parses a stored specification, including those of earlier versions.
    ///
    /// # Errors
    /// If it is not a specification.
    pub fn from_json(json: &str) -> serde_json::Result<Self> {
        /// Fields that have become parameters.
        #[derive(Deserialize)]
        struct Earlier {
            temperature: Option<f64>,
            max_output_tokens: Option<u64>,
        }
        let mut spec: Self = serde_json::from_str(json)?;
        let earlier: Earlier = serde_json::from_str(json)?;
        let model_parameters = &mut spec.model_parameters;
        model_parameters.temperature = model_parameters.temperature.or(earlier.temperature);
        let parameters = &mut spec.parameters;
        parameters.max_output_tokens = parameters.max_output_tokens.or(earlier.max_output_tokens);
        Ok(spec)
    }

    /// Whether it can continue after a server restart.
    #[must_use]
    pub fn outlives_server(&self) -> bool {
        !self.ends_with_server && self.answer_form.is_none()
    }

    /// Whether its agents search the web before they answer.
    #[must_use]
    pub fn searches_web_first(&self) -> bool {
        self.research.is_some_and(|research| {
            matches!(research, ResearchRequest::LookUp { web_search: true })
        })
    }
}

/// What performs a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    /// An agent with its tools and sub-agents.
    #[default]
    Agent,
    /// The model alone, with only what the caller sends.
    Model,
}

/// The kind of research that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResearchRequest {
    /// A report.
    Report {
        /// Whether it is the long form.
        deep: bool,
        /// Whether the person can be asked, and can change the plan.
        #[serde(default)]
        interactive: bool,
    },
    /// Retrieval before the answer.
    LookUp {
        /// Whether to search the web, which is done only on request.
        web_search: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_specification_is_read_back() {
        let spec = RunSpec {
            model: "small".to_owned(),
            worker: Worker::Model,
            workspace: "chat".to_owned(),
            tool_restrictions: vec![ToolChoice::All],
            research: Some(ResearchRequest::Report {
                deep: true,
                interactive: false,
            }),
            time_limit: Some(Duration::from_secs(9)),
            ..RunSpec::default()
        };
        let json = serde_json::to_string(&spec).unwrap();
        let read = RunSpec::from_json(&json).unwrap();
        assert_eq!(format!("{read:?}"), format!("{spec:?}"));
        assert!(read.outlives_server());
    }

    #[test]
    fn rows_of_earlier_versions_open() {
        let first = r#"{"history":[],"model":"m","temperature":0.5,"client_tools":[],"worker":"agent","workspace":"w","max_output_tokens":9,"extra":{}}"#;
        let spec = RunSpec::from_json(first).unwrap();
        assert_eq!(spec.model_parameters.temperature, Some(0.5));
        assert_eq!(spec.parameters.max_output_tokens, Some(9));
        assert_eq!((spec.worker, spec.history.is_some()), (Worker::Agent, true));

        let second = r#"{"model":"m","worker":"model","workspace":"w","model_parameters":{"temperature":1.0},"temperature":0.5,
            "narrowed":[],"patience":{"secs":3,"nanos":0},"told":{"facts":["Lives in Riga."]},"research":{"web_search":true},"a_later_field":1}"#;
        let spec = RunSpec::from_json(second).unwrap();
        assert_eq!(spec.model_parameters.temperature, Some(1.0));
        assert_eq!(spec.time_limit, Some(Duration::from_secs(3)));
        assert_eq!(spec.memories.as_ref().map(|told| told.facts.len()), Some(1));
        assert!(spec.searches_web_first() && spec.history.is_none());
        assert!(RunSpec::from_json("{}").is_err());
    }
}
