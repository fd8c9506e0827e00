//! What a trusted model server is told about who asks, in the headers that Open WebUI made usual.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use store::{User, UserRole};

use crate::auth::Caller;

const NAME: HeaderName = HeaderName::from_static("x-openwebui-user-name");
const ID: HeaderName = HeaderName::from_static("x-openwebui-user-id");
const EMAIL: HeaderName = HeaderName::from_static("x-openwebui-user-email");
const ROLE: HeaderName = HeaderName::from_static("x-openwebui-user-role");
const CHAT: HeaderName = HeaderName::from_static(super::agent::CHAT_ID);

/// A name is encoded as in an address, but for spaces.
const IN_NAMES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b' ').remove(b'-').remove(b'.').remove(b'/').remove(b'_').remove(b'~');

/// The caller's account; or the person and the chat that the headers of the request name, where an administrator sent
/// it: a front end with an administrator's key speaks for people of its own. Anybody else could claim to be anybody.
pub(super) fn who_asks(caller: &Caller, headers: &HeaderMap) -> HeaderMap {
    let speaks_for_others = caller.user.role == UserRole::Admin && headers.contains_key(&ID);
    if !speaks_for_others {
        return account(&caller.user);
    }
    let mut told = HeaderMap::new();
    for name in [NAME, ID, EMAIL, ROLE, CHAT] {
        if let Some(value) = headers.get(&name) {
            told.insert(name, value.clone());
        }
    }
    told
}

fn account(user: &User) -> HeaderMap {
    let role = match user.role {
        UserRole::Admin => "admin",
        UserRole::User => "user",
    };
    let values = [
        (NAME, utf8_percent_encode(&user.name, IN_NAMES).to_string()),
        (ID, user.id.to_string()),
        (EMAIL, utf8_percent_encode(&user.email, CONTROLS).to_string()),
        (ROLE, role.to_owned()),
    ];
    let valid =
        values.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value).ok()?)));
    valid.collect()
}
