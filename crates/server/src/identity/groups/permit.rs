//! Permission checks. The only place that decides who may use a resource.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use agent::PROGRAM_TOOLS;
use domain::ProblemCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GroupDirectory, Rule};
use crate::{
    error::ApiError,
    identity::auth::Authority,
    messages,
    platform::built_in::{AGENT_PREFIX, TOUR},
};

/// The name of a rule for all resources of its kind that have no rule of their own.
pub(crate) const REST: &str = "*";
/// Separates the name of an MCP server from that of its tool.
const OF_SERVER: &str = "__";

/// Kinds of resources that can be restricted to groups.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "ResourceKind")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A model, by its id.
    Model,
    /// A defined agent, by its name.
    Agent,
    /// A tool, by the name that models call it by.
    Tool,
    /// A workspace, by its name.
    Workspace,
    /// An action of users.
    Right,
}

impl Kind {
    /// The name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Tool => "tool",
            Self::Workspace => "workspace",
            Self::Right => "right",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Model,
            Self::Agent,
            Self::Tool,
            Self::Workspace,
            Self::Right,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }
}

/// An action of users that can be restricted to groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Create API keys, and use them.
    ApiKeys,
    /// Share chats, and collections of documents.
    Sharing,
    /// Have agents run on a schedule.
    Schedules,
    /// Have agents run programs.
    Programs,
}

impl Right {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ApiKeys,
        Self::Sharing,
        Self::Schedules,
        Self::Programs,
    ];

    /// The name in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKeys => "api_keys",
            Self::Sharing => "sharing",
            Self::Schedules => "schedules",
            Self::Programs => "programs",
        }
    }

    fn refusal(self) -> messages::Accounts {
        match self {
            Self::ApiKeys => messages::Accounts::NoRightToKeys,
            Self::Sharing => messages::Accounts::NoRightToShare,
            Self::Schedules => messages::Accounts::NoRightToSchedules,
            Self::Programs => messages::Accounts::NoRightToPrograms,
        }
    }
}

/// A resource whose use can be restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource<'a> {
    /// A model, by its id.
    Model(&'a str),
    /// A defined agent, by its name.
    Agent(&'a str),
    /// A tool, by its name for models.
    Tool(&'a str),
    /// A directory that chats work in, by its name.
    Workspace(&'a str),
    /// An action of users.
    Right(Right),
}

impl<'a> Resource<'a> {
    fn parts(self) -> (Kind, &'a str) {
        match self {
            Self::Model(name) => (Kind::Model, name),
            Self::Agent(name) => (Kind::Agent, name),
            Self::Tool(name) => (Kind::Tool, name),
            Self::Workspace(name) => (Kind::Workspace, name),
            Self::Right(right) => (Kind::Right, right.name()),
        }
    }
}

/// The models and agents that a key is limited to, resolved: an agent implies its own model.
#[derive(Debug)]
pub struct KeyLimit {
    /// The names in the key.
    pub names: HashSet<String>,
    /// The ids of all models that may be called: the named ones, and those of the named agents.
    pub models: HashSet<String>,
}

impl KeyLimit {
    fn allows(&self, thing: Resource<'_>) -> bool {
        match thing {
            Resource::Model(id) => self.models.contains(id),
            Resource::Agent(name) => self.names.contains(&format!("{}{name}", AGENT_PREFIX)),
            Resource::Tool(_) | Resource::Workspace(_) | Resource::Right(_) => true,
        }
    }
}

/// A snapshot of the permissions of one authority.
#[derive(Debug, Clone)]
pub struct Permissions {
    known: Arc<GroupDirectory>,
    authority: Arc<Authority>,
    is_admin: bool,
    key_limit: Option<Arc<KeyLimit>>,
}

impl Permissions {
    pub(crate) fn new(
        known: Arc<GroupDirectory>,
        authority: Arc<Authority>,
        is_admin: bool,
    ) -> Self {
        Self {
            known,
            authority,
            is_admin,
            key_limit: None,
        }
    }

    /// The authority that has these permissions.
    #[must_use]
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// These permissions, with models and agents reduced to the key's limit.
    #[must_use]
    pub fn limited_to(self, key_limit: Option<Arc<KeyLimit>>) -> Self {
        Self { key_limit, ..self }
    }

    /// These permissions without the rules of groups, for what administrators have chosen for all users. The key's
    /// limit still applies.
    #[must_use]
    pub fn regardless_of_groups(self) -> Self {
        Self {
            is_admin: true,
            ..self
        }
    }

    /// Whether a resource may be used. The most specific rule with a decision applies: that of the resource itself, for
    /// a tool that of its MCP server, then that for all of the kind. Without a rule it is allowed. Administrators may
    /// use everything.
    #[must_use]
    pub fn allows(&self, thing: Resource<'_>) -> bool {
        if self
            .key_limit
            .as_ref()
            .is_some_and(|limit| !limit.allows(thing))
        {
            return false;
        }
        if self.is_admin || thing == Resource::Model(TOUR) {
            return true;
        }
        if let Resource::Tool(name) = thing
            && PROGRAM_TOOLS.contains(&name)
            && !self.allows(Resource::Right(Right::Programs))
        {
            return false;
        }
        let (kind, name) = thing.parts();
        let server = match thing {
            Resource::Tool(name) => name
                .split_once(OF_SERVER)
                .map(|(server, _)| tools_of(server)),
            _ => None,
        };
        let names = [
            Some(Cow::Borrowed(name)),
            server.map(Cow::Owned),
            Some(Cow::Borrowed(REST)),
        ];
        let rules = names
            .into_iter()
            .flatten()
            .filter_map(|name| self.known.rule(kind, &name));
        rules
            .filter_map(|rule| self.says(rule))
            .next()
            .unwrap_or(true)
    }

    /// Whether any tool of this MCP server may be used.
    #[must_use]
    pub fn allows_server(&self, server: &str) -> bool {
        if self.allows(Resource::Tool(&tools_of(server))) {
            return true;
        }
        let begin = format!("{server}{OF_SERVER}");
        let rules = self.known.rules.get(&Kind::Tool).into_iter().flatten();
        rules
            .filter(|(name, _)| name.starts_with(&begin))
            .any(|(_, rule)| self.says(rule) == Some(true))
    }

    /// Checks that the user has this right.
    ///
    /// # Errors
    /// 403 with a message.
    pub fn check(&self, right: Right) -> Result<(), ApiError> {
        match self.allows(Resource::Right(right)) {
            true => Ok(()),
            false => Err(ApiError::new(ProblemCode::Forbidden, right.refusal())),
        }
    }

    /// The decision of a rule for this user; `None` if it leaves that to a broader rule.
    fn says(&self, rule: &Rule) -> Option<bool> {
        let own = self.known.of_person(self.authority.principal.account);
        if rule.groups.iter().any(|group| own.contains(group)) {
            Some(true)
        } else {
            rule.everybody
        }
    }
}

/// The rule name for all tools of an MCP server.
pub(crate) fn tools_of(server: &str) -> String {
    format!("{server}{OF_SERVER}{REST}")
}

#[cfg(test)]
mod tests;
