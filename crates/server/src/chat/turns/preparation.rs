//! All that a run needs, gathered: its agents with their tools, what is remembered, and what it may use.

use std::{collections::HashMap, sync::Arc};

use agent::{Agents, CallableModel, Journal, RunRequest, Skills, Tool, tour};
use domain::{ChatId, MessageId, RunId, RunTrace};
use store::{Store, StoreError};

use super::{Referred, Work, Worker, looking_up::Looker};
use crate::{
    chat::pipelines::{EffectivePipelines, Pipelines},
    documents::{Documents, Scope},
    gateway::{
        Gateway,
        agents::DefinedAgents,
        caller_info::TurnMetadata,
        models::{Models, ResolvedModel},
        research_wish::ResearchWish,
        usage::{RunQuota, Usage},
    },
    identity::{
        auth::Authority,
        groups::{Groups, Permit, Right, RunPermits, Thing},
    },
    platform::{built_in::TOUR, clock::Clock, config::Config},
    runtime::{commands::Commands, hooks::Hooks, runs::Runs, subagent_resume::earlier_agents},
    tools::{
        mcp_servers::{McpServers, RunIs},
        programs::ProgramsHere,
        skills::SkillsFolder,
        workspaces::ChatFiles,
    },
    web::Web,
};

/// Assembles what a run needs: history, references, tools, permissions and limits.
pub(crate) struct Preparation {
    pub(crate) pipelines: Arc<Pipelines>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) config: Arc<Config>,
    pub(crate) defined_agents: Arc<DefinedAgents>,
    pub(crate) documents: Arc<Documents>,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) groups: Arc<Groups>,
    pub(crate) hooks: Hooks,
    pub(crate) mcp_servers: Arc<McpServers>,
    pub(crate) models: Arc<Models>,
    pub(crate) effective_pipelines: Arc<EffectivePipelines>,
    pub(crate) programs: Arc<ProgramsHere>,
    pub(crate) runs: Runs,
    pub(crate) skills: Arc<SkillsFolder>,
    pub(crate) store: Store,
    pub(crate) usage: Arc<Usage>,
    pub(crate) web: Arc<Web>,
    pub(crate) chat_files: Arc<ChatFiles>,
}

impl std::fmt::Debug for Preparation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preparation").finish_non_exhaustive()
    }
}

impl Preparation {
    /// What the agents of a run with this authority may use, whose files are in this directory.
    pub(crate) fn run_permits(
        &self,
        authority: Authority,
        directory: Option<String>,
    ) -> RunPermits {
        let key_limit = self
            .gateway
            .key_limit(&self.groups.permit_of(authority.clone()));
        RunPermits::new(Arc::clone(&self.groups), authority, key_limit, directory)
    }

    pub(crate) async fn request(
        self: &Arc<Self>,
        Work {
            history,
            model,
            client_tools,
            worker,
            wishes,
            narrowed,
            outlives_server,
            directory,
            told,
            research,
            council,
            patience,
            origin,
            metadata,
            ..
        }: Work,
        workspace: String,
        run: RunId,
        (chat, message): (Option<ChatId>, Option<MessageId>),
    ) -> Result<RunRequest, StoreError> {
        let permits = self.run_permits(model.authority.clone(), directory.clone());
        let principal = model.authority.principal.clone();
        let owner = principal.account;
        let permit = permits.now();
        let referred = self.referred(&principal, &history).await?;
        let (agents, late_tools) = match worker {
            // The tour is the same whoever gives it.
            Worker::Agent if model.model_id == TOUR => (tour::agents(&self.agents), None),
            Worker::Agent => {
                let built_in = self.programs.agents().unwrap_or(&self.agents);
                let of = (&*self.models, &permit);
                let agents = self
                    .defined_agents
                    .join(built_in, model.agent.as_deref(), of);
                let agents = with_skills(agents, &self.skills.read().await);
                let agents = self
                    .with_knowledge(agents, (&model, &permit), &referred)
                    .await?;
                let agents = agents.with_tools(&self.web.tools(&principal));
                (
                    agents,
                    self.mcp_servers
                        .late_tools(&principal, RunIs::New, permit.clone()),
                )
            }
            Worker::Model => (Agents::none(), None),
        };
        let (wish, is_agent) = (research, worker == Worker::Agent && model.model_id != TOUR);
        let research = self.research(&principal, &permit, wish, &referred).await?;
        let (given, look_up) = match &research {
            // It looks in what is pointed to itself.
            Some(_) => (referred.named(&history), None),
            None => {
                let looker = Looker {
                    model: &model,
                    permit: &permit,
                    chat,
                    run,
                    history: &history,
                };
                let queries = match is_agent {
                    true => self.document_queries(&looker, &referred).await?,
                    false => None,
                };
                let (given, left) = self
                    .given((&model, &permit), &history, (&referred, queries.is_some()))
                    .await?;
                let look_up = match is_agent {
                    true => {
                        self.look_up(looker, wish, queries.map(|queries| (left, queries)))
                            .await?
                    }
                    false => None,
                };
                (given, look_up)
            }
        };
        let mut limits = match research {
            Some(_) => self.config.research.within(self.config.limits),
            None => self.config.limits,
        };
        limits.time = patience.map_or(limits.time, |patience| limits.time.min(patience));
        let agents = agents.permitted(|tool| permit.allows(Thing::Tool(tool)));
        let turn = TurnMetadata {
            message,
            history: &history,
            web_search: wish.is_some_and(ResearchWish::looks_at_web),
            code_interpreter: self.programs.here().is_some()
                && permit.allows(Thing::Right(Right::Programs)),
            memory: told.is_some(),
        };
        let caller = self
            .gateway
            .caller_info(&model.authority, chat, turn.added_to(metadata))
            .await?;
        let fallbacks = model.callable_fallbacks();
        let quota = RunQuota::new(Arc::clone(&self.usage), principal.clone(), permits);
        let CallableModel {
            id: model_id,
            model,
            settings,
        } = model.callable();
        let consents = self.commands.consents(&principal, chat).await?;
        let (tool_prompt, code_retries) = self.effective_pipelines.tool_prompt(owner).await?;
        Ok(RunRequest {
            chat,
            message,
            agents,
            deferred_tools: late_tools,
            narrowed,
            client_tools,
            model,
            model_id,
            settings,
            tool_prompt,
            code_retries,
            fallbacks,
            wishes,
            history,
            context_material: given,
            today: is_agent.then(|| self.effective_pipelines.told_now().day()),
            workspace: self
                .chat_files
                .workspace(owner, workspace, directory.as_deref())
                .await?,
            memory: told.map(|told| (self.memory(owner, run, chat), told)),
            limits,
            quota: Some(Arc::new(quota)),
            approval_policy: consents,
            hooks: self.hooks.of_run(run, chat, &principal),
            earlier: Some(earlier_agents(&self.store, &self.runs, chat, run)),
            research,
            look_up,
            council,
            journal: Journal::default(),
            outlives_server,
            trace: RunTrace {
                run,
                origin,
                is_exported: self.config.tracing.is_some(),
            },
            caller,
        })
    }

    /// The agents, each with the tools for the documents that it may search.
    async fn with_knowledge(
        self: &Arc<Self>,
        agents: Agents,
        (model, permit): (&ResolvedModel, &Permit),
        referred: &Referred,
    ) -> Result<Agents, StoreError> {
        let scope = |only| Scope {
            only,
            attached: referred.attached(),
        };
        let usual = self
            .documents
            .knowledge_tools(&model.authority.principal, scope(None))
            .await?;
        let mut narrowed: HashMap<String, Vec<Arc<Tool>>> = HashMap::new();
        for agent in self
            .defined_agents
            .usable(permit)
            .iter()
            .chain(&model.agent)
        {
            if let Some(only) = &agent.collections {
                let tools = self
                    .documents
                    .knowledge_tools(&model.authority.principal, scope(Some(only.clone())))
                    .await?;
                narrowed.insert(agent.name.clone(), tools);
            }
        }
        Ok(agents.with_tools_of_each(|agent| narrowed.get(agent).unwrap_or(&usual)))
    }
}

/// The agents without skills where those cannot be given, which does not happen.
fn with_skills(agents: Agents, skills: &Skills) -> Agents {
    match agents.with_skills(skills) {
        Ok(agents) => agents,
        Err(failure) => {
            tracing::error!(%failure, "agents get no skills");
            agents
        }
    }
}
