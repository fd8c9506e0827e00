//! Why a source cannot be listed or read, in words.

use domain::LocalizedText;
use sources::{SourceLimits, SourceProblem};
use web_access::fault_message;

use crate::messages;

/// The reason for people.
pub(crate) fn problem_words(problem: &SourceProblem, limits: SourceLimits) -> LocalizedText {
    let sentence = match problem {
        SourceProblem::Settings { field, reason } => messages::Sources::SourceSettingInvalid {
            field: (*field).to_owned(),
            reason: reason.clone(),
        },
        SourceProblem::Refused => messages::Sources::SourceRefused,
        SourceProblem::NotFound => messages::Sources::SourceNotFound,
        SourceProblem::Gone => messages::Sources::SourceDocumentGone,
        SourceProblem::TooLarge => messages::Sources::SourceDocumentTooLarge {
            limit: limits.item_bytes as u64 / 1_000_000,
        },
        SourceProblem::TooMany => messages::Sources::TooManySourceDocuments {
            count: limits.items as u64,
        },
        SourceProblem::Limited => messages::Sources::SourceLimited,
        SourceProblem::Unreachable(fault) => messages::Sources::SourceUnreachable {
            why: fault_message(*fault).into(),
        },
        SourceProblem::Status { status } => messages::Sources::SourceStatus { status: *status },
        SourceProblem::Malformed(reason) => messages::Sources::SourceMalformed {
            reason: reason.clone(),
        },
        SourceProblem::NoProgram(program) => messages::Sources::SourceNeedsProgram {
            program: (*program).to_owned(),
        },
        SourceProblem::File(reason) => messages::Sources::SourceFolderUnreadable {
            reason: reason.clone(),
        },
    };
    sentence.into()
}
