//! Whether anybody needs the daemon, and since when nobody does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// Counts what keeps the daemon alive: requests and subscriptions.
pub struct Activity {
    state: Mutex<State>,
    quiet: Notify,
}

struct State {
    busy: usize,
    last: Instant,
}

/// One reason to stay; dropping it ends it.
pub struct Busy(Arc<Activity>);

impl Activity {
    /// Nobody needs it yet; the clock starts now.
    pub fn new() -> Activity {
        Activity {
            state: Mutex::new(State {
                busy: 0,
                last: Instant::now(),
            }),
            quiet: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new reason to stay.
    pub fn busy(self: &Arc<Self>) -> Busy {
        self.state().busy += 1;
        Busy(self.clone())
    }

    /// Something happened: the clock starts anew.
    pub fn touch(&self) {
        self.state().last = Instant::now();
    }

    /// How many reasons to stay there are.
    pub fn count(&self) -> usize {
        self.state().busy
    }

    /// Since when nobody needs the daemon; `None` while somebody does.
    pub fn quiet_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.busy == 0).then_some(state.last)
    }

    /// Waits until nobody has needed the daemon for `idle`. Sleeps on one timer, and on none while
    /// somebody needs it.
    pub async fn quiet_for(&self, idle: std::time::Duration) {
        loop {
            match self.quiet_since() {
                None => self.quiet.notified().await,
                Some(since) if since + idle <= Instant::now() => return,
                Some(since) => tokio::time::sleep_until(since + idle).await,
            }
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.busy -= 1;
        state.last = Instant::now();
        if state.busy == 0 {
            self.0.quiet.notify_one();
        }
    }
}
