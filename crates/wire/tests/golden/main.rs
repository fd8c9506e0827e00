//! Scenario logs through each encoder, compared with golden files. To renew them after a wanted change:
//! `INSTA_UPDATE=always cargo test -p wire --test golden`, and read the difference.

mod chat_stream;
mod scenarios;
