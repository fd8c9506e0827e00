//! Why a source cannot be listed or read, in words.

use domain::LocalizedText;
use sources::{SettingProblem, SourceLimits, SourceProblem};
use web_access::fault_message;

use crate::messages;

/// The reason for people.
pub(crate) fn problem_words(problem: &SourceProblem, limits: SourceLimits) -> LocalizedText {
    let sentence = match problem {
        SourceProblem::Settings { field, reason } => messages::Sources::SourceSettingInvalid {
            field: (*field).to_owned(),
            reason: setting_words(reason),
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

/// Why a setting is invalid, as a sentence of its own.
fn setting_words(problem: &SettingProblem) -> LocalizedText {
    let sentence = match problem {
        SettingProblem::Address(fault) => return fault_message(*fault).into(),
        SettingProblem::OutOfRange { least, most } => messages::Sources::SettingOutOfRange {
            least: u64::from(*least),
            most: u64::from(*most),
        },
        SettingProblem::TooMany { most } => messages::Sources::SettingTooMany {
            count: *most as u64,
        },
        SettingProblem::OtherRegion(region) => messages::Sources::SettingOtherRegion {
            region: region.clone(),
        },
        SettingProblem::Characters => messages::Sources::SettingCharacters,
        SettingProblem::TooLong => messages::Sources::SettingTooLong,
        SettingProblem::AddressWithQuery => messages::Sources::SettingAddressWithQuery,
        SettingProblem::NotEncrypted => messages::Sources::SettingNotEncrypted,
        SettingProblem::NoHost => messages::Sources::SettingNoHost,
        SettingProblem::Unencrypted => messages::Sources::SettingUnencrypted,
        SettingProblem::NoUser => messages::Sources::SettingNoUser,
        SettingProblem::NoPath => messages::Sources::SettingNoPath,
        SettingProblem::NoBranch => messages::Sources::SettingNoBranch,
        SettingProblem::NotPlain => messages::Sources::SettingNotPlain,
        SettingProblem::NoRegion => messages::Sources::SettingNoRegion,
        SettingProblem::UnknownRegion => messages::Sources::SettingUnknownRegion,
        SettingProblem::NoKeyId => messages::Sources::SettingNoKeyId,
        SettingProblem::NoSpace => messages::Sources::SettingNoSpace,
        SettingProblem::OnlyCloud => messages::Sources::SettingOnlyCloud,
        SettingProblem::NoDriveId => messages::Sources::SettingNoDriveId,
        SettingProblem::OnlyServiceAccounts => messages::Sources::SettingOnlyServiceAccounts,
        SettingProblem::NoTenant => messages::Sources::SettingNoTenant,
        SettingProblem::OneLibrary => messages::Sources::SettingOneLibrary,
        SettingProblem::SiteOrUser => messages::Sources::SettingSiteOrUser,
        SettingProblem::NoWeb => messages::Sources::SettingNoWeb,
    };
    sentence.into()
}
