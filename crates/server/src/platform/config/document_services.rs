//! `[knowledge]`: the services that read documents: an external document reader, and a model that transcribes.

use std::time::Duration;

use llm::Secret;
use outbound::plain_host;
use reqwest::Url;

/// Maximum length of a name ending, characters.
const ENDING_CHARS: usize = 20;
/// Maximum number of endings.
const MAX_ENDINGS: usize = 100;

/// An external document reader.
#[derive(Debug, Clone)]
pub struct ReaderSettings {
    /// The kind of program.
    pub kind: ReaderKind,
    /// Its address.
    pub url: Url,
    /// Its host, which may be on any network.
    pub host: String,
    /// Its key.
    pub key: Option<Secret>,
    /// The files that it reads.
    pub files: ReaderFiles,
    /// The time for a file.
    pub deadline: Duration,
}

/// The kind of an external document reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderKind {
    /// Apache Tika's server.
    Tika,
    /// Docling's server.
    Docling,
}

impl ReaderKind {
    /// Its name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tika => "tika",
            Self::Docling => "docling",
        }
    }
}

/// The files that the external document reader reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReaderFiles {
    /// Those that are not read otherwise.
    pub unreadable: bool,
    /// Pictures, and documents with scanned pages.
    pub scans: bool,
    /// All.
    pub all: bool,
    /// Those with these name endings, in lower case and without the dot.
    pub endings: Vec<String>,
}

impl ReaderFiles {
    /// Whether these are files with that name ending, in lower case.
    #[must_use]
    pub fn name(&self, ending: &str) -> bool {
        self.endings.iter().any(|it| it == ending)
    }

    /// The words of a list, separated by commas or spaces.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut files = Self::default();
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        for word in words {
            let word = word.trim_start_matches('.').to_lowercase();
            match word.as_str() {
                "unreadable" => files.unreadable = true,
                "scans" => files.scans = true,
                "all" => files.all = true,
                _ => {
                    let is_ending = (1..=ENDING_CHARS).contains(&word.chars().count())
                        && word.chars().all(char::is_alphanumeric);
                    anyhow::ensure!(
                        is_ending && files.endings.len() < MAX_ENDINGS,
                        "knowledge.reader_files must be a list of unreadable, scans, all and endings such as doc"
                    );
                    files.endings.push(word);
                }
            }
        }
        Ok(files)
    }
}

/// A model that transcribes recordings.
#[derive(Debug, Clone)]
pub struct TranscriptionSettings {
    /// The model's id on this server.
    pub model: String,
    /// Maximum size of a recording.
    pub file_bytes: u64,
    /// The time for a recording.
    pub deadline: Duration,
}

/// As in the file.
pub(super) struct RawReader<'a> {
    pub(super) url: &'a str,
    pub(super) kind: &'a str,
    pub(super) key: &'a str,
    pub(super) files: &'a str,
    pub(super) seconds: u64,
}

impl RawReader<'_> {
    /// `None` if there is no address. The other settings have to be valid in any case.
    pub(super) fn check(self) -> anyhow::Result<Option<ReaderSettings>> {
        let kind = match self.kind.trim() {
            "tika" => ReaderKind::Tika,
            "docling" => ReaderKind::Docling,
            _ => anyhow::bail!("knowledge.reader_kind must be tika or docling"),
        };
        anyhow::ensure!(
            (1..=3600).contains(&self.seconds),
            "knowledge.reader_seconds must be 1 to 3600"
        );
        let files = ReaderFiles::parse(self.files)?;
        let url = self.url.trim();
        if url.is_empty() {
            return Ok(None);
        }
        let url: Option<Url> = url.parse().ok().filter(|url: &Url| {
            let is_plain =
                url.username().is_empty() && url.password().is_none() && url.query().is_none();
            matches!(url.scheme(), "http" | "https") && is_plain
        });
        let found = url.and_then(|url| Some((plain_host(&url)?, url)));
        let (host, url) = found.ok_or_else(|| {
            anyhow::anyhow!(
                "knowledge.reader_url must be an address such as http://127.0.0.1:9998, without a user name in it"
            )
        })?;
        let key = self.key.trim();
        Ok(Some(ReaderSettings {
            kind,
            url,
            host,
            key: (!key.is_empty()).then(|| Secret::new(key)),
            files,
            deadline: Duration::from_secs(self.seconds),
        }))
    }
}

/// The settings of transcription; `None` if no model is named.
pub(super) fn transcription(
    model: &str,
    megabytes: u64,
    seconds: u64,
) -> anyhow::Result<Option<TranscriptionSettings>> {
    anyhow::ensure!(
        (1..=500).contains(&megabytes),
        "knowledge.transcription_mb must be 1 to 500"
    );
    anyhow::ensure!(
        (1..=3600).contains(&seconds),
        "knowledge.transcription_seconds must be 1 to 3600"
    );
    let model = model.trim();
    Ok((!model.is_empty()).then(|| TranscriptionSettings {
        model: model.to_owned(),
        file_bytes: megabytes * 1_000_000,
        deadline: Duration::from_secs(seconds),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(url: &str, kind: &str, files: &str) -> anyhow::Result<Option<ReaderSettings>> {
        RawReader {
            url,
            kind,
            key: " ",
            files,
            seconds: 300,
        }
        .check()
    }

    #[test]
    fn a_reader_is_named_by_its_address() {
        assert!(reader(" ", "tika", "").unwrap().is_none());
        let named = reader("http://10.0.0.7:9998/tika", "docling", "Scans, .DOC xls").unwrap();
        let named = named.unwrap();
        assert_eq!(
            (named.host.as_str(), named.kind),
            ("10.0.0.7", ReaderKind::Docling)
        );
        assert!(named.key.is_none() && named.files.scans && !named.files.unreadable);
        assert!(named.files.name("doc") && named.files.name("xls") && !named.files.name("pdf"));
        for (url, kind, files, about) in [
            ("tika:9998", "tika", "", "knowledge.reader_url"),
            ("http://u:p@a", "tika", "", "knowledge.reader_url"),
            ("http://a/?x=1", "tika", "", "knowledge.reader_url"),
            ("", "Word", "", "knowledge.reader_kind"),
            ("", "tika", "a/b", "knowledge.reader_files"),
            ("", "tika", "*", "knowledge.reader_files"),
        ] {
            let error = reader(url, kind, files).unwrap_err().to_string();
            assert!(error.starts_with(about), "{error}");
        }
    }

    #[test]
    fn transcription_has_limits() {
        assert!(transcription(" ", 25, 600).unwrap().is_none());
        let named = transcription("whisper-1", 25, 600).unwrap().unwrap();
        assert_eq!(named.file_bytes, 25_000_000);
        assert!(transcription("", 0, 600).is_err() && transcription("", 25, 3601).is_err());
    }
}
