//! The browser: how Chromium is found, started and cleaned up after.

pub mod find;
pub mod launch;
pub mod process;
pub mod profile;
pub mod trouble;
