//! The principal of an operation, with the restrictions of its key.

use std::sync::Arc;

use domain::Person;
use store::{Principal, Run};

/// A principal with the restrictions of its API key. A run keeps the authority it was started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// Who acts, and on whose account.
    pub principal: Principal,
    /// The models and agents that the key is limited to, by the names that callers use; `None` if it is not limited.
    pub key_models: Option<Vec<String>>,
    /// The front end's details about the person it acts for, if the principal is one.
    pub person: Option<Arc<Person>>,
}

impl Authority {
    /// The account itself, without the limits of a key.
    #[must_use]
    pub fn of_account(account: domain::UserId) -> Self {
        Self {
            principal: Principal::of_account(account),
            key_models: None,
            person: None,
        }
    }

    /// The authority that a stored run was started with.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let person = run
            .origin
            .as_ref()
            .and_then(|origin| origin.person.clone())
            .map(Arc::new);
        Self {
            principal: run.principal.clone(),
            key_models: run.key_models.clone(),
            person,
        }
    }
}
