//! The specification of a run: everything its caller asks for. It is stored with the run, so that any process can continue it.

use std::{sync::Arc, time::Duration};

use domain::{Message, ModelParameters};
use llm::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AgentDefinition, AnswerForm, Told, ToolChoice};

/// What a caller asks for. A new option is a field here and the place that uses it.
///
/// Stored as JSON. Every field that a stored specification may lack has a default, and a field keeps its JSON name: while
/// servers are updated one after the other, an older one may continue a run of a newer one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunSpec {
    /// The conversation, ending with the person's message. `None` if it is what the chat holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<Vec<Message>>,
    /// The id of its model.
    pub model: String,
    /// The agent as it was defined when the run began: it may have been changed or deleted since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<AgentDefinition>>,
    /// The parameters of the model's calls that neither caller nor agent sets, as they were when the run began.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub model_parameters: ModelParameters,
    /// The parameters of the main agent's calls, and of those of agents that use its model and set none.
    #[serde(default, skip_serializing_if = "ModelParameters::is_unset")]
    pub parameters: ModelParameters,
    /// Additional fields of the requests to the model's server, sent unchanged.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// The JSON format of the answer. Not stored: a run with one ends with the server.
    #[serde(skip)]
    pub answer_form: Option<Arc<AnswerForm>>,
    /// Who works on it.
    pub worker: Worker,
    /// Tools that the caller brings and runs itself: a call of one ends the run as handed over.
    #[serde(default)]
    pub client_tools: Vec<ToolSpec>,
    /// Restrictions on the agents' tools, all of which have to allow a tool. If empty, they may use what they have.
    #[serde(rename = "narrowed", default, skip_serializing_if = "Vec::is_empty")]
    pub tool_restrictions: Vec<ToolChoice>,
    /// The research; `None` for a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<ResearchRequest>,
    /// The longest active time; `None` for the server's own limit.
    #[serde(rename = "patience", default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Duration>,
    /// The key of its files. Empty for the chat's, or without a chat its own.
    pub workspace: String,
    /// The directory of its files, by name; `None` if they are virtual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The memories that its agents were given at the beginning; `None` if they must not use any.
    #[serde(rename = "told", default, skip_serializing_if = "Option::is_none")]
    pub memories: Option<Told>,
    /// The caller's metadata of the request, for trusted model servers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Whether it ends with the server, because its caller waits on an open connection and cannot come back. Such a run is
    /// not stored as one that can continue.
    #[serde(skip)]
    pub ends_with_server: bool,
}

impl RunSpec {
    /// Reads a stored specification, also that of an earlier version.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_json(json: &str) -> serde_json::Result<Self> {
        /// Fields that became parameters.
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

    /// Whether it can continue after a restart of the server.
    #[must_use]
    pub fn outlives_server(&self) -> bool {
        !self.ends_with_server && self.answer_form.is_none()
    }

    /// Whether its agents look at the web before they answer.
    #[must_use]
    pub fn searches_web_first(&self) -> bool {
        self.research.is_some_and(|research| {
            matches!(research, ResearchRequest::LookUp { web_search: true })
        })
    }
}

/// Who works on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Worker {
    /// An agent with its tools and sub-agents.
    #[default]
    Agent,
    /// The model alone, with nothing but what the caller sends.
    Model,
}

/// The research that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResearchRequest {
    /// A report.
    Report {
        /// The long one.
        deep: bool,
        /// Whether the person can be asked, and can change the plan.
        #[serde(default)]
        interactive: bool,
    },
    /// Retrieval before the answer.
    LookUp {
        /// From the web, which is searched on request only.
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
