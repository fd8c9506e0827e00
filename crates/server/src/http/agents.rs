//! Lists the agents of the configuration file, and manages those that administrators define in the web app.

use std::sync::Arc;

use agent::{AgentDefinition, Skill, Skills};
use axum::{extract::State, http::StatusCode};
use domain::LocalizedText;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App,
    error::ApiError,
    gateway::agents::{DefinedAgents, KnownAgent},
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::audit::Noted,
    messages,
};

/// The agents that are defined, and what can be assigned to them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentList {
    agents: Vec<AgentView>,
    /// The names of all available tools.
    tools: Vec<String>,
    /// Where skills are read from.
    skills_folder: String,
    skills: Vec<SkillView>,
    /// Folders there that are not valid skills.
    broken_skills: Vec<BrokenSkill>,
}

/// A skill.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Skill")]
struct SkillView {
    name: String,
    description: String,
    /// How many files it has.
    files: usize,
}

/// A folder that is not a valid skill.
#[derive(Debug, Serialize, JsonSchema)]
struct BrokenSkill {
    name: String,
    problem: LocalizedText,
}

/// An agent that is defined.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DefinedAgent")]
pub(super) struct AgentView {
    #[serde(flatten)]
    definition: AgentDefinition,
    /// Whether it is in the configuration file.
    from_file: bool,
    /// Warnings for administrators.
    warnings: Vec<LocalizedText>,
}

fn view(app: &App, known: &KnownAgent, skills: &Skills) -> AgentView {
    let definition = AgentDefinition::clone(&known.definition);
    AgentView {
        warnings: app.agent_checks.agent_warnings(known, skills),
        from_file: known.from_file,
        definition,
    }
}

/// `GET /api/v1/agents`: lists all agents, those of the file first, and the tools and skills that can be assigned.
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<AgentList> {
    let known = app.skills.read().await;
    let agents = app
        .defined_agents
        .list()
        .iter()
        .map(|agent| view(&app, agent, &known))
        .collect();
    let skill = |skill: &Arc<Skill>| SkillView {
        name: skill.name.clone(),
        description: skill.description.clone(),
        files: skill.files.len(),
    };
    let skills = known.skills.iter().map(skill).collect();
    let broken = |(name, problem): (String, LocalizedText)| BrokenSkill { name, problem };
    let broken_skills = known.problems.into_iter().map(broken).collect();
    let skills_folder = app.config.now().skills_folder.display().to_string();
    Json(AgentList {
        agents,
        tools: app.agent_checks.tool_names(),
        skills_folder,
        skills,
        broken_skills,
    })
}

/// `POST /api/v1/agents`: creates an agent.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    noted: Noted,
    Json(definition): Json<AgentDefinition>,
) -> Result<Json<AgentView>, ApiError> {
    noted.about(&definition.name, "");
    let known = app.defined_agents.create(definition, &app.clock).await?;
    Ok(Json(view(&app, &known, &app.skills.read().await)))
}

/// `PUT /api/v1/agents/{agent}`: replaces the whole definition.
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Json(definition): Json<AgentDefinition>,
) -> Result<Json<AgentView>, ApiError> {
    if definition.name != name {
        return Err(ApiError::invalid(messages::Settings::AgentRenamed));
    }
    let known = app.defined_agents.replace(definition).await?;
    Ok(Json(view(&app, &known, &app.skills.read().await)))
}

/// `DELETE /api/v1/agents/{agent}`: deletes an agent. Chats that used it continue with another.
pub(super) async fn delete(
    State(defined_agents): State<Arc<DefinedAgents>>,
    Path(name): Path<String>,
) -> Result<StatusCode, ApiError> {
    defined_agents.delete(&name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/agents", list, "Lists the [agents](docs/agents/agents.md) that are defined, and what can be assigned to them");
    api.handler("POST /api/v1/agents", create, "Defines an agent")
        .details("400 with the field, 409 if the name is taken.")
        .errors(&[409]);
    api.handler(
        "PUT /api/v1/agents/{agent}",
        replace,
        "Replaces the definition of an agent; it is complete and has the same name",
    )
    .details("409 if it is in the configuration file.")
    .errors(&[409]);
    api.handler("DELETE /api/v1/agents/{agent}", delete, "Deletes an agent")
        .details("409 if it is in the configuration file.")
        .errors(&[409]);
}
