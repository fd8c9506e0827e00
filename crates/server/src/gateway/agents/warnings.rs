//! Warnings for an administrator about a valid agent that refers to things that do not exist (at the moment).

use std::sync::Arc;

use agent::{AgentDefinition, Agents, Pattern, Skills, Star};

use super::KnownAgent;
use crate::{
    gateway::{agents::DefinedAgents, models::Models},
    platform::live_config::LiveConfig,
    tools::{mcp_servers::McpServers, programs::ProgramsHere},
};

/// Checks agent definitions against the existing models and tools.
pub(crate) struct AgentChecks {
    pub(crate) agents: Arc<Agents>,
    pub(crate) config: LiveConfig,
    pub(crate) defined_agents: Arc<DefinedAgents>,
    pub(crate) mcp_servers: Arc<McpServers>,
    pub(crate) models: Arc<Models>,
    pub(crate) programs: Arc<ProgramsHere>,
    /// The tools of other services, which runs get if their person may use them.
    pub(crate) service_tools: &'static [&'static str],
}

impl AgentChecks {
    /// The names of all tools that exist now.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let built_in = &self.programs.agents().unwrap_or(&self.agents).main.tools;
        let mut names: Vec<String> = built_in.names().into_iter().map(str::to_owned).collect();
        // The tool exists as soon as there are skills.
        names.push("skill".to_owned());
        names.extend(self.service_tools.iter().map(|&name| name.to_owned()));
        let servers = self.mcp_servers.list().into_iter();
        let connected = servers.filter_map(|server| server.now);
        names.extend(connected.flat_map(|now| now.tools).map(|tool| tool.0));
        names
    }

    /// Warnings about an agent, in sentences. Most may resolve themselves: servers come up, agents are created.
    pub(crate) fn agent_warnings(&self, known: &KnownAgent, there_are: &Skills) -> Vec<String> {
        let AgentDefinition {
            name,
            model,
            tools,
            sub_agents,
            skills,
            limits,
            ..
        } = &*known.definition;
        let mut warnings = Vec::new();
        if known.is_hidden {
            warnings.push(format!(
                "The configuration's file has an agent “{name}” too, which is used instead."
            ));
        }
        if let Some(model) = model
            && self.models.catalogue().model(model).is_none()
        {
            warnings.push(format!(
                "The model “{model}” is not there now. Until it is, the agent cannot be used."
            ));
        }
        let there = self.tool_names();
        let is_there = |tool: &&String| {
            Pattern::try_from((*tool).clone())
                .is_ok_and(|pattern| there.iter().any(|name| pattern.fits(name, Star::Anything)))
        };
        let is_known = |tool: &&String| is_there(tool) || self.mcp_servers.may_be_personal(tool);
        warnings.extend(not_there(
            "tool",
            tools.iter().flatten().filter(|tool| !is_known(tool)),
        ));
        let agents = self.defined_agents.list();
        let is_callable = |name: &&String| {
            self.agents
                .sub_agents
                .iter()
                .any(|agent| agent.name == **name)
                || agents.iter().any(|agent| agent.is_callable(name))
        };
        let missing = sub_agents
            .iter()
            .flatten()
            .filter(|name| !is_callable(name));
        warnings.extend(not_there("agent that may be called", missing));
        let is_known = |name: &&String| there_are.skills.iter().any(|skill| skill.name == **name);
        warnings.extend(not_there(
            "skill",
            skills.iter().flatten().filter(|name| !is_known(name)),
        ));
        let has_task = tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| tool == "task" || tool == "*"));
        if sub_agents.as_ref().is_some_and(|names| !names.is_empty()) && !has_task {
            warnings
                .push("It has sub-agents, but not the tool `task` to hand them work.".to_owned());
        }
        let own = limits.of_agent();
        let server = self.config.now().limits;
        let above = [
            ("steps", own.steps.is_some_and(|steps| steps > server.steps)),
            (
                "tokens",
                own.tokens.is_some_and(|tokens| tokens > server.tokens),
            ),
            (
                "usd",
                own.cost_micro_usd
                    .is_some_and(|cost| cost > server.cost_micro_usd),
            ),
            ("minutes", own.time.is_some_and(|time| time > server.time)),
        ];
        for (limit, _) in above.into_iter().filter(|(_, is_above)| *is_above) {
            warnings.push(format!(
                "Its limit on {limit} is above the server's own, which holds."
            ));
        }
        warnings
    }
}

fn not_there<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let names: Vec<String> = names.map(|name| format!("“{name}”")).collect();
    (!names.is_empty()).then(|| format!("There is no {what} {} now.", names.join(", ")))
}
