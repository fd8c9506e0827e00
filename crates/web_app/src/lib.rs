//! The files of the web app, embedded. A crate of its own, so that a changed page compiles no service again.

use std::borrow::Cow;

use rust_embed::{EmbeddedFile, RustEmbed};

/// The output of the web build; of text assets only the compressed copies that it makes (`web/build/compress.ts`). Debug
/// builds read the files on request.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
#[exclude = "*.html"]
#[exclude = "*.js"]
#[exclude = "*.css"]
#[exclude = "*.svg"]
#[exclude = "*.json"]
#[exclude = "*.txt"]
#[exclude = "*.map"]
#[exclude = "*.webmanifest"]
struct Files;

/// A file's content and the SHA-256 of it, where `name.br` and `name.gz` are the compressed copies of `name`; `None` if the app has no such file, or this build has no web app.
#[must_use]
pub fn file(path: &str) -> Option<(Cow<'static, [u8]>, [u8; 32])> {
    let EmbeddedFile { data, metadata } = Files::get(path)?;
    Some((data, metadata.sha256_hash()))
}
