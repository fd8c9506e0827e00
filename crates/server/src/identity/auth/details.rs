//! Validation of names, e-mail addresses and passwords of accounts.

use crate::{error::ApiError, messages};

/// The maximum length of an e-mail address, in bytes.
pub(crate) const MAX_EMAIL_BYTES: usize = 254;
const MAX_NAME_CHARS: usize = 100;
const MIN_PASSWORD_CHARS: usize = 8;
/// The maximum length of a password, in characters.
pub(crate) const MAX_PASSWORD_CHARS: usize = 256;

/// Trims and validates an e-mail address.
///
/// # Errors
/// 400.
pub(crate) fn checked_email(text: &str) -> Result<String, ApiError> {
    let email = text.trim();
    let shaped = email
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if shaped
        && email.len() <= MAX_EMAIL_BYTES
        && !email.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        Ok(email.to_owned())
    } else {
        Err(ApiError::invalid(messages::Accounts::BadEmail))
    }
}

/// Trims and validates a person's name.
///
/// # Errors
/// 400.
pub(crate) fn checked_name(text: &str) -> Result<String, ApiError> {
    let name = text.trim();
    match name.chars().count() {
        1..=MAX_NAME_CHARS if !name.contains(char::is_control) => Ok(name.to_owned()),
        0 => Err(ApiError::invalid(messages::Accounts::EmptyName)),
        _ => Err(ApiError::invalid(messages::Accounts::LongName {
            limit: MAX_NAME_CHARS as u64,
        })),
    }
}

/// Checks the length of a password.
///
/// # Errors
/// 400.
pub(crate) fn checked_password(password: String) -> Result<String, ApiError> {
    match password.chars().count() {
        MIN_PASSWORD_CHARS..=MAX_PASSWORD_CHARS => Ok(password),
        _ => Err(ApiError::invalid(messages::Accounts::BadPassword {
            least: MIN_PASSWORD_CHARS as u64,
            most: MAX_PASSWORD_CHARS as u64,
        })),
    }
}
