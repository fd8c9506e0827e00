//! The same API on systems other than Linux, where no sandbox is available.

use std::{convert::Infallible, io, path::Path};

use crate::{
    Cell, Error, File, FolderError, Limits, Options, Outcome, Programs, Stream, Unavailable,
};

/// Not available here.
#[derive(Debug, Clone)]
pub struct Sandbox(Infallible);

/// Not available here.
#[derive(Debug, Clone)]
pub struct Folder(Infallible);

/// Not available here.
#[derive(Debug, Clone)]
pub struct Directory(Infallible);

/// Not available here.
#[derive(Debug)]
pub struct Draft(Infallible);

/// A fingerprint of a file's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub u64);

/// Not available here.
#[derive(Debug, Clone)]
pub struct Command(Infallible);

/// Not available here.
#[derive(Debug)]
pub struct Session(Infallible);

#[expect(missing_docs, reason = "the other ones have it")]
impl Sandbox {
    #[expect(clippy::unused_async, reason = "the other one waits for a program")]
    pub async fn find(_: Options) -> Result<Self, Unavailable> {
        Err(Unavailable::NotLinux)
    }

    #[must_use]
    pub fn programs(&self) -> &Programs {
        match self.0 {}
    }

    #[must_use]
    pub fn accounting(&self) -> String {
        match self.0 {}
    }

    pub fn folder(&self, _: &Path) -> io::Result<Folder> {
        match self.0 {}
    }

    #[must_use]
    pub fn command(&self, _: &Folder, _: &str) -> Command {
        match self.0 {}
    }

    #[must_use]
    pub fn shell(&self, _: &Folder, _: &str) -> Command {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the other one waits for a program")]
    pub async fn session(&self, _: &Folder, _: Limits) -> Result<Session, Error> {
        match self.0 {}
    }
}

#[expect(missing_docs, reason = "the other ones have it")]
impl Folder {
    #[must_use]
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    pub fn put(&self, _: &str, _: &[u8]) -> Result<(), FolderError> {
        match self.0 {}
    }

    pub fn read(&self, _: &str, _: u64) -> Result<Vec<u8>, FolderError> {
        match self.0 {}
    }

    pub fn look(&self, _: &str) -> Result<File, FolderError> {
        match self.0 {}
    }

    pub fn remove(&self, _: &str) -> Result<(), FolderError> {
        match self.0 {}
    }

    pub fn collect(&self, _: usize) -> Result<(Vec<File>, bool), FolderError> {
        match self.0 {}
    }
}

#[expect(missing_docs, reason = "the other ones have it")]
impl Directory {
    pub fn open(_: &Path, _: Vec<String>) -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "directories can be had on Linux only",
        ))
    }

    pub fn list(&self, _: usize) -> Result<(Vec<(File, Mark)>, bool), FolderError> {
        match self.0 {}
    }

    pub fn read(&self, _: &str, _: u64) -> Result<Option<(Vec<u8>, Mark)>, FolderError> {
        match self.0 {}
    }

    pub fn draft(&self, _: &str, _: &[u8], _: Option<Mark>) -> Result<Draft, FolderError> {
        match self.0 {}
    }

    pub fn remove(&self, _: &str, _: Mark) -> Result<(), FolderError> {
        match self.0 {}
    }

    pub fn rename(&self, _: &str, _: &str, _: Mark) -> Result<(), FolderError> {
        match self.0 {}
    }
}

#[expect(missing_docs, reason = "the other ones have it")]
impl Draft {
    pub fn keep(self) -> Result<(), FolderError> {
        match self.0 {}
    }
}

#[expect(missing_docs, reason = "the other ones have it")]
impl Command {
    #[must_use]
    pub fn arg(self, _: impl Into<String>) -> Self {
        match self.0 {}
    }

    #[must_use]
    pub fn env(self, _: &str, _: &str) -> Self {
        match self.0 {}
    }

    #[must_use]
    pub fn limits(self, _: Limits) -> Self {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the other one waits for a program")]
    pub async fn run(self, _: impl FnMut(Stream, &str) + Send) -> Result<Outcome, Error> {
        match self.0 {}
    }
}

#[expect(missing_docs, reason = "the other ones have it")]
impl Session {
    #[must_use]
    pub fn is_alive(&self) -> bool {
        match self.0 {}
    }

    #[expect(clippy::unused_async, reason = "the other one waits for a program")]
    pub async fn run(
        &mut self,
        _: &str,
        _: impl FnMut(Stream, &str) + Send,
    ) -> Result<Cell, Error> {
        match self.0 {}
    }
}
