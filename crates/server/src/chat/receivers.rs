//! Addresses that people name for the server to send to.

use outbound::{Fault, Outbound};
use reqwest::Url;

use crate::{error::ApiError, messages, platform::outbound_fault::of_fault};

/// Maximum length of an address, bytes.
const LIMIT_BYTES: usize = 2_000;

/// The address, if the server may send to it: `https`, unless an administrator has named its host.
///
/// # Errors
/// 400 with the reason.
pub(crate) fn receiver(outbound: &Outbound, address: &str) -> Result<Url, ApiError> {
    let url = match address.len() > LIMIT_BYTES {
        true => Err(Fault::NoAddress),
        false => outbound.address(address.trim(), &[]),
    };
    let url = url.map_err(|fault| {
        ApiError::invalid(messages::Settings::CannotSendThere {
            why: of_fault(fault),
        })
    })?;
    if url.scheme() != "https" && !outbound.is_named(&url) {
        return Err(ApiError::invalid(messages::Settings::HttpsNeeded));
    }
    Ok(url)
}
