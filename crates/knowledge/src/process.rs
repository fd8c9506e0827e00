//! Reads files in a process of its own, so that a file that takes all memory, never ends or brings a parser down takes
//! nothing else with it: the program starts itself again as a helper that gets the file and gives the document.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    panic,
    path::PathBuf,
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{Document, Format, Limits, Unreadable, read};

/// The first argument of the helper.
const READER: &str = "glasshouse-document-reader";
/// What JSON makes of a text at most, and its headings beside it.
const ANSWER_FACTOR: u64 = 8;

/// For a web page, which takes a second where it has 10 MB.
const PAGE_SECONDS: u64 = 15;
/// How soon a file is given up.
const LOOK: Duration = Duration::from_millis(100);

/// What the helper answers.
type Answer = Result<Document, Unreadable>;

/// Has to be among the first things that the program's `main` does: where this process was started to read a file, it
/// does so, and `main` returns the code.
#[must_use]
pub fn become_reader() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != READER {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    Some(match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// The limits and the file's name, as the helper gets them before the file.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    name: String,
    limits: Limits,
}

fn serve(arguments: &[OsString]) -> io::Result<()> {
    let task = arguments
        .first()
        .and_then(|text| text.to_str())
        .ok_or(io::ErrorKind::InvalidInput)?;
    let Task { name, limits } = serde_json::from_str(task)?;
    shut_in(&limits);
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limits.file_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    // A parser that stumbles over a file says so by a panic.
    let answer: Answer = panic::catch_unwind(|| read(&name, &bytes, &limits))
        .unwrap_or_else(|_| Err(Unreadable::damaged("a document")));
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &answer)?;
    out.flush()
}

/// The kernel ends what goes beyond this. Where it cannot be set, the clock outside still ends it.
#[cfg(unix)]
fn shut_in(limits: &Limits) {
    use rlimit::Resource;
    // What is mapped counts, not what is used: the program itself and the allocator's reserve need some.
    let _ = Resource::AS.set(limits.memory_bytes, limits.memory_bytes);
    let _ = Resource::CPU.set(limits.seconds, limits.seconds.saturating_add(1));
    let _ = Resource::FSIZE.set(0, 0);
    let _ = Resource::CORE.set(0, 0);
}

#[cfg(not(unix))]
fn shut_in(_: &Limits) {}

/// Starts helpers.
#[derive(Debug, Clone)]
pub struct ReadingProcess {
    program: PathBuf,
}

impl ReadingProcess {
    /// `program` calls [`become_reader`]; a server names itself.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Reads a file. It blocks until the document is there or its time is over.
    ///
    /// # Errors
    /// Why there is no text of it.
    pub fn read(&self, name: &str, bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
        self.read_until(name, bytes, limits, &AtomicBool::new(false))
    }

    /// The same, until somebody sets `given_up`: then its time is over.
    ///
    /// # Errors
    /// Why there is no text of it.
    pub fn read_until(
        &self,
        name: &str,
        bytes: &[u8],
        limits: &Limits,
        given_up: &AtomicBool,
    ) -> Result<Document, Unreadable> {
        if bytes.len() as u64 > limits.file_bytes {
            return Err(Unreadable::TooLarge {
                limit_bytes: limits.file_bytes,
            });
        }
        let limits = &within_format(name, bytes, *limits);
        let task = Task {
            name: name.to_owned(),
            limits: *limits,
        };
        let mut child = self.start(&task).map_err(fault)?;
        let answer = self.ask(&mut child, bytes, limits, given_up);
        // It has said all that it had to say, or too little in its time; most often it has ended.
        let _ = child.kill();
        let status = child.wait().map_err(fault)?;
        let answer = answer.unwrap_or(Err(Unreadable::TooSlow {
            limit_seconds: limits.seconds,
        }));
        answer.map_err(|error| {
            if error == Unreadable::TooMuchMemory {
                ended(status, limits)
            } else {
                error
            }
        })
    }

    fn start(&self, task: &Task) -> io::Result<Child> {
        Command::new(&self.program)
            .arg(READER)
            .arg(serde_json::to_string(task)?)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }

    /// `None` where the time is over; a helper that said nothing is for now taken to have had too little memory.
    fn ask(
        &self,
        child: &mut Child,
        bytes: &[u8],
        limits: &Limits,
        given_up: &AtomicBool,
    ) -> Option<Answer> {
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return None;
        };
        let (send, receive) = mpsc::channel();
        let most = limits
            .text_bytes
            .saturating_mul(ANSWER_FACTOR)
            .saturating_add(1_000_000);
        thread::scope(|scope| {
            // A helper that ends early does not read all.
            scope.spawn(move || input.write_all(bytes));
            scope.spawn(move || {
                let mut answer = Vec::new();
                let read = output.take(most).read_to_end(&mut answer);
                let _ = send.send(read.map(|_| answer));
            });
            let answer = wait(
                &receive,
                Duration::from_secs(limits.seconds.saturating_add(1)),
                given_up,
            );
            if answer.is_none() {
                // Ends the threads, too: their pipes break.
                let _ = child.kill();
            }
            let answer = answer?.unwrap_or_default();
            Some(serde_json::from_slice(&answer).unwrap_or(Err(Unreadable::TooMuchMemory)))
        })
    }
}

/// The same limits with less time for what is read in no time unless it was made against parsers.
fn within_format(name: &str, bytes: &[u8], limits: Limits) -> Limits {
    match Format::of(name, bytes) {
        Ok(Format::Html) => Limits {
            seconds: limits.seconds.min(PAGE_SECONDS),
            ..limits
        },
        _ => limits,
    }
}

/// What comes in this time; nothing where nothing does, or it is given up.
fn wait<T>(receive: &Receiver<T>, time: Duration, given_up: &AtomicBool) -> Option<T> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match receive.recv_timeout(left.min(LOOK)) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !given_up.load(Relaxed) => {}
            Err(_) => return None,
        }
    }
}

/// Why a helper ended without an answer.
#[cfg(unix)]
fn ended(status: ExitStatus, limits: &Limits) -> Unreadable {
    use std::os::unix::process::ExitStatusExt;
    // The numbers of these signals are the same on all systems that matter here.
    const ABORTED: i32 = 6;
    const TOO_LONG: i32 = 24;
    const KILLED: i32 = 9;
    match status.signal() {
        Some(TOO_LONG) => Unreadable::TooSlow {
            limit_seconds: limits.seconds,
        },
        // Rust aborts where there is no more memory, and also where the stack is at its end. A helper that ends by itself
        // could not even read the file.
        Some(ABORTED | KILLED) | None => Unreadable::TooMuchMemory,
        Some(_) => Unreadable::damaged("a document"),
    }
}

#[cfg(not(unix))]
fn ended(_: ExitStatus, _: &Limits) -> Unreadable {
    Unreadable::damaged("a document")
}

fn fault(error: impl std::fmt::Display) -> Unreadable {
    Unreadable::Fault {
        cause: error.to_string(),
    }
}
