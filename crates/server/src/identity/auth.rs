//! Authentication of callers: browser sessions, API keys, and the access each of them has.

mod authority;
mod backoff;
mod caller;
mod csrf;
mod details;
mod device;
mod known_keys;
mod password;
mod people;
mod revocations;
mod trusted_header;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use domain::ApiKeyId;

pub use authority::Authority;
pub use backoff::{Attempt, Backoff};
pub use caller::{
    Access, Admin, Caller, Credential, LOCAL_EMAIL, RunnerCaller, check_access, cookie,
};
pub use csrf::{check_named_origin, check_origin, own_origin, own_url};
pub(crate) use details::{
    MAX_EMAIL_BYTES, MAX_PASSWORD_CHARS, checked_email, checked_name, checked_password,
};
pub use device::Device;
pub use known_keys::{HeldKey, KnownKeys};
pub use password::{Passwords, is_foreign, is_good_foreign};
pub use people::{PERSON_EMAIL, PERSON_ID, PERSON_NAME, PERSON_ROLE};
pub use revocations::Revocations;
pub(crate) use trusted_header::{keep_from_proxy, problem as problem_of_proxy};

/// The session cookie's name.
pub const SESSION_COOKIE: &str = "glasshouse_session";

/// The prefix of every bearer key.
pub const KEY_PREFIX: &str = "gh_";

/// Throttles the recording of each key's last use, so that a busy key does not cause a write per request.
#[derive(Debug, Default)]
pub struct KeyUse(Mutex<HashMap<ApiKeyId, i64>>);

impl KeyUse {
    /// Whether the use at `now_ms` should be recorded: at most once a minute.
    fn is_news(&self, key: ApiKeyId, now_ms: i64) -> bool {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = written.entry(key).or_insert(i64::MIN);
        let news = now_ms.saturating_sub(*last) >= 60_000;
        if news {
            *last = now_ms;
        }
        news
    }
}
