//! How long a call has, and how far it got. Carried through every layer that waits or acts.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{Code, Error};

/// The time a navigation has by default (contract, section 2).
pub const NAVIGATION: Duration = Duration::from_secs(15);
/// The time every other action has by default.
pub const ACTION: Duration = Duration::from_secs(5);

/// Whether a call's action has reached the page (contract, "Did it happen?").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Acted {
    /// Nothing was sent to the page.
    No,
    /// Sent; no answer yet.
    Unknown,
    /// The browser confirmed it.
    Yes,
}

impl Acted {
    /// The word of `data.acted`.
    pub fn word(self) -> &'static str {
        match self {
            Acted::No => "no",
            Acted::Unknown => "unknown",
            Acted::Yes => "yes",
        }
    }
}

/// A call's deadline and what it has done so far.
pub struct Progress {
    time: Mutex<Time>,
    acted: AtomicU8,
}

struct Time {
    deadline: Instant,
    explicit: bool,
}

impl Progress {
    /// With the one deadline that the request set (`Ok`), or the time that the tool has by itself.
    pub fn new(deadline: Result<Instant, Duration>) -> Progress {
        let time = match deadline {
            Ok(deadline) => Time {
                deadline,
                explicit: true,
            },
            Err(allowance) => Time {
                deadline: Instant::now() + allowance,
                explicit: false,
            },
        };
        Progress {
            time: Mutex::new(time),
            acted: AtomicU8::new(Acted::No as u8),
        }
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the call must be over. May move later: ask again after waiting.
    pub fn deadline(&self) -> Instant {
        self.time().deadline
    }

    /// The deadline, if the request set it.
    pub fn explicit_deadline(&self) -> Option<Instant> {
        let time = self.time();
        time.explicit.then_some(time.deadline)
    }

    /// The time left.
    pub fn remaining(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    /// Gives the call at least `time` from now, unless its request set the deadline: a click that
    /// navigates has as long as a navigation.
    pub fn extend(&self, time: Duration) {
        let mut now = self.time();
        if !now.explicit {
            now.deadline = now.deadline.max(Instant::now() + time);
        }
    }

    /// Moves the deadline on by time that is not the call's own, unless its request set it.
    pub fn excuse(&self, time: Duration) {
        let mut now = self.time();
        if !now.explicit {
            now.deadline += time;
        }
    }

    /// Does work that has up to `most` of its own, and gives back what it did not need of that: the
    /// call's own time stands still meanwhile, unless its request set the deadline.
    pub async fn apart<T>(&self, most: Duration, work: impl Future<Output = T>) -> T {
        let began = Instant::now();
        self.excuse(most);
        let done = work.await;
        let mut now = self.time();
        if !now.explicit {
            now.deadline -= most.saturating_sub(began.elapsed());
        }
        drop(now);
        done
    }

    /// Notes how far the action got.
    pub fn set_acted(&self, acted: Acted) {
        self.acted.store(acted as u8, Ordering::Relaxed);
    }

    /// How far the action got.
    pub fn acted(&self) -> Acted {
        match self.acted.load(Ordering::Relaxed) {
            0 => Acted::No,
            1 => Acted::Unknown,
            _ => Acted::Yes,
        }
    }

    /// The error of a call whose time is over: `timeout` with `data.acted`.
    pub fn timed_out(&self, what: impl Into<String>) -> Error {
        Code::Timeout
            .because(what)
            .fact("acted", self.acted().word())
    }
}
