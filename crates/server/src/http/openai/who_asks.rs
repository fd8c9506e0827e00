//! What a trusted model server is told about who asks, in the headers that Open WebUI made usual.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use store::{User, UserRole};

use crate::auth::{
    Caller, PERSON_EMAIL as EMAIL, PERSON_ID as ID, PERSON_NAME as NAME, PERSON_ROLE as ROLE, Person,
};

const CHAT: HeaderName = HeaderName::from_static(super::agent::CHAT_ID);

/// A name is encoded as in an address, but for spaces.
const IN_NAMES: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b' ').remove(b'-').remove(b'.').remove(b'/').remove(b'_').remove(b'~');

/// The caller's account; or the person that a trusted front end speaks for, and the chat. Anybody else could claim to be
/// anybody.
pub(super) fn who_asks(caller: &Caller, headers: &HeaderMap) -> HeaderMap {
    let Some(person) = &caller.person else { return account(&caller.user) };
    let Person { id, name, email, role } = &**person;
    let values = [(ID, Some(id)), (NAME, name.as_ref()), (EMAIL, email.as_ref()), (ROLE, role.as_ref())];
    let mut told: HeaderMap = values
        .into_iter()
        .filter_map(|(header, value)| {
            // A name that came in a header is encoded already; one that was signed is not.
            let value = utf8_percent_encode(value?, CONTROLS).to_string();
            Some((header, HeaderValue::from_str(&value).ok()?))
        })
        .collect();
    if let Some(chat) = headers.get(&CHAT) {
        told.insert(CHAT, chat.clone());
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
