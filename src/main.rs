//! The `tabd` program: argv → daemon, client or help.

fn main() {}
