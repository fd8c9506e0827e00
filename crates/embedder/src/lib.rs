//! The built-in embedding model: texts become vectors on this machine, with ONNX Runtime from a shared library and an int8
//! all-MiniLM-L6-v2 from a folder. It blocks: async code must call it where
//! blocking is allowed.

mod model;
mod network;
mod queue;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use model::Model;
pub use network::NETWORK_SHA256;
use queue::{Job, Queue};

/// The model's name, which also names where its vectors are from.
pub const MODEL: &str = "built-in";
/// The network, in the model's folder.
pub const NETWORK: &str = "model.onnx";
/// How its texts become tokens, in the model's folder.
pub const TOKENIZER: &str = "tokenizer.json";
/// What runs the network.
pub const LIBRARY: &str = if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else if cfg!(windows) {
    "onnxruntime.dll"
} else {
    "libonnxruntime.so"
};

/// Whether the model knows what a text is written in: at least half of its letters are Latin.
#[must_use]
pub fn reads(text: &str) -> bool {
    let mut latin = 0_usize;
    let mut others = 0_usize;
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        match letter {
            // To the end of Latin Extended-B, and Latin Extended Additional.
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
            _ => others += 1,
        }
    }
    latin > 0 && latin >= others
}

/// Where the model's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// [`NETWORK`].
    pub network: PathBuf,
    /// [`TOKENIZER`].
    pub tokenizer: PathBuf,
    /// [`LIBRARY`].
    pub library: PathBuf,
}

impl Files {
    /// The first that is missing.
    #[must_use]
    pub fn missing(&self) -> Option<&Path> {
        [&self.network, &self.tokenizer, &self.library]
            .into_iter()
            .find(|path| !path.is_file())
            .map(PathBuf::as_path)
    }
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A file is not there.
    #[error("{} is missing", .0.display())]
    Missing(PathBuf),
    /// A file is there and of no use.
    #[error("{} cannot be used: {why}", .file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// What the library says.
        why: String,
    },
    /// The network gave no vector.
    #[error("The built-in model gave no vector: {0}")]
    NoVector(String),
}

/// Who wants vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A caller waits for it: processed before all passages.
    Question,
    /// No caller waits for it.
    Passage,
}

/// The model, ready for texts.
///
/// Each thread has a network of its own, about 70 MB, and takes one text at a time: a batch is no quicker on a processor, and
/// its short texts would be computed as long as its longest.
#[derive(Debug)]
pub struct Embedder {
    queue: Arc<Queue>,
}

impl Embedder {
    /// Loads the model for so many threads, at least one.
    ///
    /// # Errors
    /// Where a file is missing or of no use.
    pub fn load(files: &Files, threads: usize) -> Result<Self, Unusable> {
        if let Some(missing) = files.missing() {
            return Err(Unusable::Missing(missing.to_owned()));
        }
        let models = Model::load(files, threads.max(1))?;
        // Where a thread cannot be started, those that were end with it.
        let embedder = Self {
            queue: Arc::default(),
        };
        for mut model in models {
            let queue = Arc::clone(&embedder.queue);
            let work = move || {
                while let Some(job) = queue.next() {
                    let vector = model.vector(&job.text);
                    // The caller may be gone.
                    _ = job.answer.send((job.number, vector));
                }
            };
            let started = thread::Builder::new().name("embedder".into()).spawn(work);
            started.map_err(|error| Unusable::NoVector(error.to_string()))?;
        }
        Ok(embedder)
    }

    /// The vectors of these texts in their order, each of length 1. One of more than 256 tokens has the mean of its parts, and
    /// what is beyond 16 of them is left out.
    ///
    /// # Errors
    /// Where the network gives no vector of one of them.
    pub fn embed(&self, texts: &[String], urgency: Urgency) -> Result<Vec<Vec<f32>>, Unusable> {
        let (answer, answers) = mpsc::channel();
        let job = |(number, text): (usize, &String)| Job {
            number,
            text: text.clone(),
            answer: answer.clone(),
        };
        self.queue.add(texts.iter().enumerate().map(job), urgency);
        drop(answer);
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut came = 0;
        for (number, vector) in answers {
            if let Some(place) = vectors.get_mut(number) {
                *place = vector?;
                came += 1;
            }
        }
        if came < texts.len() {
            return Err(Unusable::NoVector("its thread ended".into()));
        }
        Ok(vectors)
    }
}

impl Drop for Embedder {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn the_model_reads_latin_letters() {
        for text in [
            "How do I close it?",
            "naïve café",
            "error 404 в коде of the server",
            "x",
        ] {
            assert!(reads(text), "{text}");
        }
        for text in [
            "",
            "42 + 1",
            "Как закрыть счёт?",
            "Ошибка HTTP 404 при входе",
            "口座",
        ] {
            assert!(!reads(text), "{text}");
        }
    }
}
