//! Messages for outbound requests that failed.

use domain::LocalizedText;
use web_access::fault_message;

/// The message of a fault as a text with its code.
pub(crate) fn of_fault(fault: outbound::Fault) -> LocalizedText {
    fault_message(fault).into()
}
