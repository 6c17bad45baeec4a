//! The `tabd` program: argv → daemon, client or help.

use std::process::ExitCode;

fn main() -> ExitCode {
    tabd::cli::main(std::env::args_os().skip(1))
}
