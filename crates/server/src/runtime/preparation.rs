//! Prepares a run from its specification: agents with their tools, references, retrieval, limits and dependencies.

mod memory;
mod pre_retrieval;
mod references;
pub(crate) mod request_attachments;
mod research;

use std::{collections::HashMap, sync::Arc};

use agent::{
    Agents, ContextMaterial, DeferredTools, Journal, Limits, LookUp, PreparedRun, RunDeps,
    RunInput, RunSpec, Skills, Tool, Worker, tour,
};
use domain::{ChatId, Message, MessageId, Origin, RunId, RunTrace};
use run_registry::Runs;
use store::{Principal, Store, StoreError};

pub(crate) use references::References;
pub(crate) use research::{DocumentLibrary, Pages};

use super::starting_run::StartingRun;
use crate::{
    documents::{Documents, Scope},
    gateway::{
        Gateway,
        agents::DefinedAgents,
        caller_info::TurnMetadata,
        models::{Models, ResolvedModel},
        usage::{RunQuota, Usage},
    },
    identity::{
        auth::Authority,
        groups::{Groups, Permissions, Resource, Right, RunPermits},
    },
    pipelines::{EffectivePipelines, Pipelines},
    platform::{built_in::TOUR, clock::Clock, live_config::LiveConfig},
    runtime::{commands::Commands, hooks::Hooks, subagent_resume::earlier_agents},
    tools::{
        mcp_servers::{McpServers, RunIs},
        programs::ProgramsHere,
        skills::SkillsFolder,
        workspaces::ChatFiles,
    },
    web::Web,
};

/// The run that is being prepared.
pub(crate) struct RunSubject<'a> {
    pub(crate) run: RunId,
    pub(crate) chat: Option<ChatId>,
    pub(crate) message: Option<MessageId>,
    pub(crate) spec: &'a RunSpec,
    pub(crate) model: &'a ResolvedModel,
    pub(crate) permit: &'a Permissions,
    pub(crate) history: &'a [Message],
}

impl RunSubject<'_> {
    /// The principal that it runs for.
    pub(crate) fn principal(&self) -> &Principal {
        &self.model.authority.principal
    }

    /// Whether an agent works on it: neither a model alone nor the tour, which is the same for all users.
    pub(crate) fn has_agent(&self) -> bool {
        self.spec.worker == Worker::Agent && self.model.model_id != TOUR
    }
}

/// Assembles what a run needs: history, references, tools, permissions and limits.
pub(crate) struct Preparation {
    pub(crate) pipelines: Arc<Pipelines>,
    pub(crate) agents: Arc<Agents>,
    pub(crate) clock: Clock,
    pub(crate) commands: Arc<Commands>,
    pub(crate) config: LiveConfig,
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
    /// What the agents of a run with this authority, and with its files in this directory, may use.
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

    /// Prepares a run in named steps: references, agents, research, retrieval, dependencies, limits.
    ///
    /// # Errors
    /// Database errors.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        start: StartingRun,
        run: RunId,
        message: Option<(ChatId, MessageId)>,
    ) -> Result<PreparedRun, StoreError> {
        let StartingRun {
            mut spec,
            model,
            chat_history,
            origin,
            council,
            ..
        } = start;
        let history = spec.history.take().unwrap_or(chat_history);
        let permits = self.run_permits(model.authority.clone(), spec.directory.clone());
        let subject = RunSubject {
            run,
            chat: message.map(|(chat, _)| chat),
            message: message.map(|(_, message)| message),
            spec: &spec,
            model: &model,
            permit: &permits.now(),
            history: &history,
        };
        let references = self.references(subject.principal(), &history).await?;
        let (agents, deferred_tools) = self.agents(&subject, &references).await?;
        let research = self.research(&subject, &references).await?;
        let (context_material, look_up) = match &research {
            // Research reads its references itself.
            Some(_) => (references.named(&history), None),
            None => self.retrieval(&subject, &references).await?,
        };
        let deps = self.deps(&subject, permits, origin).await?;
        let input = RunInput {
            chat: subject.chat,
            message: subject.message,
            agents,
            deferred_tools,
            context_material,
            limits: self.limits(&spec, research.is_some()),
            research,
            look_up,
            council,
            journal: Journal::default(),
            history,
        };
        Ok(PreparedRun { spec, deps, input })
    }

    /// The agents with the tools that they may use, and the tools of other servers that are added later.
    async fn agents(
        self: &Arc<Self>,
        run: &RunSubject<'_>,
        references: &References,
    ) -> Result<(Agents, Option<DeferredTools>), StoreError> {
        let principal = run.principal();
        let (agents, deferred_tools) = if run.spec.worker == Worker::Model {
            (Agents::none(), None)
        } else if !run.has_agent() {
            (tour::agents(&self.agents), None)
        } else {
            let with_programs = self.programs.agents();
            let built_in = with_programs.as_deref().unwrap_or(&self.agents);
            let main = run.model.agent.as_deref();
            let agents = self
                .defined_agents
                .join(built_in, main, &self.models, run.permit);
            let agents = with_skills(agents, &self.skills.read().await);
            let agents = self.with_knowledge(agents, run, references).await?;
            let agents = agents.with_tools(&self.web.tools(principal));
            let deferred_tools =
                self.mcp_servers
                    .late_tools(principal, RunIs::New, run.permit.clone());
            (agents, deferred_tools)
        };
        let agents = agents.permitted(|tool| run.permit.allows(Resource::Tool(tool)));
        Ok((agents, deferred_tools))
    }

    /// The material of the references, and the retrieval before the answer.
    async fn retrieval(
        self: &Arc<Self>,
        run: &RunSubject<'_>,
        references: &References,
    ) -> Result<(ContextMaterial, Option<LookUp>), StoreError> {
        if !run.has_agent() {
            let (material, _) = self.context_material(run, references, false).await?;
            return Ok((material, None));
        }
        let queries = self.document_queries(run, references).await?;
        let (material, left) = self
            .context_material(run, references, queries.is_some())
            .await?;
        let searched = queries.map(|queries| (left, queries));
        let look_up = self.look_up(run, searched).await?;
        Ok((material, look_up))
    }

    /// What this process supplies to the run.
    async fn deps(
        &self,
        run: &RunSubject<'_>,
        permits: RunPermits,
        origin: Origin,
    ) -> Result<RunDeps, StoreError> {
        let RunSubject { spec, model, .. } = *run;
        let principal = run.principal();
        let owner = principal.account;
        let (tool_prompt, code_retries) = self.effective_pipelines.tool_prompt(owner).await?;
        let turn = TurnMetadata {
            message: run.message,
            history: run.history,
            web_search: spec.searches_web_first(),
            code_interpreter: self.programs.here().is_some()
                && run.permit.allows(Resource::Right(Right::Programs)),
            memory: spec.memories.is_some(),
        };
        let caller = self
            .gateway
            .caller_info(
                &model.authority,
                run.chat,
                turn.added_to(spec.metadata.clone()),
            )
            .await?;
        let quota = RunQuota::new(Arc::clone(&self.usage), principal.clone(), permits);
        let memory = spec
            .memories
            .as_ref()
            .map(|_| self.memory(owner, run.run, run.chat));
        Ok(RunDeps {
            models: Arc::new(agent::Models::new(
                model.callable(),
                model.callable_fallbacks(),
            )),
            tool_prompt,
            code_retries,
            workspace: self
                .chat_files
                .workspace(owner, spec.workspace.clone(), spec.directory.as_deref())
                .await?,
            memory,
            today: run
                .has_agent()
                .then(|| self.effective_pipelines.time_variables().day()),
            quota: Some(Arc::new(quota)),
            approval_policy: self.commands.consents(principal, run.chat).await?,
            hooks: self.hooks.of_run(run.run, run.chat, principal),
            earlier: Some(earlier_agents(&self.store, &self.runs, run.chat, run.run)),
            trace: RunTrace {
                run: run.run,
                origin,
                is_exported: self.config.now().tracing.is_some(),
            },
            caller,
        })
    }

    fn limits(&self, spec: &RunSpec, is_research: bool) -> Limits {
        let config = self.config.now();
        let mut limits = match is_research {
            true => config.research.within(config.limits),
            false => config.limits,
        };
        if let Some(limit) = spec.time_limit {
            limits.time = limits.time.min(limit);
        }
        limits
    }

    /// The agents, each with the tools for the documents that it may search.
    async fn with_knowledge(
        self: &Arc<Self>,
        agents: Agents,
        run: &RunSubject<'_>,
        references: &References,
    ) -> Result<Agents, StoreError> {
        let scope = |only| Scope {
            only,
            attached: references.attached(),
        };
        let usual = self
            .documents
            .knowledge_tools(run.principal(), scope(None))
            .await?;
        let mut narrowed: HashMap<String, Vec<Arc<Tool>>> = HashMap::new();
        for agent in self
            .defined_agents
            .usable(run.permit)
            .iter()
            .chain(&run.model.agent)
        {
            if let Some(only) = &agent.collections {
                let tools = self
                    .documents
                    .knowledge_tools(run.principal(), scope(Some(only.clone())))
                    .await?;
                narrowed.insert(agent.name.clone(), tools);
            }
        }
        Ok(agents.with_tools_of_each(|agent| narrowed.get(agent).unwrap_or(&usual)))
    }
}

/// The agents with these skills, or without any if adding them fails, which does not happen.
fn with_skills(agents: Agents, skills: &Skills) -> Agents {
    match agents.with_skills(skills) {
        Ok(agents) => agents,
        Err(failure) => {
            tracing::error!(%failure, "failed to add skills to the agents");
            agents
        }
    }
}
