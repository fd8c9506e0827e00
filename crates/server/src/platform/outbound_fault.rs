//! Messages for outbound requests that failed.

use domain::LocalizedText;
use outbound::Fault;

use crate::messages;

/// The message of a fault.
pub(crate) fn fault_message(fault: Fault) -> messages::Web {
    match fault {
        Fault::NoAddress => messages::Web::NoAddress,
        Fault::NotAllowed => messages::Web::AddressNotAllowed,
        Fault::Unreachable => messages::Web::Unreachable,
        Fault::Slow => messages::Web::Slow,
        Fault::TooManyHops => messages::Web::TooManyRedirects,
        Fault::TooLarge => messages::Web::AnswerTooLarge,
        Fault::Compressed => messages::Web::AnswerCompressed,
        Fault::CutOff => messages::Web::AnswerCutOff,
    }
}

/// The message as a text with its code.
pub(crate) fn of_fault(fault: outbound::Fault) -> LocalizedText {
    fault_message(fault).into()
}
