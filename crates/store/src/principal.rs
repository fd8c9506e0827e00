//! Who acts on an account: its owner, one of its API keys, or a person that a trusted front end speaks for.

use domain::{ApiKeyId, UserId};

use crate::{StoreError, query::Row};

/// Who acts, and on whose account. What a principal begins (runs, chats) carries it from then on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal {
    /// The account that pays and whose data it is.
    pub account: UserId,
    /// The API key that was used. `None` for a browser.
    pub key: Option<ApiKeyId>,
    /// The person whom the key's front end speaks for, by the id that it has there.
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

    /// Whether a front end speaks for a person of its own, rather than the account for itself.
    #[must_use]
    pub fn is_front_end_person(&self) -> bool {
        self.person.is_some()
    }

    /// Whether both are the same human being: the account with whatever key, or the same person of the same front end.
    /// Nothing that one of them has is seen or changed by others.
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
        let (first_key, second_key) = (ApiKeyId::generate(), ApiKeyId::generate());
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
