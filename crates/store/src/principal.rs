//! The acting principal: an account's owner, one of its API keys, or a user of a trusted front end.

use domain::{ApiKeyId, UserId};

use crate::{StoreError, query::Row};

/// The principal and its account. Runs and chats store the principal that created them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal {
    /// The account that pays and owns the data.
    pub account: UserId,
    /// The API key; `None` for a browser.
    pub key: Option<ApiKeyId>,
    /// The user of the key's front end, by the front end's id.
    pub person: Option<String>,
}

impl Principal {
    /// The account itself, without a key or a front end.
    #[must_use]
    pub fn of_account(account: UserId) -> Self {
        Self {
            account,
            key: None,
            person: None,
        }
    }

    /// Whether a front end acts for one of its users, rather than the account for itself.
    #[must_use]
    pub fn is_front_end_person(&self) -> bool {
        self.person.is_some()
    }

    /// Whether both are the same individual: the account with any key, or the same user of the same front end.
    /// Individuals cannot see or change each other's data.
    #[must_use]
    pub fn is_same_individual(&self, other: &Self) -> bool {
        self.account == other.account
            && self.person == other.person
            && (self.person.is_none() || self.key == other.key)
    }

    /// The principal in the columns `owner`, `api_key` and `person`.
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            account: row.id("owner")?,
            key: row.optional_id("api_key")?,
            person: row.get("person")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_and_each_person_of_a_front_end_are_individuals() {
        let account = UserId::generate();
        let first_key = ApiKeyId::generate();
        let second_key = ApiKeyId::generate();
        let principal = |key, person: Option<&str>| Principal {
            account,
            key,
            person: person.map(str::to_owned),
        };
        let owner = Principal::of_account(account);
        let by_key = principal(Some(first_key), None);
        let person = principal(Some(first_key), Some("p1"));
        assert!(owner.is_same_individual(&by_key) && by_key.is_same_individual(&owner));
        assert!(person.is_same_individual(&person.clone()));
        for other in [
            owner.clone(),
            by_key,
            principal(Some(first_key), Some("p2")),
            principal(Some(second_key), Some("p1")),
            Principal {
                account: UserId::generate(),
                ..person.clone()
            },
        ] {
            assert!(
                !person.is_same_individual(&other) && !other.is_same_individual(&person),
                "{other:?}"
            );
        }
        assert!(!owner.is_same_individual(&Principal::of_account(UserId::generate())));
    }
}
