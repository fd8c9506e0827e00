//! The skills directory, read again for each run, so that changes on disk apply from the next run on.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use agent::Skills;
use domain::LocalizedText;

/// The directory, and its problems that were already logged.
pub struct SkillsFolder {
    folder: PathBuf,
    reported: Mutex<Vec<(String, LocalizedText)>>,
}

impl SkillsFolder {
    /// The directory need not exist.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            reported: Mutex::default(),
        }
    }

    /// The current skills. Each new problem is logged once.
    pub async fn read(&self) -> Skills {
        let folder = self.folder.clone();
        let skills = match tokio::task::spawn_blocking(move || Skills::read(&folder)).await {
            Ok(skills) => skills,
            Err(error) => {
                tracing::error!(%error, "failed to read the skills directory");
                return Skills::default();
            }
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for (skill, problem) in skills
            .problems
            .iter()
            .filter(|problem| !reported.contains(problem))
        {
            tracing::warn!(skill, %problem, "skipping invalid skill");
        }
        reported.clone_from(&skills.problems);
        skills
    }
}
