//! The `tabd` program: argv → daemon, client or help.

use std::process::ExitCode;
use std::time::Duration;

use tabd::server;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let mut options = server::Options::default();
    if args.next().as_deref() != Some("daemon") {
        eprintln!("usage: tabd daemon [--socket PATH] [--idle-secs N]");
        return ExitCode::from(2);
    }
    while let Some(flag) = args.next() {
        match (flag.as_str(), args.next()) {
            ("--socket", Some(path)) => options.socket = Some(path.into()),
            ("--idle-secs", Some(secs)) => match secs.parse().map(Duration::try_from_secs_f64) {
                Ok(Ok(idle)) => options.idle = idle,
                _ => return usage("--idle-secs"),
            },
            _ => return usage(&flag),
        }
    }
    match server::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tabd: {error}");
            if let Some(hint) = error.next_step() {
                eprintln!("hint: {hint}");
            }
            ExitCode::FAILURE
        }
    }
}

fn usage(flag: &str) -> ExitCode {
    eprintln!("tabd: {flag} is not understood");
    ExitCode::from(2)
}
