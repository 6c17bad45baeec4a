//! Who wants which events. The browser's reader sends here, in order, and never waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::activity::Busy;
use super::outbox::Outbox;
use crate::browser::{Event, Sink};
use crate::tools::Subscription;
use crate::wire::event_line;

/// All subscriptions of all connections.
#[derive(Default)]
pub struct Subscribers {
    all: Mutex<Vec<Subscriber>>,
    /// So that a daemon without subscribers pays one load an event.
    count: AtomicUsize,
}

struct Subscriber {
    connection: u64,
    wanted: Subscription,
    outbox: Arc<Outbox>,
    _busy: Busy,
}

impl Subscribers {
    fn all(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the present state, then every event that is `wanted`. Replaces the connection's earlier
    /// subscription.
    pub fn add(
        &self,
        connection: u64,
        wanted: Subscription,
        outbox: &Arc<Outbox>,
        busy: Busy,
        present: Vec<Event>,
    ) {
        let mut all = self.all();
        all.retain(|s| s.connection != connection);
        for event in present.iter().filter(|e| wants(&wanted, e)) {
            outbox.state_event(line(event));
        }
        all.push(Subscriber {
            connection,
            wanted,
            outbox: outbox.clone(),
            _busy: busy,
        });
        self.count.store(all.len(), Ordering::Relaxed);
    }

    /// Ends the connection's subscription; says whether it had one.
    pub fn remove(&self, connection: u64) -> bool {
        let mut all = self.all();
        let before = all.len();
        all.retain(|s| s.connection != connection);
        self.count.store(all.len(), Ordering::Relaxed);
        all.len() < before
    }

    /// Whether the connection has a subscription.
    pub fn has(&self, connection: u64) -> bool {
        self.all().iter().any(|s| s.connection == connection)
    }

    /// How many subscriptions there are.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// Events without a session or a tab concern everybody's.
fn wants(wanted: &Subscription, event: &Event) -> bool {
    let session = match (&wanted.session, &event.session) {
        (Some(wanted), Some(of)) => **wanted == **of,
        _ => true,
    };
    let tab = match (wanted.tab, event.tab) {
        (Some(wanted), Some(of)) => wanted == of,
        _ => true,
    };
    session && tab && wanted.events.iter().any(|kind| kind == event.kind)
}

fn line(event: &Event) -> Bytes {
    let tab = event.tab.map(|tab| tab.to_string());
    event_line(
        event.kind,
        event.session.as_deref(),
        tab.as_deref(),
        &event.data,
    )
    .into()
}

impl Sink for Subscribers {
    fn wants(&self, kind: &str) -> bool {
        self.count() > 0
            && self
                .all()
                .iter()
                .any(|s| s.wanted.events.iter().any(|e| e == kind))
    }

    fn send(&self, event: Event) {
        if self.count() == 0 {
            return;
        }
        let all = self.all();
        let mut text = None;
        for subscriber in all.iter().filter(|s| wants(&s.wanted, &event)) {
            let text = text.get_or_insert_with(|| line(&event));
            subscriber.outbox.event(text.clone());
        }
    }
}
