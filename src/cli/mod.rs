//! The command line: argv → request by schema, a connection, output and exit status.

pub mod arguments;
mod call;
mod connect;
pub mod flags;
pub mod options;
mod print;
mod pump;
mod start;
mod value;
pub mod words;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

pub use print::first_sentence;
pub use value::{is_list as takes_list, kinds};

use crate::error::{Code, Error};
use crate::{browser, help, server};
use words::Command;

/// `ok:false`, or no answer.
const FAILED: u8 = 1;
/// The command line makes no sense.
const USAGE: u8 = 2;

/// Does what the words after the program's name say; the exit status is 0 for `ok:true`, 1 for
/// `ok:false` or no answer, 2 for usage.
pub fn main(argv: impl Iterator<Item = OsString>) -> ExitCode {
    let mut words = Vec::new();
    for (n, word) in argv.enumerate() {
        match word.into_string() {
            Ok(word) => words.push(word),
            Err(word) => {
                return usage(&Code::BadRequest.because(format!(
                    "argument {} is not UTF-8: {}",
                    n + 1,
                    word.display()
                )));
            }
        }
    }
    let here = std::env::current_dir().unwrap_or_default();
    match words::parse(&words, &here) {
        Ok(Command::Version) => say(&format!("tabd {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Command::Help(topic)) => match help::page(&topic) {
            Ok(text) => say(&text),
            Err(error) => usage(&error),
        },
        Ok(Command::Daemon(words)) => match flags::parse(&words, variable, &here) {
            Ok(flags) => daemon(flags),
            Err(Ok(text)) => say(&text),
            Err(Err(error)) => usage(&error),
        },
        Ok(Command::Pump(route)) => match checked(&route, &here) {
            Err(error) => usage(&error),
            Ok(()) => match pump::run(&route, &here) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => failed(&error),
            },
        },
        Ok(Command::Call(invocation)) => match checked(&invocation.route, &here) {
            Err(error) => usage(&error),
            Ok(()) => call::run(*invocation, &here),
        },
        Err(error) => usage(&error),
    }
}

/// A daemon's flags behind `--oneshot` are checked here, where they were written.
fn checked(route: &words::Route, here: &std::path::Path) -> Result<(), Error> {
    let Some(flags) = &route.oneshot else {
        return Ok(());
    };
    match flags::parse(flags, variable, here) {
        Err(Err(error)) => Err(error),
        _ => Ok(()),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Runs the daemon until its end.
fn daemon(flags: flags::Flags) -> ExitCode {
    if flags.detached
        && let Err(e) = start::detach()
    {
        return failed(&Code::Io.because(format!("cannot detach: {e}")));
    }
    if flags.with_parent {
        start::end_with_stdin();
    }
    let orphan = flags.socket.clone().filter(|_| flags.with_parent);
    let options = server::Options {
        socket: flags.socket,
        idle: flags.idle,
        browser: browser::Options {
            launch: browser::LaunchOptions {
                browser: flags.browser,
                headed: flags.headed,
                no_sandbox: flags.no_sandbox,
                profile: flags.profile,
                extra_args: flags.browser_arg,
                // Beside the socket or in the user's runtime directory: the daemon knows.
                ..Default::default()
            },
            allowed_schemes: flags.allow_scheme,
        },
    };
    let ended = server::run(options);
    if let Some(dir) = orphan.as_deref().and_then(std::path::Path::parent) {
        start::tidy(dir);
    }
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Prints text that was asked for.
fn say(text: &str) -> ExitCode {
    match call::write_out(text.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            failed(&Code::Io.because(format!("cannot write to stdout: {e}")))
        }
        _ => ExitCode::SUCCESS,
    }
}

fn failed(error: &Error) -> ExitCode {
    call::complain(&print::error(error));
    ExitCode::from(FAILED)
}

fn usage(error: &Error) -> ExitCode {
    call::complain(&print::error(error));
    ExitCode::from(USAGE)
}
