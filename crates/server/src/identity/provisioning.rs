//! Whose account somebody uses here whom another system has signed in: a provider of OpenID Connect, or a proxy in front.

use domain::UserId;
use store::{Account, AccountChange, NewUser, StoreError, User, UserRole};

use crate::{error::ApiError, identity::Identity, platform::config::Admission};

/// The password of accounts that have none: no password is ever made into this.
const NO_PASSWORD: &str = "!";

/// Somebody whom another system has signed in, as it knows them.
#[derive(Debug)]
pub(crate) struct ExternalIdentity {
    /// Which system that is.
    pub(crate) issuer: String,
    /// Its own name for the person.
    pub(crate) subject: String,
    pub(crate) email: Option<String>,
    /// Whether the system vouches for the address.
    pub(crate) is_verified: bool,
    pub(crate) name: Option<String>,
    pub(crate) groups: ProviderGroups,
}

/// The groups that another system says a person is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProviderGroups {
    /// These and no others.
    Known(Vec<String>),
    /// The system did not say, for example because they are too many for a token. Nothing follows from that: memberships,
    /// role and access stay what they were.
    Unknown,
}

impl ProviderGroups {
    /// Whether the person is in one of these; `None` if that is unknown.
    fn include_one_of(&self, groups: &[String]) -> Option<bool> {
        match self {
            Self::Known(known) => Some(groups.iter().any(|group| known.contains(group))),
            Self::Unknown => None,
        }
    }
}

/// The account of somebody who arrived.
pub(crate) struct Arrived {
    pub(crate) account: Account,
    /// Whether it was made just now.
    pub(crate) is_new: bool,
    /// What the person's groups have made of them just now.
    pub(crate) new_role: Option<UserRole>,
}

/// Why nobody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It was begun in another browser, or too long ago.
    Unknown,
    /// The person, or the other system, said no.
    Denied,
    /// What the other system says is not good.
    Refused,
    /// The other system cannot be asked.
    Unreachable,
    /// The person is in none of the groups that are let in.
    NotAllowed,
    /// The other system does not say which groups the person is in, and only some groups are let in.
    GroupsUnknown,
    /// There is no account, and none is to be made.
    NoAccount,
    /// Somebody else here has the person's address.
    AddressTaken,
    /// The other system does not say what the person's address is.
    NoAddress,
    /// The account is suspended.
    Suspended,
    /// Nobody has set this server up, and the person is no administrator.
    NotSetUp,
    /// A code is asked for beside what the other system says.
    CodeNeeded,
}

impl Problem {
    /// As the page knows it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::NotAllowed => "not_allowed",
            Self::GroupsUnknown => "groups_unknown",
            Self::NoAccount => "no_account",
            Self::AddressTaken => "address_taken",
            Self::NoAddress => "no_address",
            Self::Suspended => "suspended",
            Self::NotSetUp => "not_set_up",
            Self::CodeNeeded => "code_needed",
        }
    }
}

/// What stands in the way: something to tell the person, or a fault of ours.
pub(crate) enum Ended {
    Problem(Problem),
    Fault(ApiError),
}

impl<E: Into<ApiError>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Fault(error.into())
    }
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Identity {
    /// The account of somebody who arrived, which is made where that is wanted.
    pub(crate) async fn account_of(
        &self,
        admission: &Admission,
        person: &ExternalIdentity,
    ) -> Result<Arrived, Ended> {
        let is_admin = person.groups.include_one_of(&admission.admin_groups);
        let is_allowed = match admission.allowed_groups.is_empty() {
            true => Some(true),
            false => person.groups.include_one_of(&admission.allowed_groups),
        };
        if is_admin != Some(true) && is_allowed == Some(false) {
            return Err(Problem::NotAllowed.into());
        }
        let role = match is_admin.filter(|_| !admission.admin_groups.is_empty()) {
            None => None,
            Some(true) => Some(UserRole::Admin),
            Some(false) => Some(UserRole::User),
        };
        let known = self.store.identity(&person.issuer, &person.subject).await?;
        let (mut account, is_new) = match known {
            Some(known) => (known, false),
            // Who was let in before stays in; who comes for the first time has to be in one of the groups.
            None if is_allowed.is_none() => return Err(Problem::GroupsUnknown.into()),
            None => self.new_identity(admission, person, role).await?,
        };
        if account.suspended_at.is_some() {
            return Err(Problem::Suspended.into());
        }
        let mut new_role = role.filter(|role| *role != account.user.role);
        if let Some(role) = new_role {
            account.user = self.change_role(account.user, role).await?;
            new_role = new_role.filter(|role| *role == account.user.role);
        }
        Ok(Arrived {
            account,
            is_new,
            new_role,
        })
    }

    /// For somebody who comes for the first time: the account that has the address, or a new one; and whether it is new.
    async fn new_identity(
        &self,
        admission: &Admission,
        person: &ExternalIdentity,
        role: Option<UserRole>,
    ) -> Result<(Account, bool), Ended> {
        // The first account is an administrator's, and nobody gets that by coming first.
        if role != Some(UserRole::Admin) && self.setup_needed().await? {
            let may_be_admin =
                person.groups == ProviderGroups::Unknown && !admission.admin_groups.is_empty();
            return Err(if may_be_admin {
                Problem::GroupsUnknown
            } else {
                Problem::NotSetUp
            }
            .into());
        }
        let now = self.clock.now_ms();
        let email = person.email.as_deref().ok_or(Problem::NoAddress)?;
        let (issuer, subject) = (&person.issuer, &person.subject);
        let holder = match self.store.user_by_email(email).await {
            Ok(holder) => Some(holder.user),
            Err(StoreError::NotFound) => None,
            Err(error) => return Err(error.into()),
        };
        let made = match holder {
            Some(holder) if admission.link_by_email && person.is_verified => {
                let added = self
                    .store
                    .add_identity(issuer, subject, holder.id, now)
                    .await;
                added.map(|account| (account, false))
            }
            Some(_) => Err(StoreError::Conflict("email")),
            None if !admission.create_accounts => return Err(Problem::NoAccount.into()),
            None => {
                let user = NewUser {
                    id: UserId::generate(),
                    email: email.to_owned(),
                    name: person.name.clone().unwrap_or_else(|| email.to_owned()),
                    role: role.unwrap_or(UserRole::User),
                    password_hash: NO_PASSWORD.to_owned(),
                    created_at: now,
                };
                let made = self
                    .store
                    .create_user_with_identity(&user, issuer, subject)
                    .await;
                made.map(|account| (account, true))
            }
        };
        match made {
            // Several requests of somebody new come at once: another one was first.
            Err(StoreError::Conflict(_)) => {
                let known = self.store.identity(issuer, subject).await?;
                Ok((known.ok_or(Problem::AddressTaken)?, false))
            }
            made => Ok(made?),
        }
    }

    async fn change_role(&self, user: User, role: UserRole) -> Result<User, Ended> {
        let change = AccountChange {
            role: Some(role),
            ..AccountChange::default()
        };
        match self
            .store
            .change_account(user.id, &change, self.clock.now_ms())
            .await
        {
            Ok(account) => {
                // Keys are remembered with what their owner was.
                self.known_keys.forget_person(user.id);
                Ok(account.user)
            }
            Err(StoreError::Conflict("last administrator")) => {
                tracing::warn!(user = %user.id, "no group makes this person an administrator, but nobody else is one");
                Ok(user)
            }
            Err(error) => Err(error.into()),
        }
    }
}
