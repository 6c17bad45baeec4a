//! What `info` counts.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Code;

/// Counts since the daemon's start.
#[derive(Default)]
pub struct Counters {
    /// Connections accepted.
    pub connections: AtomicU64,
    /// Peers turned away.
    pub refused: AtomicU64,
    /// Lines that were not empty.
    pub requests: AtomicU64,
    errors: AtomicU64,
    internal: AtomicU64,
}

impl Counters {
    /// One more.
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// A reply that says what went wrong.
    pub fn error(&self, code: Code) {
        Counters::add(&self.errors);
        if code == Code::Internal {
            Counters::add(&self.internal);
        }
    }

    /// As a JSON object.
    pub fn json(&self) -> serde_json::Value {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        serde_json::json!({
            "requests": get(&self.requests),
            "errors": get(&self.errors),
            "internal": get(&self.internal),
            "connections": get(&self.connections),
            "refused": get(&self.refused),
        })
    }
}
