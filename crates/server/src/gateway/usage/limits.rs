//! Usage limits that administrators set, and which of them apply to a call.

use std::{collections::HashMap, fmt};

use domain::{ApiKeyId, GroupId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Principal, Store, StoreError, UsageOf};

use crate::{error::ApiError, messages};

/// The prefix of the settings' names.
const PREFIX: &str = "limits:";
/// The maximum of a limit; a larger number is a typo.
const MAX_LIMIT: u64 = 1_000_000_000_000;

/// Usage limits per time window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Per minute of the clock, from second 0 to 59.
    pub minute: Most,
    /// Per day, in UTC.
    pub day: Most,
    /// Per calendar month, in UTC.
    pub month: Most,
}

/// Limits on usage; `null` for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Limit")]
#[serde(default, deny_unknown_fields)]
pub struct Most {
    /// Model calls.
    pub requests: Option<u64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// US dollars, for models with known prices.
    pub usd: Option<f64>,
}

/// The owner of a set of limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitsOf {
    /// Every account without limits of its own.
    Default,
    /// An account.
    User(UserId),
    /// Each account in a group, unless it has limits of its own.
    Group(GroupId),
    /// All accounts in a group together.
    GroupTotal(GroupId),
    /// A key.
    Key(ApiKeyId),
    /// Each person of a front end, identified by the front end's key.
    People(ApiKeyId),
}

/// The subject whose usage is compared with limits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An account.
    User(UserId),
    /// All current members of a group together.
    Group(GroupId),
    /// A key.
    Key(ApiKeyId),
    /// A person of the front end that uses this key.
    Person(ApiKeyId, String),
}

/// All configured limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitRules {
    /// For accounts without limits of their own.
    pub default: Limits,
    /// For single accounts.
    pub users: HashMap<UserId, Limits>,
    /// For each account in a group, unless it has limits of its own.
    pub groups: HashMap<GroupId, Limits>,
    /// For all accounts in a group together.
    pub group_totals: HashMap<GroupId, Limits>,
    /// For keys.
    pub keys: HashMap<ApiKeyId, Limits>,
    /// For each person of the front ends that use these keys.
    pub people: HashMap<ApiKeyId, Limits>,
}

impl Limits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Rejects invalid numbers.
    ///
    /// # Errors
    /// 400 if a number is out of range.
    pub fn checked(self) -> Result<Self, ApiError> {
        for most in [self.minute, self.day, self.month] {
            let too_large = [most.requests, most.tokens]
                .into_iter()
                .flatten()
                .any(|figure| figure > MAX_LIMIT);
            let bad_usd = most.usd.is_some_and(|usd| !(0.0..=1e9).contains(&usd));
            if too_large || bad_usd {
                return Err(ApiError::invalid(messages::Accounts::BadLimit));
            }
        }
        Ok(self)
    }

    /// For each limit the more generous of two; a limit that only one of them sets still applies.
    fn most_generous(self, other: Self) -> Self {
        let wider = |a: Most, b: Most| Most {
            requests: a.requests.max(b.requests),
            tokens: a.tokens.max(b.tokens),
            usd: match (a.usd, b.usd) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
        };
        Self {
            minute: wider(self.minute, other.minute),
            day: wider(self.day, other.day),
            month: wider(self.month, other.month),
        }
    }

    pub(super) fn to_value(self) -> Value {
        // Serialization cannot fail, as all numbers are finite.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl LimitsOf {
    /// The name of the setting that stores these limits.
    pub(super) fn setting(&self) -> String {
        match self {
            Self::Default => format!("{PREFIX}default"),
            Self::User(user) => format!("{PREFIX}user:{user}"),
            Self::Group(group) => format!("{PREFIX}group:{group}"),
            Self::GroupTotal(group) => format!("{PREFIX}group_total:{group}"),
            Self::Key(key) => format!("{PREFIX}key:{key}"),
            Self::People(key) => format!("{PREFIX}people:{key}"),
        }
    }
}

/// The name in the database.
impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => write!(formatter, "user {user}"),
            Self::Group(group) => write!(formatter, "group {group}"),
            Self::Key(key) => write!(formatter, "key {key}"),
            Self::Person(key, person) => write!(formatter, "person {key} {person}"),
        }
    }
}

impl Subject {
    /// All subjects whose limits a call counts against.
    pub(super) fn all_of(principal: &Principal, groups: &[GroupId]) -> impl Iterator<Item = Self> {
        let key = principal.key.map(Self::Key);
        let person = principal
            .key
            .zip(principal.person.clone())
            .map(|(key, person)| Self::Person(key, person));
        let own = [Some(Self::User(principal.account)), key, person]
            .into_iter()
            .flatten();
        own.chain(groups.iter().copied().map(Self::Group))
    }

    pub(super) fn usage_of(&self) -> UsageOf {
        match self {
            Self::User(user) => UsageOf::User(*user),
            Self::Group(group) => UsageOf::Group(*group),
            Self::Key(key) => UsageOf::Key(*key),
            Self::Person(key, person) => UsageOf::Person(*key, person.clone()),
        }
    }
}

impl LimitRules {
    /// Whether any limit is per minute.
    pub(super) fn have_minutes(&self) -> bool {
        [&self.default]
            .into_iter()
            .chain(self.users.values())
            .chain(self.groups.values())
            .chain(self.group_totals.values())
            .chain(self.keys.values())
            .chain(self.people.values())
            .any(|limits| limits.minute != Most::default())
    }

    pub(super) async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut rules = Self::default();
        for (name, value) in store.settings(PREFIX).await? {
            // Limits that a later version wrote are skipped, not fatal.
            let Ok(limits) = serde_json::from_value::<Limits>(value) else {
                tracing::error!(name, "skipping unreadable limits");
                continue;
            };
            let of = &name[PREFIX.len()..];
            match of.split_once(':') {
                None if of == "default" => rules.default = limits,
                Some(("user", id)) => _ = id.parse().map(|id| rules.users.insert(id, limits)),
                Some(("group", id)) => _ = id.parse().map(|id| rules.groups.insert(id, limits)),
                Some(("group_total", id)) => {
                    _ = id.parse().map(|id| rules.group_totals.insert(id, limits))
                }
                Some(("key", id)) => _ = id.parse().map(|id| rules.keys.insert(id, limits)),
                Some(("people", id)) => _ = id.parse().map(|id| rules.people.insert(id, limits)),
                _ => {}
            }
        }
        rules.users.retain(|_, limits| !limits.is_none());
        rules.groups.retain(|_, limits| !limits.is_none());
        rules.group_totals.retain(|_, limits| !limits.is_none());
        rules.keys.retain(|_, limits| !limits.is_none());
        rules.people.retain(|_, limits| !limits.is_none());
        Ok(rules)
    }

    /// The limits that apply to a call, each with the subject whose usage counts; all of them must hold. This is the
    /// only place that decides: an account's own limits override those of its groups, which override the defaults;
    /// group totals and the limits of keys and people apply in addition.
    #[must_use]
    pub fn apply_to(&self, principal: &Principal, groups: &[GroupId]) -> Vec<(Subject, Limits)> {
        let of_groups = || {
            let limits = groups
                .iter()
                .filter_map(|group| self.groups.get(group))
                .copied();
            limits.reduce(Limits::most_generous).unwrap_or(self.default)
        };
        let limits_of = |subject: &Subject| match subject {
            Subject::User(user) => self.users.get(user).copied().unwrap_or_else(of_groups),
            Subject::Group(group) => self.group_totals.get(group).copied().unwrap_or_default(),
            Subject::Key(key) => self.keys.get(key).copied().unwrap_or_default(),
            Subject::Person(key, _) => self.people.get(key).copied().unwrap_or_default(),
        };
        let all = Subject::all_of(principal, groups).map(|subject| {
            let limits = limits_of(&subject);
            (subject, limits)
        });
        all.filter(|(_, limits)| !limits.is_none()).collect()
    }
}
