//! Groups of people, and what is only for some of them: kept in memory, so that asking costs nothing, and read anew as soon
//! as somebody has changed it.

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

/// What is known of groups on this server.
pub struct Groups {
    store: Store,
    known: RwLock<Arc<GroupDirectory>>,
    /// Held while it is read, so that an older state never replaces a newer one.
    looking: tokio::sync::Mutex<()>,
    /// What a proxy last said of each person: a hash of their groups there, and the number of what was known then.
    said: Mutex<HashMap<UserId, (u64, i64)>>,
}

/// All groups and permissions at one moment.
#[derive(Debug, Default)]
pub struct GroupDirectory {
    /// Grows with each change.
    pub number: i64,
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// The groups of each person who is in one, in no order.
    members: HashMap<UserId, Vec<GroupId>>,
    /// Who may use everything.
    admins: HashSet<UserId>,
    rules: HashMap<Kind, HashMap<String, Rule>>,
}

/// For whom a thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// Nothing where a wider rule says so.
    everybody: Option<bool>,
    groups: Vec<GroupId>,
}

impl Groups {
    /// Reads what is stored.
    ///
    /// # Errors
    /// Where the database does not answer.
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

    /// What is known now.
    #[must_use]
    pub fn known(&self) -> Arc<GroupDirectory> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads what has changed, here or on another server.
    ///
    /// # Errors
    /// Where the database does not answer.
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

    /// Puts somebody into the groups that go by these of another system, and takes them out of the others that do. Said again,
    /// it costs nothing, as long as no group was changed.
    ///
    /// # Errors
    /// Where the database does not answer.
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

    /// What may be used on this authority by its groups, as an administrator or not.
    #[must_use]
    pub fn permit(&self, authority: Authority, is_admin: bool) -> Permissions {
        Permissions::new(self.known(), Arc::new(authority), is_admin)
    }

    /// The same, an administrator if the account is one. The people of a front end never have what only administrators
    /// have, whoever the front end's key belongs to.
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
            // What only a later version knows is asked of nobody here.
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

    /// The groups that somebody is in.
    #[must_use]
    pub fn of_person(&self, user: UserId) -> &[GroupId] {
        self.members.get(&user).map_or(&[], Vec::as_slice)
    }

    /// What the groups are called that somebody is in.
    #[must_use]
    pub fn names_of(&self, user: UserId) -> Vec<String> {
        let own = self.of_person(user);
        let groups = self.groups.iter().filter(|group| own.contains(&group.id));
        groups.map(|group| group.name.clone()).collect()
    }

    /// How many people are in each group.
    #[must_use]
    pub fn sizes(&self) -> HashMap<GroupId, u64> {
        let mut sizes = HashMap::new();
        self.members
            .values()
            .flatten()
            .for_each(|group| *sizes.entry(*group).or_default() += 1);
        sizes
    }

    /// All things that not everybody follows the same rule for, by kind and name.
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
