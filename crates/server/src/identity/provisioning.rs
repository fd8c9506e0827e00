//! Account provisioning for external identities, from an OpenID provider or a proxy's headers.

use domain::UserId;
use store::{Account, AccountChange, AddressProof, NewUser, StoreError, User, UserRole};

use crate::{error::ApiError, identity::Identity, platform::config::Admission};

/// The password hash of accounts without a password: no password hashes to this.
const NO_PASSWORD: &str = "!";

/// An identity that an external system has authenticated.
#[derive(Debug)]
pub(crate) struct ExternalIdentity {
    /// The external system.
    pub(crate) issuer: String,
    /// The system's id of the user.
    pub(crate) subject: String,
    pub(crate) email: Option<String>,
    /// Whether the system has verified the e-mail address.
    pub(crate) is_verified: bool,
    pub(crate) name: Option<String>,
    pub(crate) groups: ProviderGroups,
}

/// The groups that the external system reports for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProviderGroups {
    /// Exactly these.
    Known(Vec<String>),
    /// The system did not report them, for example because there are too many for a token. Memberships, role and access
    /// stay unchanged.
    Unknown,
}

impl ProviderGroups {
    /// Whether the user is in one of these; `None` if unknown.
    fn include_one_of(&self, groups: &[String]) -> Option<bool> {
        match self {
            Self::Known(known) => Some(groups.iter().any(|group| known.contains(group))),
            Self::Unknown => None,
        }
    }
}

/// The account of an admitted identity.
pub(crate) struct Arrived {
    pub(crate) account: Account,
    /// Whether it was just created.
    pub(crate) is_new: bool,
    /// The new role, if the user's groups have just changed it.
    pub(crate) new_role: Option<UserRole>,
}

/// Why a sign-in was not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It was begun in another browser, or too long ago.
    Unknown,
    /// The user or the external system denied it.
    Denied,
    /// The external system's response is invalid.
    Refused,
    /// The external system cannot be reached.
    Unreachable,
    /// The user is in none of the allowed groups.
    NotAllowed,
    /// The external system does not report the user's groups, and only some groups are allowed.
    GroupsUnknown,
    /// There is no account, and accounts are not created automatically.
    NoAccount,
    /// Another account has the same e-mail address.
    AddressTaken,
    /// The external system does not report an e-mail address.
    NoAddress,
    /// The account is suspended.
    Suspended,
    /// The server is not set up yet, and the user is not an administrator.
    NotSetUp,
    /// A second factor is required in addition.
    CodeNeeded,
}

impl Problem {
    /// The code that the web page uses.
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

/// Why a sign-in failed: a problem to show to the user, or an internal error.
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
    /// The account of an external identity, created if that is allowed.
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
            // Known users stay admitted; a new user has to be in an allowed group.
            None if is_allowed.is_none() => return Err(Problem::GroupsUnknown.into()),
            None => self.new_identity(admission, person, role).await?,
        };
        if account.suspended_at.is_some() {
            return Err(Problem::Suspended.into());
        }
        if account.email_unproven
            && person.is_verified
            && let Some(email) = &person.email
        {
            self.store.prove_address(account.user.id, email).await?;
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

    /// For a new identity: the account with its e-mail address, or a new one; and whether it is new.
    async fn new_identity(
        &self,
        admission: &Admission,
        person: &ExternalIdentity,
        role: Option<UserRole>,
    ) -> Result<(Account, bool), Ended> {
        // The first account is an administrator, and nobody becomes that merely by signing in first.
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
        let issuer = &person.issuer;
        let subject = &person.subject;
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
                let proof = match person.is_verified {
                    true => AddressProof::Proven,
                    false => AddressProof::Unproven,
                };
                let made = self
                    .store
                    .create_user_with_identity(&user, proof, issuer, subject)
                    .await;
                made.map(|account| (account, true))
            }
        };
        match made {
            // Concurrent requests of a new user: another one created the account first.
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
                // Cached keys contain their owner's role.
                self.known_keys.forget_person(user.id);
                Ok(account.user)
            }
            Err(StoreError::Conflict("last administrator")) => {
                tracing::warn!(user = %user.id, "keeping the last administrator's role although no group grants it");
                Ok(user)
            }
            Err(error) => Err(error.into()),
        }
    }
}
