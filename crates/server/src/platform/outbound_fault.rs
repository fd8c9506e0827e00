//! What people are told of requests that could not be made.

use domain::{Sentence, Words};
use outbound::Fault;

/// The message of a fault.
pub(crate) fn fault_sentence(fault: Fault) -> Sentence {
    match fault {
        Fault::NoAddress => Sentence::NoAddress,
        Fault::NotAllowed => Sentence::AddressNotAllowed,
        Fault::Unreachable => Sentence::Unreachable,
        Fault::Slow => Sentence::Slow,
        Fault::TooManyHops => Sentence::TooManyRedirects,
        Fault::TooLarge => Sentence::AnswerTooLarge,
        Fault::Compressed => Sentence::AnswerCompressed,
        Fault::CutOff => Sentence::AnswerCutOff,
    }
}

/// The same as a text with its code.
pub(crate) fn of_fault(fault: outbound::Fault) -> Words {
    fault_sentence(fault).into()
}
