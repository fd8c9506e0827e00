//! A Python process that keeps its variables between the cells of a chat.

use std::{
    os::fd::OwnedFd,
    os::unix::net::UnixStream as Pair,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::AsyncWriteExt,
    net::UnixStream,
    time::{sleep_until, timeout},
};

use crate::{
    Cell, CellEnd, Ended, Error, Folder, Limit, Limits, Raised, Sandbox, Stream,
    running::Running,
    spec::{Order, Report, Spec},
    streams::Streams,
    view::DRIVER,
};

/// Maximum size of a cell's code, in bytes.
const CODE_LIMIT_BYTES: usize = 128 * 1024;
/// Maximum size of an answer. Its texts have their own limits, and each character takes up to 12 bytes in JSON.
const ANSWER_LIMIT_BYTES: usize = 1024 * 1024;
const PICTURES_LIMIT: usize = 20;
/// Maximum time for the init to stop everything after a cell.
const PAUSE: Duration = Duration::from_secs(20);

/// A Python process with its variables. It is stopped between cells, and may be dropped at any time, which kills it.
#[derive(Debug)]
pub struct Session {
    /// Taken out while a cell runs, so that it is dropped if the cell is.
    live: Option<Live>,
    folder: Folder,
    limits: Limits,
    cells: u64,
}

#[derive(Debug)]
struct Live {
    running: Running,
    streams: Streams,
    driver: UnixStream,
    /// The part of the next answer received so far.
    received: Vec<u8>,
}

#[derive(Serialize)]
struct Request<'a> {
    cell: u64,
    code: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    cell: u64,
    value: Option<String>,
    raised: Option<AnswerRaised>,
    pictures: Vec<String>,
}

#[derive(Deserialize)]
struct AnswerRaised {
    kind: String,
    message: String,
    traceback: String,
}

/// How a cell ended.
enum Over {
    Answered { answer: Answer, interrupted: bool },
    Lost(String),
}

impl Sandbox {
    /// Starts a Python process in `folder`. The time limits apply to each cell.
    ///
    /// # Errors
    ///
    /// [`Error::Start`].
    pub async fn session(&self, folder: &Folder, limits: Limits) -> Result<Session, Error> {
        let start = |error: std::io::Error| Error::Start(error.to_string());
        let (ours, theirs) = Pair::pair().map_err(start)?;
        ours.set_nonblocking(true).map_err(start)?;
        let spec = Spec {
            view: self.view().clone(),
            folder: folder.path().to_path_buf(),
            program: self.python(),
            // The environment and the folder must not affect how it starts.
            args: ["-I", "-B", DRIVER].map(str::to_owned).into(),
            environment: self.environment(),
            limits: limits.clone(),
            session: true,
            user: self.user(),
        };
        let (running, stdout, stderr) = Running::start(self, &spec, OwnedFd::from(theirs)).await?;
        let live = Live {
            running,
            streams: Streams::new(stdout, stderr, limits.output_bytes),
            driver: UnixStream::from_std(ours).map_err(start)?,
            received: Vec::new(),
        };
        Ok(Session {
            live: Some(live),
            folder: folder.clone(),
            limits,
            cells: 0,
        })
    }
}

impl Session {
    /// Whether its variables still exist.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.live.is_some()
    }

    /// Runs a cell. Output is passed to `on_output` as it arrives. A cell that takes longer than `wall_ms` is
    /// interrupted, and killed with the session if that does not help. If dropped before the end, the session is
    /// killed.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] and [`Error::SessionEnded`].
    pub async fn run(
        &mut self,
        code: &str,
        mut on_output: impl FnMut(Stream, &str) + Send,
    ) -> Result<Cell, Error> {
        if code.len() > CODE_LIMIT_BYTES {
            return Err(Error::TooLong {
                limit_bytes: CODE_LIMIT_BYTES,
            });
        }
        let mut live = self.live.take().ok_or(Error::SessionEnded)?;
        self.cells += 1;
        let began = Instant::now();
        let mut over = live
            .run(self.cells, code, &self.limits, &mut on_output)
            .await;
        if let Over::Answered { .. } = over
            && let Err(why) = live.pause().await
        {
            over = Over::Lost(why);
        }
        let time_ms = crate::millis(began.elapsed());
        let (end, pictures, streams) = match over {
            Over::Answered {
                answer,
                interrupted,
            } => {
                live.streams.sweep(&mut on_output);
                let streams = live.streams.take(&mut on_output);
                self.live = Some(live);
                let pictures = self.checked(answer.pictures);
                (
                    cell_end(answer.value, answer.raised, interrupted),
                    pictures,
                    streams,
                )
            }
            Over::Lost(why) => {
                live.running.end().await;
                live.streams.drain(&mut on_output).await;
                (
                    CellEnd::Lost(why),
                    Vec::new(),
                    live.streams.take(&mut on_output),
                )
            }
        };
        let (stdout, stderr) = streams;
        Ok(Cell {
            end,
            stdout,
            stderr,
            pictures,
            time_ms,
        })
    }

    /// The names of regular files with a PNG signature, since a cell can claim anything.
    fn checked(&self, mut pictures: Vec<String>) -> Vec<String> {
        pictures.sort_unstable();
        pictures.dedup();
        pictures.truncate(PICTURES_LIMIT);
        pictures.retain(|path| path.ends_with(".png") && self.folder.begins(path, b"\x89PNG\r\n"));
        pictures
    }
}

fn cell_end(value: Option<String>, raised: Option<AnswerRaised>, interrupted: bool) -> CellEnd {
    // The driver should respect these limits, but may have been modified by the cell.
    let cut = |text: String, limit: usize| match text.char_indices().nth(limit) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    };
    // A program that the cell waited for may have been killed instead of the cell.
    let ended_below = || AnswerRaised {
        kind: "KeyboardInterrupt".into(),
        message: String::new(),
        traceback: String::new(),
    };
    match raised.or_else(|| interrupted.then(ended_below)) {
        Some(AnswerRaised {
            kind,
            message,
            traceback,
        }) => {
            let raised = Raised {
                kind: cut(kind, 250),
                message: cut(message, 2_100),
                traceback: cut(traceback, 20_100),
            };
            if interrupted {
                CellEnd::Interrupted(raised)
            } else {
                CellEnd::Raised(raised)
            }
        }
        None => CellEnd::Value(value.map(|value| cut(value, 20_100))),
    }
}

impl Live {
    async fn run(
        &mut self,
        cell: u64,
        code: &str,
        limits: &Limits,
        on_output: &mut (impl FnMut(Stream, &str) + Send),
    ) -> Over {
        let Self {
            running,
            streams,
            driver,
            received,
        } = self;
        running.order(Order::Resume);
        let mut deadline = tokio::time::Instant::now() + Duration::from_millis(limits.wall_ms);
        let mut interrupted = false;
        let mut talk = std::pin::pin!(talk(driver, received, cell, code));
        let mut output = std::pin::pin!(async {
            streams.pump(on_output).await;
            // The cell may continue after closing its outputs.
            std::future::pending::<()>().await;
        });
        loop {
            tokio::select! {
                answer = &mut talk => return match answer {
                    Ok(answer) => Over::Answered { answer, interrupted },
                    // If the process has ended, its end explains why there is no answer.
                    Err(why) => Over::Lost(ending(running).await.unwrap_or(why)),
                },
                () = &mut output => {}
                report = running.report() => if let Some(why) = lost(report) {
                    return Over::Lost(why);
                },
                () = sleep_until(deadline) => {
                    if interrupted {
                        return Over::Lost(
                            "it took too long and could not be interrupted, so Python was ended; its variables are gone".into(),
                        );
                    }
                    interrupted = true;
                    running.order(Order::Interrupt);
                    deadline += Duration::from_millis(limits.interrupt_grace_ms);
                }
            }
        }
    }

    /// Stops everything until the next cell.
    async fn pause(&mut self) -> Result<(), String> {
        self.running.order(Order::Pause);
        let paused = async {
            loop {
                match self.running.report().await {
                    Some(Report::Paused) => return Ok(()),
                    report => {
                        if let Some(why) = lost(report) {
                            return Err(why);
                        }
                    }
                }
            }
        };
        timeout(PAUSE, paused)
            .await
            .unwrap_or_else(|_| Err("the sandbox does not answer".into()))
    }
}

/// What a report says about the end of a session.
fn lost(report: Option<Report>) -> Option<String> {
    match report {
        Some(Report::Ended(Ended::Limit(Limit::Wall))) | None => {
            Some("Python was killed from outside; its variables are gone".into())
        }
        Some(Report::Ended(Ended::Exit(code))) => Some(format!(
            "Python ended itself with exit code {code}; its variables are gone"
        )),
        Some(Report::Ended(ended)) => Some(format!(
            "{ended}, so Python was ended; its variables are gone"
        )),
        Some(_) => None,
    }
}

/// The end of the process, which arrives at about the same time as the end of an answer.
async fn ending(running: &Running) -> Option<String> {
    timeout(Duration::from_millis(500), async {
        lost(running.report().await)
    })
    .await
    .ok()
    .flatten()
}

/// Sends a cell and reads its answer.
async fn talk(
    driver: &mut UnixStream,
    received: &mut Vec<u8>,
    cell: u64,
    code: &str,
) -> Result<Answer, String> {
    let spoilt = |why: &str| {
        format!("the code has spoilt the channel of its session ({why}); its variables are gone")
    };
    let mut line =
        serde_json::to_vec(&Request { cell, code }).map_err(|error| error.to_string())?;
    line.push(b'\n');
    driver
        .write_all(&line)
        .await
        .map_err(|_| spoilt("closed"))?;
    loop {
        if let Some((length, rest)) = received.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > ANSWER_LIMIT_BYTES {
                return Err(spoilt("no answer"));
            }
            if rest.len() >= length {
                let answer = serde_json::from_slice::<Answer>(&rest[..length])
                    .map_err(|_| spoilt("no answer"))?;
                let clean = rest.len() == length && answer.cell == cell;
                received.clear();
                return if clean {
                    Ok(answer)
                } else {
                    Err(spoilt("another answer"))
                };
            }
        }
        driver.readable().await.map_err(|_| spoilt("closed"))?;
        match driver.try_read_buf(received) {
            Ok(0) => return Err(spoilt("closed")),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                return Err(spoilt("closed"));
            }
            _ => {}
        }
    }
}
