//! How messages reach the browser and come back: whole ones, in order, either way.

use std::io;
use std::os::fd::OwnedFd;

use bytes::Bytes;
use nix::fcntl::{FcntlArg, fcntl};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;

use crate::lines::{Frame, Splitter};

/// What ends a message on the pipe. JSON never holds one.
pub(super) const END: u8 = 0;

/// Bytes that a pipe holds: 64 KiB by default, which would cost a big reply a switch of tasks each.
const PIPE: i32 = 1024 * 1024;

/// Both directions, before they are split.
#[derive(Debug)]
pub struct Transport {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
}

/// The half that sends.
#[derive(Debug)]
pub(super) enum Sender {
    Pipe(pipe::Sender),
}

/// The half that receives.
#[derive(Debug)]
pub(super) enum Receiver {
    Pipe(pipe::Receiver, Splitter),
}

impl Transport {
    /// The pipe of a browser started with `--remote-debugging-pipe`: `write` is our end of its
    /// fd 3, `read` our end of its fd 4. Both become non-blocking.
    ///
    /// To be called inside the runtime. Fails if either is not a pipe's proper end.
    pub fn pipe(write: OwnedFd, read: OwnedFd) -> io::Result<Transport> {
        for end in [&write, &read] {
            // Denied beyond the user's quota: the pipe then stays as it is.
            let _ = fcntl(end, FcntlArg::F_SETPIPE_SZ(PIPE));
        }
        Ok(Transport {
            sender: Sender::Pipe(pipe::Sender::from_owned_fd(write)?),
            receiver: Receiver::Pipe(
                pipe::Receiver::from_owned_fd(read)?,
                Splitter::new(END, usize::MAX),
            ),
        })
    }
}

impl Sender {
    /// Sends messages, each followed by [`END`]. Not to be cancelled: half a message may be out.
    pub(super) async fn send(&mut self, messages: &[u8]) -> io::Result<()> {
        match self {
            Sender::Pipe(pipe) => pipe.write_all(messages).await,
        }
    }
}

impl Receiver {
    /// The next message; `None` at the end.
    pub(super) async fn receive(&mut self) -> io::Result<Option<Bytes>> {
        match self {
            Receiver::Pipe(pipe, splitter) => loop {
                match splitter.next() {
                    Some(Frame::Line(message)) => return Ok(Some(message)),
                    Some(Frame::TooLong) => continue,
                    None => {}
                }
                if pipe.read_buf(splitter.space()).await? == 0 {
                    return Ok(None);
                }
            },
        }
    }
}
