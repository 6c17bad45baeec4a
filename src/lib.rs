//! tabd: a daemon that owns a real Chromium and lets other programs use it over a Unix socket.
//!
//! Layers, lowest first; each uses only those before it:
//! `error wire lines surrogates progress log home files` ← `cdp` ← `browser` ← `page` ← `tools` ← `server cli help` ← `main`.

pub mod browser;
pub mod cdp;
pub mod cli;
pub mod error;
pub mod files;
pub mod help;
pub mod home;
pub mod lines;
pub mod log;
pub mod page;
pub mod progress;
pub mod server;
pub mod surrogates;
pub mod tools;
pub mod wire;
