//! The server's side of one sandbox: starts its keeper, receives its reports, and kills it when dropped.

use std::{
    io::{self, IoSlice},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::Path,
    process::Stdio,
    time::Duration,
};

use rustix::{
    cmsg_space,
    io::ioctl_fionbio,
    net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType, sendmsg, socketpair,
    },
};
use tokio::{
    net::{UnixDatagram, unix::pipe},
    process::{Child, Command},
    time::timeout,
};

use crate::{
    Ended, Error, Limit, Sandbox,
    groups::Group,
    helper::{ALLOCATOR_OPTIONS, KEEPER},
    spec::{MESSAGE_LIMIT_BYTES, Order, Report, Spec},
};

/// Setting up a sandbox takes milliseconds, but the machine may be very busy.
const START: Duration = Duration::from_secs(20);

/// A sandbox with a program in it. Dropping it kills everything inside.
#[derive(Debug)]
pub(crate) struct Running {
    /// The keeper ends the sandbox when this is closed, for whatever reason. It preserves message boundaries like a
    /// datagram socket, and is connected like a stream.
    server: UnixDatagram,
    keeper: Child,
    group: Option<Group>,
}

/// A running sandbox with its standard output and standard error.
type Started = (Running, pipe::Receiver, pipe::Receiver);

impl Running {
    /// Starts `spec.program`. Returns its standard output and standard error once it runs.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`], or [`Error::Start`] with the kernel's error.
    pub(crate) async fn start(
        sandbox: &Sandbox,
        spec: &Spec,
        stdin: OwnedFd,
    ) -> Result<Started, Error> {
        let text = serde_json::to_vec(spec).map_err(|error| Error::Start(error.to_string()))?;
        if text.len() > MESSAGE_LIMIT_BYTES {
            return Err(Error::TooLong {
                limit_bytes: MESSAGE_LIMIT_BYTES,
            });
        }
        let group = sandbox
            .groups()
            .map(|groups| groups.make(&spec.limits))
            .transpose();
        let group = group
            .map_err(|error| Error::Start(format!("could not make its control group: {error}")))?;
        let started = Self::spawn(sandbox.helper(), &text, stdin, group)
            .map_err(|error| Error::Start(error.to_string()))?;
        match timeout(START, started.0.report()).await {
            Ok(Some(Report::Started)) => Ok(started),
            Ok(Some(Report::Failed(why))) => Err(Error::Start(why)),
            Ok(_) => Err(Error::Start("its helper ended without a word".into())),
            Err(_) => Err(Error::Start("its helper does not answer".into())),
        }
    }

    fn spawn(
        helper: &Path,
        text: &[u8],
        stdin: OwnedFd,
        group: Option<Group>,
    ) -> io::Result<Started> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        ioctl_fionbio(&ours, true)?;
        let (stdout_end, stdout) = pipe::pipe()?;
        let (stderr_end, stderr) = pipe::pipe()?;
        let mut streams = vec![
            stdin,
            stdout_end.into_blocking_fd()?,
            stderr_end.into_blocking_fd()?,
        ];
        if let Some(group) = &group {
            streams.push(group.processor_account()?.into());
        }
        send_with(&ours, text, &streams)?;
        let (name, options) = ALLOCATOR_OPTIONS;
        let mut command = std::process::Command::new(helper);
        command
            .arg0("glasshouse-sandbox")
            .arg(KEEPER)
            .env_clear()
            .env(name, options);
        command.args(group.as_ref().map(Group::path));
        command
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/");
        let keeper = Command::from(command).kill_on_drop(true).spawn()?;
        Ok((
            Self {
                server: UnixDatagram::from_std(ours.into())?,
                keeper,
                group,
            },
            stdout,
            stderr,
        ))
    }

    /// The next report; `None` once the helper is gone. Cancel-safe.
    pub(crate) async fn report(&self) -> Option<Report> {
        let mut text = vec![0; 4096];
        let length = self.server.recv(&mut text).await.ok();
        let report = length.and_then(|length| serde_json::from_slice(&text[..length]).ok());
        // When memory runs out, the kernel kills the whole group, including the helper.
        let is_killed = matches!(
            report,
            None | Some(Report::Ended(Ended::Signal(libc::SIGKILL)))
        );
        if is_killed && self.group.as_ref().is_some_and(Group::ran_out_of_memory) {
            return Some(Report::Ended(Ended::Limit(Limit::Memory)));
        }
        report
    }

    /// Sends an order to the init. If it is gone, its reports will say so.
    pub(crate) fn order(&self, order: Order) {
        if let Ok(text) = serde_json::to_vec(&order) {
            let _ = self.server.try_send(&text);
        }
    }

    /// Kills everything in the sandbox, and returns when the kernel has done so.
    pub(crate) async fn end(mut self) {
        drop(self.server);
        // The keeper waits for the kernel; a process in the middle of a large write takes a while.
        let _ = timeout(Duration::from_secs(5), self.keeper.wait()).await;
        drop(self.group);
    }
}

/// Sends a message with the program's streams and other descriptors for the init.
fn send_with(socket: &OwnedFd, text: &[u8], streams: &[OwnedFd]) -> io::Result<()> {
    let streams: Vec<_> = streams.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(4))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&streams));
    sendmsg(
        socket,
        &[IoSlice::new(text)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}
