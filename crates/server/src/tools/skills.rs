//! The folder of skills, read anew for each run, so that what changes on the disk holds from the next run on.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use agent::Skills;
use domain::LocalizedText;

/// The folder, and which of its problems the log has.
pub struct SkillsFolder {
    folder: PathBuf,
    told: Mutex<Vec<(String, LocalizedText)>>,
}

impl SkillsFolder {
    /// The folder need not be there.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            told: Mutex::default(),
        }
    }

    /// What it holds now. A new problem is told to the log, once.
    pub async fn read(&self) -> Skills {
        let folder = self.folder.clone();
        let skills = match tokio::task::spawn_blocking(move || Skills::read(&folder)).await {
            Ok(skills) => skills,
            Err(error) => {
                tracing::error!(%error, "the folder of skills could not be read");
                return Skills::default();
            }
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for (skill, problem) in skills
            .problems
            .iter()
            .filter(|problem| !told.contains(problem))
        {
            tracing::warn!(skill, %problem, "a skill cannot be used");
        }
        told.clone_from(&skills.problems);
        skills
    }
}
