//! How much may be used: what administrators have set, and which of it holds for whom.

use std::collections::HashMap;

use domain::{ApiKeyId, GroupId, UserId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Principal, Store, StoreError, UsageOf};

use crate::{error::ApiError, messages};

/// The names of the settings begin with it.
const PREFIX: &str = "limits:";
/// A larger figure is a slip.
const MOST: u64 = 1_000_000_000_000;

/// How much may be used in each of these times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// By the clock, from second 0 to 59.
    pub minute: Most,
    /// UTC.
    pub day: Most,
    /// UTC.
    pub month: Most,
}

/// How much may be used; `null` for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Limit")]
#[serde(default, deny_unknown_fields)]
pub struct Most {
    /// Model calls.
    pub requests: Option<u64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// US dollars, where prices are known.
    pub usd: Option<f64>,
}

/// Who has limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitsOf {
    /// Every account that has none of its own.
    Default,
    /// An account.
    User(UserId),
    /// Each account in a group that has none of its own.
    Group(GroupId),
    /// All in a group together.
    GroupTotal(GroupId),
    /// A key.
    Key(ApiKeyId),
    /// Each person of a front end, by its key.
    People(ApiKeyId),
}

/// Whose usage is held against limits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An account's.
    User(UserId),
    /// That of all who are in a group now.
    Group(GroupId),
    /// A key's.
    Key(ApiKeyId),
    /// That of a person of the key's front end.
    Person(ApiKeyId, String),
}

/// All limits there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LimitRules {
    /// Of accounts without their own.
    pub default: Limits,
    /// Of accounts.
    pub users: HashMap<UserId, Limits>,
    /// Of each account in a group that has none of its own.
    pub groups: HashMap<GroupId, Limits>,
    /// Of all in a group together.
    pub group_totals: HashMap<GroupId, Limits>,
    /// Of keys.
    pub keys: HashMap<ApiKeyId, Limits>,
    /// Of each person of the keys' front ends.
    pub people: HashMap<ApiKeyId, Limits>,
}

impl Limits {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses figures that mean nothing.
    ///
    /// # Errors
    /// 400 that says which.
    pub fn checked(self) -> Result<Self, ApiError> {
        for most in [self.minute, self.day, self.month] {
            let too_large = [most.requests, most.tokens]
                .into_iter()
                .flatten()
                .any(|figure| figure > MOST);
            let bad_usd = most.usd.is_some_and(|usd| !(0.0..=1e9).contains(&usd));
            if too_large || bad_usd {
                return Err(ApiError::invalid(messages::Accounts::BadLimit));
            }
        }
        Ok(self)
    }

    /// Of several that limit the same, the most generous counts; what only one of them limits is limited.
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
        // Its figures are finite.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl LimitsOf {
    /// The name of the setting.
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

impl Subject {
    /// All whose limits a call counts against.
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
    pub(super) async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut rules = Self::default();
        for (name, value) in store.settings(PREFIX).await? {
            // What a later version wrote is better left out than fatal.
            let Ok(limits) = serde_json::from_value::<Limits>(value) else {
                tracing::error!(name, "limits cannot be read and are left out");
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

    /// The limits that hold for a call, each with whose usage is held against it; all of them have to be kept. The one
    /// place that decides this: an account's own limits stand before those of the groups it is in, and these before the
    /// default ones; what a group may use together, a key or a person comes on top.
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
