//! User groups and resource permissions: cached in memory, so that checks need no query, and reloaded after every
//! change.

mod permit;
mod run_permits;

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use domain::{GroupId, UserId};
use store::{AllGroups, Group, PermissionRow, Store, StoreError};

use crate::identity::auth::Authority;

pub use permit::{KeyLimit, Kind, Permissions, Resource, Right};
pub(crate) use permit::{REST, tools_of};
pub use run_permits::RunPermits;

/// The cached groups and permissions of this server.
pub struct Groups {
    store: Store,
    known: RwLock<Arc<GroupDirectory>>,
    /// Held during a reload, so that an older state never replaces a newer one.
    looking: tokio::sync::Mutex<()>,
    /// The last groups that a proxy reported per user: a hash of them, and the version of the directory at that time.
    said: Mutex<HashMap<UserId, (u64, i64)>>,
}

/// A snapshot of all groups and permissions.
#[derive(Debug, Default)]
pub struct GroupDirectory {
    /// The version, increased by every change.
    pub number: i64,
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// The groups of each user who is in one, unordered.
    members: HashMap<UserId, Vec<GroupId>>,
    /// The administrators, who may use everything.
    admins: HashSet<UserId>,
    rules: HashMap<Kind, HashMap<String, Rule>>,
}

/// Who may use a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// `None` leaves the decision to a broader rule.
    everybody: Option<bool>,
    groups: Vec<GroupId>,
}

impl Groups {
    /// Loads the stored groups.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let groups = Self {
            store,
            known: RwLock::default(),
            looking: tokio::sync::Mutex::default(),
            said: Mutex::default(),
        };
        groups.look().await?;
        Ok(groups)
    }

    /// The current snapshot.
    #[must_use]
    pub fn known(&self) -> Arc<GroupDirectory> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reloads changes made here or by another server.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn look(&self) -> Result<(), StoreError> {
        let _looking = self.looking.lock().await;
        let admins: HashSet<UserId> = self.store.administrators().await?.into_iter().collect();
        let known = self.known();
        if known.number == self.store.group_changes().await? && known.admins == admins {
            return Ok(());
        }
        let new = GroupDirectory::of(self.store.all_groups().await?, admins);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        Ok(())
    }

    /// Synchronizes a user's memberships with the groups of an external system: adds them to linked groups in the list,
    /// and removes them from other linked groups. A repeated call costs nothing unless a group has changed.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn follow(&self, person: UserId, theirs: &[String]) -> Result<(), StoreError> {
        let mut hasher = DefaultHasher::new();
        theirs.hash(&mut hasher);
        let said = hasher.finish();
        let known = |number| (said, number);
        let before = self
            .said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&person)
            .copied();
        if before == Some(known(self.known().number)) {
            return Ok(());
        }
        if self.store.sync_provider_groups(person, theirs).await? {
            self.look().await?;
        }
        let now = known(self.known().number);
        self.said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(person, now);
        Ok(())
    }

    /// The permissions of this authority according to its groups, as an administrator or not.
    #[must_use]
    pub fn permit(&self, authority: Authority, is_admin: bool) -> Permissions {
        Permissions::new(self.known(), Arc::new(authority), is_admin)
    }

    /// The permissions of this authority, as an administrator if the account is one. People of a front end never have
    /// administrators' permissions, even if the front end's key belongs to an administrator.
    #[must_use]
    pub fn permit_of(&self, authority: impl Into<Arc<Authority>>) -> Permissions {
        let authority = authority.into();
        let known = self.known();
        let principal = &authority.principal;
        let is_admin =
            !principal.is_front_end_person() && known.admins.contains(&principal.account);
        Permissions::new(known, authority, is_admin)
    }
}

impl GroupDirectory {
    fn of(all: AllGroups, admins: HashSet<UserId>) -> Self {
        let AllGroups {
            number,
            groups,
            members: rows,
            permissions,
        } = all;
        let mut members: HashMap<UserId, Vec<GroupId>> = HashMap::new();
        for (member, group) in rows {
            members.entry(member).or_default().push(group);
        }
        let mut rules: HashMap<Kind, HashMap<String, Rule>> = HashMap::new();
        for PermissionRow {
            kind,
            name,
            everybody,
            groups,
        } in permissions
        {
            // Kinds from a later version are ignored.
            let Some(kind) = Kind::named(&kind) else {
                continue;
            };
            rules
                .entry(kind)
                .or_default()
                .insert(name, Rule { everybody, groups });
        }
        Self {
            number,
            groups,
            members,
            admins,
            rules,
        }
    }

    /// The groups of a user.
    #[must_use]
    pub fn of_person(&self, user: UserId) -> &[GroupId] {
        self.members.get(&user).map_or(&[], Vec::as_slice)
    }

    /// The names of a user's groups.
    #[must_use]
    pub fn names_of(&self, user: UserId) -> Vec<String> {
        self.named(self.of_person(user))
    }

    /// The names of these groups, in order.
    #[must_use]
    pub fn named(&self, ids: &[GroupId]) -> Vec<String> {
        let groups = self.groups.iter().filter(|group| ids.contains(&group.id));
        groups.map(|group| group.name.clone()).collect()
    }

    /// The number of members of each group.
    #[must_use]
    pub fn sizes(&self) -> HashMap<GroupId, u64> {
        let mut sizes = HashMap::new();
        self.members
            .values()
            .flatten()
            .for_each(|group| *sizes.entry(*group).or_default() += 1);
        sizes
    }

    /// All stored rules, sorted by kind and name.
    #[must_use]
    pub fn permissions(&self) -> Vec<(Kind, &str, Option<bool>, &[GroupId])> {
        let rules = self
            .rules
            .iter()
            .flat_map(|(kind, rules)| rules.iter().map(move |rule| (*kind, rule)));
        let mut all: Vec<_> = rules
            .map(|(kind, (name, rule))| (kind, name.as_str(), rule.everybody, &*rule.groups))
            .collect();
        all.sort_by_key(|(kind, name, ..)| (*kind, *name));
        all
    }

    fn rule(&self, kind: Kind, name: &str) -> Option<&Rule> {
        self.rules.get(&kind)?.get(name)
    }
}
