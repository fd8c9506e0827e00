//! Warnings for an administrator about a valid agent that refers to things that do not exist (at the moment).

use std::sync::Arc;

use agent::{AgentDefinition, AgentLimits, Agents, Pattern, Skills, Star};
use domain::LocalizedText;

use super::KnownAgent;
use crate::{
    gateway::{agents::DefinedAgents, models::Models},
    messages::Settings,
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
        let with_programs = self.programs.agents();
        let built_in = &with_programs.as_deref().unwrap_or(&self.agents).main.tools;
        let mut names: Vec<String> = built_in.names().into_iter().map(str::to_owned).collect();
        // The tool exists as soon as there are skills.
        names.push("skill".to_owned());
        names.extend(self.service_tools.iter().map(|&name| name.to_owned()));
        let servers = self.mcp_servers.list().into_iter();
        let connected = servers.filter_map(|server| server.now);
        names.extend(connected.flat_map(|now| now.tools).map(|tool| tool.0));
        names
    }

    /// Warnings about an agent. Most may resolve themselves: servers come up, agents are created.
    pub(crate) fn agent_warnings(
        &self,
        known: &KnownAgent,
        there_are: &Skills,
    ) -> Vec<LocalizedText> {
        let AgentDefinition {
            name,
            model,
            tools,
            sub_agents,
            skills,
            limits,
            ..
        } = &*known.definition;
        let mut warnings: Vec<Settings> = Vec::new();
        if known.is_hidden {
            warnings.push(Settings::AgentOverriddenByFile { name: name.clone() });
        }
        if let Some(model) = model
            && self.models.catalogue().model(model).is_none()
        {
            warnings.push(Settings::AgentModelMissing {
                model: model.clone(),
            });
        }
        let there = self.tool_names();
        let is_there = |tool: &&String| {
            Pattern::try_from((*tool).clone())
                .is_ok_and(|pattern| there.iter().any(|name| pattern.fits(name, Star::Anything)))
        };
        let is_known = |tool: &&String| is_there(tool) || self.mcp_servers.may_be_personal(tool);
        let missing = tools.iter().flatten().filter(|tool| !is_known(tool));
        warnings.extend(listed(missing).map(|names| Settings::AgentToolsMissing { names }));
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
        warnings.extend(listed(missing).map(|names| Settings::SubAgentsMissing { names }));
        let is_known = |name: &&String| there_are.skills.iter().any(|skill| skill.name == **name);
        let missing = skills.iter().flatten().filter(|name| !is_known(name));
        warnings.extend(listed(missing).map(|names| Settings::SkillsMissing { names }));
        let has_task = tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| tool == "task" || tool == "*"));
        if sub_agents.as_ref().is_some_and(|names| !names.is_empty()) && !has_task {
            warnings.push(Settings::AgentCannotDelegate);
        }
        let limits = self.limits_above(&limits.of_agent()).into_iter();
        warnings.extend(limits.map(|limit| Settings::AgentLimitAboveServer {
            limit: limit.to_owned(),
        }));
        warnings.into_iter().map(LocalizedText::from).collect()
    }

    /// The limits of an agent that are above the server's.
    fn limits_above(&self, own: &AgentLimits) -> Vec<&'static str> {
        let server = self.config.now().limits;
        let cost = own.cost_micro_usd;
        let above = [
            ("steps", own.steps.is_some_and(|it| it > server.steps)),
            ("tokens", own.tokens.is_some_and(|it| it > server.tokens)),
            ("usd", cost.is_some_and(|it| it > server.cost_micro_usd)),
            ("minutes", own.time.is_some_and(|it| it > server.time)),
        ];
        let above = above.into_iter().filter(|(_, is_above)| *is_above);
        above.map(|(limit, _)| limit).collect()
    }
}

/// The names in quotes; `None` if there are none.
fn listed<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let names: Vec<String> = names.map(|name| format!("“{name}”")).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
