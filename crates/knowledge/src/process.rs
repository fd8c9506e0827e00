//! Reads files in a separate process, so that a file that exhausts memory, never finishes or crashes a parser affects
//! nothing else: the program starts itself as a helper that receives the file and returns the document.

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

use crate::{
    Converter, Document, Format, Limits, Recognizer, Unreadable,
    read::{self, Scope},
    recognition::Recognition,
};

/// The first argument of the helper.
const READER: &str = "glasshouse-document-reader";
/// Upper bound of how much larger a text becomes as JSON with its headings.
const ANSWER_FACTOR: u64 = 8;

/// Time limit for a web page; one of 10 MB takes a second.
const PAGE_SECONDS: u64 = 15;
/// Interval at which cancellation is checked.
const LOOK: Duration = Duration::from_millis(100);

/// The helper's answer.
type Answer = Result<Document, Unreadable>;

/// Must be called early in the program's `main`: if this process was started to read a file, it does so, and `main`
/// returns the exit code.
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

/// The limits and the file's name, sent to the helper before the file.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    name: String,
    limits: Limits,
    /// Recognizes text in pictures.
    recognizer: Option<Recognizer>,
    /// What has converted the file.
    #[serde(default)]
    converter: Option<Converter>,
}

fn serve(arguments: &[OsString]) -> io::Result<()> {
    let task = arguments
        .first()
        .and_then(|text| text.to_str())
        .ok_or(io::ErrorKind::InvalidInput)?;
    let Task {
        name,
        limits,
        recognizer,
        converter,
    } = serde_json::from_str(task)?;
    shut_in(&limits, recognizer.as_ref());
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limits.file_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    // A parser that fails on a file may panic.
    let answer: Answer = panic::catch_unwind(|| {
        if let Some(converter) = converter {
            return read::read_converted(converter, &bytes, &limits);
        }
        let mut recognition = Recognition::new(recognizer.as_ref()).before_page(before_page);
        read::read_in(&name, &bytes, &mut Scope::new(&limits, &mut recognition))
    })
    .unwrap_or_else(|_| Err(Unreadable::damaged("a document")));
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &answer)?;
    out.flush()
}

/// The kernel kills a process that exceeds these limits. If they cannot be set, the timeout outside still applies.
#[cfg(unix)]
fn shut_in(limits: &Limits, recognizer: Option<&Recognizer>) {
    use rlimit::Resource;
    // This limits mapped memory, not used memory; the program itself and the allocator's reserve need some.
    let _ = Resource::AS.set(limits.memory_bytes, limits.memory_bytes);
    // Before each picture of a page, the first of these limits is raised.
    let most = limits
        .seconds
        .saturating_add(recognition_seconds(recognizer));
    let _ = Resource::CPU.set(limits.seconds, most.saturating_add(1));
    let _ = Resource::FSIZE.set(0, 0);
    let _ = Resource::CORE.set(0, 0);
}

#[cfg(not(unix))]
fn shut_in(_: &Limits, _: Option<&Recognizer>) {}

/// The additional time for a document whose pages are pictures.
fn recognition_seconds(recognizer: Option<&Recognizer>) -> u64 {
    recognizer.map_or(0, |it| it.limits().document_seconds)
}

/// Allows as much processor time for the picture of a page as for a whole document without pictures, and stops if
/// the process that waits for the document is gone.
#[cfg(unix)]
fn before_page(limits: &Limits, elapsed: Duration) {
    use rlimit::Resource;
    /// The parent of processes whose own parent is gone.
    const INIT: u32 = 1;
    if std::os::unix::process::parent_id() == INIT {
        std::process::exit(1);
    }
    // With one thread, no more processor time than this was used.
    let allowed = elapsed.as_secs().saturating_add(limits.seconds);
    if let Ok((_, most)) = Resource::CPU.get() {
        let _ = Resource::CPU.set(allowed.min(most), most);
    }
}

#[cfg(not(unix))]
fn before_page(_: &Limits, _: Duration) {}

/// Starts helpers.
#[derive(Debug, Clone)]
pub struct ReadingProcess {
    program: PathBuf,
    recognizer: Option<Recognizer>,
}

impl ReadingProcess {
    /// `program` has to call [`become_reader`]; a server passes its own executable.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            recognizer: None,
        }
    }

    /// The same, but reads the text in pictures, too, which takes some seconds for each page.
    #[must_use]
    pub fn recognizing(self, recognizer: Recognizer) -> Self {
        Self {
            recognizer: Some(recognizer),
            ..self
        }
    }

    /// Reads a file. Blocks until the document is complete or the time limit is reached.
    ///
    /// # Errors
    /// The reason why there is no text.
    pub fn read(&self, name: &str, bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
        self.read_until(name, bytes, limits, &AtomicBool::new(false))
    }

    /// Like [`ReadingProcess::read`], but stops as on a timeout once `given_up` is set.
    ///
    /// # Errors
    /// The reason why there is no text.
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
        let limits = within_format(name, bytes, *limits);
        let task = Task {
            name: name.to_owned(),
            limits,
            recognizer: self.recognizer.clone(),
            converter: None,
        };
        self.run(&task, bytes, given_up)
    }

    /// Reads the answer of a program that has converted a file, as [`ReadingProcess::read_until`] reads files.
    ///
    /// # Errors
    /// The reason why there is no text.
    pub fn read_converted_until(
        &self,
        converter: Converter,
        answer: &[u8],
        limits: &Limits,
        given_up: &AtomicBool,
    ) -> Result<Document, Unreadable> {
        let task = Task {
            name: String::new(),
            limits: Limits {
                file_bytes: answer.len() as u64,
                ..*limits
            },
            recognizer: None,
            converter: Some(converter),
        };
        self.run(&task, answer, given_up)
    }

    fn run(
        &self,
        task: &Task,
        bytes: &[u8],
        given_up: &AtomicBool,
    ) -> Result<Document, Unreadable> {
        let limits = &task.limits;
        let mut child = self.start(task).map_err(fault)?;
        let answer = self.ask(&mut child, bytes, limits, given_up);
        // It has answered or timed out; usually it has already exited.
        kill(&mut child);
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
        let mut command = Command::new(&self.program);
        // The programs that it starts are killed with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .arg(READER)
            .arg(serde_json::to_string(task)?)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }

    /// `None` on timeout. A helper without an answer is provisionally assumed to have run out of memory.
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
        let seconds = limits
            .seconds
            .saturating_add(recognition_seconds(self.recognizer.as_ref()));
        thread::scope(|scope| {
            // A helper that exits early does not read everything.
            scope.spawn(move || input.write_all(bytes));
            scope.spawn(move || {
                let mut answer = Vec::new();
                let read = output.take(most).read_to_end(&mut answer);
                let _ = send.send(read.map(|_| answer));
            });
            let answer = wait(
                &receive,
                Duration::from_secs(seconds.saturating_add(1)),
                given_up,
            );
            if answer.is_none() {
                // Also ends the threads, since their pipes break.
                kill(child);
            }
            let answer = answer?.unwrap_or_default();
            Some(serde_json::from_slice(&answer).unwrap_or(Err(Unreadable::TooMuchMemory)))
        })
    }
}

/// Kills the helper and what it has started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // It is the leader of its group, whose number stays taken until it is waited for.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
}

/// The same limits, with less time for formats that are read almost instantly unless crafted against parsers.
fn within_format(name: &str, bytes: &[u8], limits: Limits) -> Limits {
    match Format::of(name, bytes) {
        Ok(Format::Html) => Limits {
            seconds: limits.seconds.min(PAGE_SECONDS),
            ..limits
        },
        _ => limits,
    }
}

/// The value received within this time; `None` if there is none or reading was cancelled.
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

/// Why a helper exited without an answer.
#[cfg(unix)]
fn ended(status: ExitStatus, limits: &Limits) -> Unreadable {
    use std::os::unix::process::ExitStatusExt;
    // These signals have the same numbers on all relevant systems.
    const ABORTED: i32 = 6;
    const TOO_LONG: i32 = 24;
    const KILLED: i32 = 9;
    match status.signal() {
        Some(TOO_LONG) => Unreadable::TooSlow {
            limit_seconds: limits.seconds,
        },
        // Rust aborts both when out of memory and on stack overflow. A helper that exits by itself could not even read
        // the file.
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
