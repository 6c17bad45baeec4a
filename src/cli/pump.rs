//! `tabd -`: lines from stdin to the daemon, lines from the daemon to stdout.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::path::Path;

use super::connect::Address;
use super::start::Oneshot;
use super::words::Route;
use crate::error::{Code, Error, Result};

/// Copies until the daemon has answered everything and closed. The end of stdin is passed on as a
/// half-close, so every request that was read is still answered; with a subscription the daemon
/// goes on until stdout's reader or the daemon ends.
pub fn run(route: &Route, here: &Path) -> Result<()> {
    let (stream, _oneshot) = match &route.oneshot {
        Some(flags) => {
            let (oneshot, stream) = Oneshot::start(flags)?;
            (stream, Some(oneshot))
        }
        None => (
            Address::find(route.socket.as_deref(), here)?.connect()?,
            None,
        ),
    };
    // Unbuffered: a line is passed on when it comes.
    let stdin = unbuffered(io::stdin().as_fd())?;
    let stdout = unbuffered(io::stdout().as_fd())?;
    let requests = stream.try_clone().map_err(|e| broke(&e))?;
    std::thread::spawn(move || {
        // What keeps the requests from being written shows on the reading side.
        let _ = copy(&stdin, &requests);
        let _ = requests.shutdown(Shutdown::Write);
    });
    match copy(&stream, &stdout) {
        Err(Broken::Write(e)) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Code::Io.because(format!("cannot write to stdout: {e}")))
        }
        Err(Broken::Read(e)) => Err(broke(&e)),
        _ => Ok(()),
    }
}

fn unbuffered(fd: std::os::fd::BorrowedFd) -> Result<File> {
    let owned = fd.try_clone_to_owned().map_err(|e| broke(&e))?;
    Ok(File::from(owned))
}

fn broke(error: &io::Error) -> Error {
    Code::Io.because(format!("the connection to the daemon broke: {error}"))
}

enum Broken {
    Read(io::Error),
    Write(io::Error),
}

fn copy(mut from: impl Read, mut to: impl Write) -> Result<(), Broken> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => to.write_all(&buffer[..n]).map_err(Broken::Write)?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Broken::Read(e)),
        }
    }
}
