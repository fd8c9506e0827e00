//! Messages: why a skill, or a file of one, cannot be used.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a skill, or a file of one, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Skills {
    // Skills.
    #[error("It cannot be read: {why}.")]
    SkillUnreadable { why: String },
    #[error("There are already {count} other skills, the maximum.")]
    SkillTooMany { count: u64 },
    #[error("The folder's name must be 1 to {limit} lowercase letters, digits and “-”.")]
    SkillBadFolder { limit: u64 },
    #[error("It is not a folder, but a link or something else.")]
    SkillNoFolder,
    #[error("File not found: {file}.")]
    SkillFileMissing { file: String },
    #[error("{file} cannot be read: {why}.")]
    SkillFileUnreadable { file: String, why: String },
    #[error("{file} is not a file, but a link or something else.")]
    SkillNoFile { file: String },
    #[error("{file} is outside of the skill.")]
    SkillFileOutside { file: String },
    #[error("{file} has {size} bytes; at most {limit} are allowed.")]
    SkillFileTooLarge { file: String, size: u64, limit: u64 },
    #[error("{file} is not text.")]
    SkillFileNoText { file: String },
    #[error(
        "Its SKILL.md must begin with a line “---”, `name:` and `description:`, and another line “---”."
    )]
    SkillNoHead,
    #[error("Its SKILL.md has no `{field}:`.")]
    SkillFieldMissing { field: String },
    #[error("Its SKILL.md has the name “{name}”, but its folder is “{folder}”.")]
    SkillOtherName { name: String, folder: String },
    #[error("Its description must have 1 to {limit} characters.")]
    SkillBadDescription { limit: u64 },
}

impl CodedMessage for Skills {}
