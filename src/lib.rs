//! tabd: a daemon that owns a real Chromium and lets other programs use it over a Unix socket.
//!
//! Layers, lowest first; each uses only those before it:
//! `error wire lines log` ← `cdp` ← `browser` ← `page` ← `tools` ← `server cli help` ← `main`.

pub mod browser;
pub mod error;
pub mod lines;
pub mod log;
pub mod server;
pub mod tools;
pub mod wire;
