//! The built-in embedding model. Its files are looked up at first use, and again while they are missing, so they can be
//! added while the server runs.

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

/// Number of dimensions of its vectors.
const DIMENSIONS: usize = 384;

/// The built-in model, loaded at first use.
pub(super) struct LocalEmbedder {
    files: Files,
    threads: usize,
    loaded: Mutex<Option<Arc<Embedder>>>,
}

impl LocalEmbedder {
    /// `program` is the path of this executable: the library may be in the same folder.
    pub(super) fn new(settings: &KnowledgeSettings, program: &Path) -> Self {
        let files = files(settings, program);
        Self {
            files,
            threads: settings.embedding_threads,
            loaded: Mutex::default(),
        }
    }

    /// The vectors of these texts. Texts in other scripts than Latin get zero vectors and are found by keywords: the
    /// model knows English only, and its vectors of Russian text would rank wrong passages first.
    pub(super) async fn embed(
        self: &Arc<Self>,
        texts: &[String],
        urgency: Urgency,
        deadline: Duration,
    ) -> Result<Vec<Vec<f32>>, ModelUnavailable> {
        let this = Arc::clone(self);
        let texts = texts.to_vec();
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

    /// Which of its files is missing; `None` if all exist.
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

/// The expected paths of the model's files. The library is taken from the configured path, otherwise from the program's
/// folder, otherwise from the model's folder.
pub(super) fn files(settings: &KnowledgeSettings, program: &Path) -> Files {
    let folder = &settings.model_folder;
    let in_same_folder = program.with_file_name(LIBRARY);
    let library = match &settings.onnxruntime {
        Some(named) => named.clone(),
        None if in_same_folder.is_file() => in_same_folder,
        None => folder.join(LIBRARY),
    };
    Files {
        network: folder.join(NETWORK),
        tokenizer: folder.join(TOKENIZER),
        library,
    }
}

/// The problem and how to fix it.
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
            // Paths are not shown to users; the log has them.
            tracing::warn!(file = %file.display(), why, "the built-in model cannot be loaded");
            messages::Knowledge::BuiltInBroken.into()
        }
        Unusable::NoVector(_) => format!("{unusable}.").into(),
    }
}
