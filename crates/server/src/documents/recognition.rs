//! Text recognition as it is installed on this server: which documents it is used for, and whether it is there.

use knowledge::{Document, NoRecognizer, Recognizer, Unreadable};
use tokio::task::spawn_blocking;

use super::Documents;
use crate::platform::config::OcrSettings;

/// Whether text can be recognized here.
pub(crate) enum Recognition {
    /// It is turned off.
    Off,
    /// The program was found.
    Found(Recognizer),
    /// It cannot be used, for this reason.
    Missing(NoRecognizer),
}

impl Recognition {
    /// Looks for the program, which takes some milliseconds. A program that is installed while the server runs is
    /// found the next time.
    pub(crate) async fn find(settings: Option<OcrSettings>) -> Self {
        let Some(settings) = settings else {
            return Self::Off;
        };
        let program = settings.program.display().to_string();
        let find = move || Recognizer::find(&settings.program, &settings.languages);
        match spawn_blocking(find).await {
            Ok(Ok(recognizer)) => Self::Found(recognizer),
            Ok(Err(why)) => Self::Missing(why),
            Err(error) => Self::Missing(NoRecognizer::Missing {
                program,
                cause: error.to_string(),
            }),
        }
    }

    /// The program, if it can be used.
    pub(super) fn recognizer(self) -> Option<Recognizer> {
        match self {
            Self::Found(recognizer) => Some(recognizer),
            Self::Off | Self::Missing(_) => None,
        }
    }
}

impl Documents {
    /// Text recognition as it is set.
    pub(crate) async fn recognition(&self) -> Recognition {
        Recognition::find(self.config.now().knowledge.ocr.clone()).await
    }

    /// Whether a file that was read without its pictures has more text, which can be read here.
    pub(super) async fn can_see_more(&self, read: &Result<Document, Unreadable>) -> bool {
        let by_model = || self.config.now().knowledge.vision_model.is_some();
        match read {
            Err(Unreadable::Picture) if by_model() => true,
            Err(Unreadable::Picture | Unreadable::NoRecognition) => self.can_recognize().await,
            Ok(document) if !document.unread.is_empty() => self.can_recognize().await,
            _ => false,
        }
    }

    async fn can_recognize(&self) -> bool {
        self.recognition().await.recognizer().is_some()
    }
}
