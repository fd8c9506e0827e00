//! Hostile and broken servers: programs of a few lines of shell, and web servers of a few lines of ours. Whatever they do,
//! it ends in a state and a sentence.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy spares only the test functions themselves"
)]

mod loose;
mod stdio;
mod web;

use std::{path::PathBuf, sync::Arc, time::Duration};

use mcp::{Call, CallError, CallEvent, Definition, Server, State, Transport};
use serde_json::{Map, json};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// A server that is stopped when the test ends.
pub(crate) struct Tried {
    pub(crate) server: Arc<Server>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// Also ends with the test.
    pub(crate) also: Option<DropGuard>,
}

impl Drop for Tried {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

pub(crate) fn start(way: Transport) -> Tried {
    let tasks = TaskTracker::new();
    let stopping = CancellationToken::new();
    let call_timeout = Duration::from_millis(1_500);
    let definition = Definition {
        name: "odd".into(),
        way,
        only: Vec::new(),
        call_timeout,
    };
    let server = Server::start(definition, &tasks, stopping.clone());
    Tried {
        server,
        tasks,
        stopping,
        also: None,
    }
}

impl Tried {
    pub(crate) async fn names(&self) -> Vec<String> {
        let status = self.server.connected(Duration::from_secs(10)).await;
        assert_eq!(status.state, State::Connected, "{status:?}");
        status.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    pub(crate) async fn problem(&self) -> String {
        let status = self.server.first_attempt(Duration::from_secs(10)).await;
        assert_eq!(status.state, State::Down, "{status:?}");
        status.problems[0].to_string()
    }

    pub(crate) async fn call(&self, asker: &str) -> Call {
        let arguments: Map<_, _> = json!({ "a": 1 }).as_object().unwrap().clone();
        self.server
            .call("a", arguments, asker.to_owned())
            .await
            .unwrap()
    }
}

/// The end of a call without questions.
pub(crate) async fn end_of(call: &mut Call) -> Result<String, CallError> {
    loop {
        match call.next().await {
            CallEvent::Ended(result) => return result.map(|answer| answer.text()),
            CallEvent::Progress(_) => {}
            CallEvent::Asks(question) => panic!("it asks {question:?}"),
        }
    }
}

/// A new folder of this test.
pub(crate) fn new_folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("mcp-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The line that a program writes into this file, once it is there.
pub(crate) async fn line_in(file: &std::path::Path) -> String {
    for _ in 0..500 {
        if let Some(line) = std::fs::read_to_string(file)
            .ok()
            .filter(|line| line.ends_with('\n'))
        {
            return line;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing was written to {}", file.display());
}
