//! The embedding model that comes with the program: its files are looked for when it is first asked, and again as long as they
//! are missing, so that they may come while the server runs.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::LocalizedText;
use embedder::{Embedder, Files, LIBRARY, NETWORK, TOKENIZER, Unusable, Urgency, reads};
use tokio::{task::spawn_blocking, time::timeout};

use super::model_calls::{ModelUnavailable, UnavailableKind};
use crate::{messages, platform::config::KnowledgeSettings};

/// Numbers of a vector of this model.
const DIMENSIONS: usize = 384;

/// The built-in model, loaded once it is needed.
pub(super) struct LocalEmbedder {
    files: Files,
    threads: usize,
    loaded: Mutex<Option<Arc<Embedder>>>,
}

impl LocalEmbedder {
    /// `program` is this one: the library may lie beside it.
    pub(super) fn new(settings: &KnowledgeSettings, program: &Path) -> Self {
        let files = files(settings, program);
        Self {
            files,
            threads: settings.embedding_threads,
            loaded: Mutex::default(),
        }
    }

    /// The vectors of these texts. Those in other letters than Latin have none but zeros: the model knows English, and what it
    /// makes of Russian would put wrong passages first. They are found by their words.
    pub(super) async fn embed(
        self: &Arc<Self>,
        texts: &[String],
        urgency: Urgency,
        deadline: Duration,
    ) -> Result<Vec<Vec<f32>>, ModelUnavailable> {
        let (this, texts) = (Arc::clone(self), texts.to_vec());
        let work = spawn_blocking(move || {
            let (read, places): (Vec<String>, Vec<usize>) = texts
                .iter()
                .enumerate()
                .filter(|(_, text)| reads(text))
                .map(|(place, text)| (text.clone(), place))
                .unzip();
            let mut vectors = vec![vec![0.0; DIMENSIONS]; texts.len()];
            let made = this.embedder()?.embed(&read, urgency)?;
            for (place, vector) in places.into_iter().zip(made) {
                vectors[place] = vector;
            }
            Ok(vectors)
        });
        let late = |_| ModelUnavailable {
            kind: UnavailableKind::Late,
            words: messages::Knowledge::BuiltInSlow {
                seconds: deadline.as_secs(),
            }
            .into(),
        };
        let made = timeout(deadline, work).await.map_err(late)?;
        let made = made.map_err(|error| ModelUnavailable::failed(error.to_string()))?;
        made.map_err(|unusable: Unusable| ModelUnavailable::failed(advice(&unusable)))
    }

    /// Which of its files is missing, in words.
    pub(super) fn problem(&self) -> Option<LocalizedText> {
        self.files
            .missing()
            .map(|file| advice(&Unusable::Missing(file.to_owned())))
    }

    fn embedder(&self) -> Result<Arc<Embedder>, Unusable> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*loaded {
            return Ok(Arc::clone(embedder));
        }
        let embedder = Arc::new(Embedder::load(&self.files, self.threads)?);
        *loaded = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

/// Where the model's files are expected: the library where the settings say, else beside the program, else with the model.
pub(super) fn files(settings: &KnowledgeSettings, program: &Path) -> Files {
    let folder = &settings.model_folder;
    let beside = program.with_file_name(LIBRARY);
    let library = match &settings.onnxruntime {
        Some(named) => named.clone(),
        None if beside.is_file() => beside,
        None => folder.join(LIBRARY),
    };
    Files {
        network: folder.join(NETWORK),
        tokenizer: folder.join(TOKENIZER),
        library,
    }
}

/// What is wrong, and what to do.
fn advice(unusable: &Unusable) -> LocalizedText {
    match unusable {
        Unusable::Missing(file) => {
            let name = file.file_name().map_or_else(PathBuf::new, PathBuf::from);
            messages::Knowledge::BuiltInMissing {
                file: name.display().to_string(),
            }
            .into()
        }
        Unusable::File { file, why } => {
            // Where the files are is no matter of those who ask; the log has it.
            tracing::warn!(file = %file.display(), why, "the built-in model cannot be loaded");
            messages::Knowledge::BuiltInBroken.into()
        }
        Unusable::NoVector(_) => format!("{unusable}.").into(),
    }
}
