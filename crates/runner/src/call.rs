//! One call: lays out its files, runs its program, and reports what that has changed.

mod files;

use std::collections::BTreeMap;

use runner_protocol::{Call, CallResult, Outcome, Program, Work};
use sandbox::{Error, Place, Sandbox, Stream, Workdir, Workdirs, discard};
use tokio_util::sync::CancellationToken;

use crate::{
    Runner,
    printer::{Printer, watched},
    server::Failure,
};
use files::{Known, changes, lay_out};

/// Told of a program that was killed because the runner was stopped.
const STOPPED: &str = "The machine that ran this program was shut down, so the program was stopped. What it had changed is lost.";
/// Told of a call whose run does not want it any more.
const UNWANTED: &str = "The program was stopped.";

/// The working directory of a chat. Taken out of its place while a program runs, so that it is removed if that is stopped.
#[derive(Debug)]
pub(crate) struct Chat {
    workdir: Workdir,
    /// The files that the servers know, as they are in the folder.
    known: BTreeMap<String, Known>,
    /// The number of the last call.
    turn: u64,
}

impl Chat {
    async fn new(chats: &Workdirs<Self>) -> std::io::Result<Self> {
        Ok(Self {
            workdir: chats.make().await?,
            known: BTreeMap::new(),
            turn: 0,
        })
    }
}

/// Runs a call to its end, and reports the result.
pub(crate) async fn execute(runner: &Runner, lease: &str, call: Call, ended: &CancellationToken) {
    let Call {
        workspace,
        turn,
        work,
    } = call;
    let mut place = runner.chats.enter(&workspace).await;
    let performed = tokio::select! {
        biased;
        () = ended.cancelled() => Err(UNWANTED.to_owned()),
        () = runner.killing.cancelled() => Err(STOPPED.to_owned()),
        performed = perform(runner, lease, &mut place, turn, &work) => performed,
    };
    let (chat, result) = match performed {
        Ok((chat, result)) => (Some(chat), result),
        Err(why) => (None, failed(why)),
    };
    match report(runner, lease, chat.as_ref(), &work, &result).await {
        Ok(()) => *place = chat,
        Err(error) => {
            tracing::warn!(%error, workspace, "the result of a program was not accepted");
            discard(chat);
        }
    }
}

fn failed(why: String) -> CallResult {
    CallResult {
        outcome: Outcome::Failed(why),
        changed: Vec::new(),
        deleted: Vec::new(),
        left_out: Vec::new(),
        more: false,
    }
}

async fn perform(
    runner: &Runner,
    lease: &str,
    place: &mut Place<Chat>,
    turn: u64,
    work: &Work,
) -> Result<(Chat, CallResult), String> {
    // Taken out: if this is dropped, the folder is discarded.
    let mut chat = match place.take() {
        Some(chat) if chat.turn + 1 == turn => chat,
        other => {
            discard(other);
            let chat = Chat::new(&runner.chats).await;
            chat.map_err(|error| format!("The folder of the chat could not be made: {error}."))?
        }
    };
    chat.turn = turn;
    let mut left_out = lay_out(runner, lease, &mut chat, work).await?;
    let printer = Printer::default();
    let shown = printer.clone();
    let running = run(
        runner.chats.sandbox(),
        &mut chat.workdir,
        work,
        move |_, text| {
            printer.print(text);
        },
    );
    let outcome = watched(&runner.server, lease, &shown, running).await;
    let outcome = outcome.map_err(|error| format!("It could not be run: {error}."))?;
    let mut changes = changes(&mut chat, work.max_file_bytes).await?;
    left_out.append(&mut changes.left_out);
    let result = CallResult {
        outcome,
        changed: changes.changed,
        deleted: changes.deleted,
        left_out: left_out.iter().map(|line| one_line(line)).collect(),
        more: changes.more,
    };
    Ok((chat, result))
}

/// A line as servers accept it.
fn one_line(text: &str) -> String {
    let text: String = text.chars().filter(|it| !it.is_control()).collect();
    text[..text.floor_char_boundary(2_000)].to_owned()
}

async fn run(
    sandbox: &Sandbox,
    workdir: &mut Workdir,
    work: &Work,
    on_output: impl FnMut(Stream, &str) + Send,
) -> Result<Outcome, Error> {
    match &work.program {
        Program::Script { script, variables } => {
            let command = sandbox
                .shell(workdir.folder(), script)
                .limits(work.limits.clone());
            let command = variables
                .iter()
                .fold(command, |command, (name, value)| command.env(name, value));
            Ok(Outcome::Script(command.run(on_output).await?))
        }
        Program::Cell { code, restart } => {
            let running = workdir.run_cell(sandbox, &work.limits, code, *restart, on_output);
            let (started, cell) = running.await?;
            Ok(Outcome::Cell { started, cell })
        }
    }
}

/// Reports the result, and stores the contents that the server lacks before.
async fn report(
    runner: &Runner,
    lease: &str,
    chat: Option<&Chat>,
    work: &Work,
    result: &CallResult,
) -> Result<(), Failure> {
    let missing = runner.server.finish(lease, result).await?;
    let Some(chat) = chat.filter(|_| !missing.is_empty()) else {
        return Ok(());
    };
    for hash in missing {
        let Some(file) = result.changed.iter().find(|file| file.sha256 == hash) else {
            continue;
        };
        let (folder, path, limit) = (
            chat.workdir.folder().clone(),
            file.path.clone(),
            work.max_file_bytes,
        );
        let read = tokio::task::spawn_blocking(move || folder.read(&path, limit)).await;
        let content = match read {
            Ok(Ok(content)) => content,
            Ok(Err(error)) => return Err(Failure::Unreachable(error.to_string())),
            Err(error) => return Err(Failure::Unreachable(error.to_string())),
        };
        runner.server.store(lease, hash, content).await?;
    }
    match runner.server.finish(lease, result).await?.is_empty() {
        true => Ok(()),
        false => Err(Failure::Unreachable(
            "the server asks for the same contents again".into(),
        )),
    }
}
