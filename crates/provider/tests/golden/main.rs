//! Recordings of providers through the codecs, compared with golden files. To renew them after a wanted change:
//! `INSTA_UPDATE=always cargo test -p provider --test golden`, and read the difference.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod answers;
mod anthropic;
mod bedrock;
mod citations;
mod gemini;
mod given_back;
mod openai_responses;
mod pictures;
#[expect(
    dead_code,
    reason = "the golden tests of `wire` share this file and read all of it"
)]
mod recorded;
