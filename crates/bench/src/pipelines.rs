//! What stands around a chat.

mod search;

use std::path::Path;

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    search::measure(program, quick).await
}
