//! The daemon: listens, serves its clients side by side on one thread, and goes when nobody needs it.

mod activity;
mod connection;
mod counters;
mod dialect;
mod dispatch;
mod framing;
mod in_flight;
mod lanes;
mod life;
mod notify;
mod outbox;
mod socket;
mod subscribers;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::activity::Activity;
use self::connection::Connection;
use self::counters::Counters;
use self::lanes::Lanes;
use self::subscribers::Subscribers;
use crate::browser::Browser;
use crate::error::{Code, Result};
use crate::tools::Daemon;
use crate::wire;

pub use self::socket::default_path;

/// How a daemon is to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; `None`: systemd's socket, else the runtime directory.
    pub socket: Option<PathBuf>,
    /// How long without a request, a running rule or a subscription before it ends; zero: never.
    pub idle: Duration,
    /// The browser's part.
    pub browser: crate::browser::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            socket: None,
            idle: Duration::from_secs(300),
            browser: crate::browser::Options::default(),
        }
    }
}

/// Runs a daemon until it is told to end or nobody needs it.
///
/// Must be called before any other thread runs: it takes over systemd's socket and sets the file mask
/// while binding. Fails with `busy`, naming the pid, if a daemon already serves that socket; with `io`
/// if the socket cannot be made.
pub fn run(options: Options) -> Result<()> {
    let socket = socket::Socket::open(options.socket.as_deref())?;
    let mut browser = options.browser;
    if browser.launch.runtime_dir.as_os_str().is_empty() {
        browser.launch.runtime_dir = crate::home::runtime_dir()?;
    }
    // Held to the end, so that no other daemon takes the profile between two browsers.
    let _claim = browser
        .launch
        .profile
        .as_deref()
        .map(crate::browser::profile::Claim::take)
        .transpose()?;
    crate::browser::profile::sweep(&browser.launch.runtime_dir);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Code::Internal.because(format!("the event loop: {e}")))?;
    let result = runtime.block_on(async {
        let subscribers = Arc::new(Subscribers::default());
        let browser = Browser::new(browser, subscribers.clone());
        let hub = Arc::new(Hub::new(browser, subscribers));
        life::serve(&hub, socket, options.idle).await
    });
    // What still runs on a helper thread must not hold up the end.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// What all connections share.
pub struct Hub {
    /// Started on demand.
    pub browser: Arc<Browser>,
    /// Where the browser's events go.
    pub subscribers: Arc<Subscribers>,
    /// The order of each session's requests.
    pub lanes: Arc<Lanes>,
    /// Whether anybody needs the daemon.
    pub activity: Arc<Activity>,
    /// For `info`.
    pub counters: Counters,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    one_closed: Notify,
    last_connection: AtomicU64,
    started: Instant,
    /// No more bytes are taken from clients; what was taken is answered.
    draining: AtomicBool,
    /// Nothing is begun any more.
    ending: AtomicBool,
    asked_to_end: Notify,
}

impl Hub {
    fn new(browser: Arc<Browser>, subscribers: Arc<Subscribers>) -> Hub {
        Hub {
            browser,
            subscribers,
            lanes: Arc::default(),
            activity: Arc::new(Activity::new()),
            counters: Counters::default(),
            connections: Mutex::default(),
            one_closed: Notify::new(),
            last_connection: AtomicU64::new(0),
            started: Instant::now(),
            draining: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            asked_to_end: Notify::new(),
        }
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A number no connection had yet.
    fn next_connection(&self) -> u64 {
        self.last_connection.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn add(&self, connection: &Arc<Connection>) {
        self.connections()
            .insert(connection.number, connection.clone());
    }

    fn remove(&self, number: u64) {
        self.connections().remove(&number);
        self.one_closed.notify_waiters();
    }

    /// Whether clients' bytes are not taken any more.
    fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Whether requests are refused.
    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Serves a client that has connected, if it may connect: same user, full trust.
    fn accept(self: &Arc<Self>, stream: UnixStream) -> Option<Arc<Connection>> {
        self.activity.touch();
        let me = nix::unistd::geteuid().as_raw();
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == me => {
                Counters::add(&self.counters.connections);
                Some(Connection::start(self, stream))
            }
            Ok(peer) => {
                Counters::add(&self.counters.refused);
                crate::log_warning!("refused a client of user {}", peer.uid());
                let error = Code::Forbidden
                    .because(format!("user {} may not use this daemon", peer.uid()))
                    .hint("run a daemon of your own");
                let line = wire::reply_line(&wire::Ids::default(), Err(&error), false);
                // A fresh socket's buffer takes one line; who does not get it is refused all the same.
                let _ = stream.try_write(line.as_bytes());
                None
            }
            // It was gone before it could be asked.
            Err(_) => None,
        }
    }
}

impl Daemon for Hub {
    fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    fn counters(&self) -> serde_json::Value {
        let mut counters = self.counters.json();
        counters["open_connections"] = self.connections().len().into();
        counters["subscriptions"] = self.subscribers.count().into();
        serde_json::json!({
            "counters": counters,
            "limits": {
                "line_bytes": wire::MAX_LINE,
                "in_flight": wire::MAX_IN_FLIGHT,
                "unsent_bytes": outbox::MAX_UNSENT,
                "queued_events": outbox::MAX_EVENTS,
                "timeout_ms": wire::MAX_TIMEOUT_MS,
            },
        })
    }

    fn shut_down(&self) {
        self.asked_to_end.notify_one();
    }
}
