//! The daemon from outside: the real binary, real sockets, raw bytes.
//!
//! One module a subject; `support` starts daemons and speaks to them.
#![allow(clippy::unwrap_used, reason = "a test says what went wrong by failing")]
#![allow(clippy::print_stdout, reason = "numbers, and why a test was skipped")]

mod acting;
mod browser;
mod cli;
mod docs;
mod downloads;
mod evaluate;
mod hits;
mod layers;
mod life;
mod pages;
mod protocol;
mod reading;
mod seeing;
mod support;
mod systemd;
mod upload;
mod web;
