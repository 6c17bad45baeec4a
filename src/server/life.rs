//! The daemon's life: serving, the idle exit that loses no request, and the quick end.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::sys::socket::{Shutdown, shutdown};
use sd_notify::NotifyState;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout};

use super::connection::Connection;
use super::dispatch::shutting_down;
use super::socket::Socket;
use super::{Hub, notify};
use crate::error::{Code, Error, Result};

/// How long a client that connected in the very moment of the idle exit has for its first request.
const LATE: Duration = Duration::from_secs(1);
/// How long clients have to take their last replies.
const FLUSH: Duration = Duration::from_millis(500);
/// How long the browser has to end; after that its process is killed with the daemon's.
/// A browser that was asked takes 0.1 s; on a busy machine a kill and the removal of its files need more.
const BROWSER: Duration = Duration::from_secs(5);
/// The pause after an accept that failed, by lack of descriptors mostly.
const RETRY: Duration = Duration::from_millis(50);

/// Accepts and serves until the end, and leaves nothing behind.
pub async fn serve(hub: &Arc<Hub>, mut socket: Socket, idle: Duration) -> Result<()> {
    let served = accept_until_the_end(hub, &mut socket, idle).await;
    // Connections made until here are answered, later ones find no socket or wait in systemd's.
    socket.remove();
    hub.ending.store(true, Ordering::Relaxed);
    answer_all(hub);
    let clients = async {
        stop_reading(hub);
        // A client that does not read has no say in when the daemon ends.
        let _ = timeout(FLUSH, no_connections(hub)).await;
    };
    let browser = async {
        if timeout(BROWSER, hub.browser.stop()).await.is_err() {
            crate::log_warning!("the browser did not end in time");
        }
    };
    tokio::join!(clients, browser);
    crate::log_info!("ended");
    served
}

/// Serves; returns when the daemon is to end, its idle clients already served.
async fn accept_until_the_end(hub: &Arc<Hub>, socket: &mut Socket, idle: Duration) -> Result<()> {
    let mut signals = Signals::new()?;
    let listener = socket
        .listener
        .try_clone()
        .and_then(UnixListener::from_std)
        .map_err(|e| internal("the socket", &e))?;
    notify::tell(&[
        NotifyState::Ready,
        NotifyState::Status("waiting for requests"),
    ]);
    crate::log_info!("{} serves {}", env!("CARGO_PKG_VERSION"), socket.name());
    let watchdog = async {
        match notify::watchdog() {
            None => std::future::pending().await,
            Some(half) => loop {
                tokio::time::sleep(half).await;
                notify::tell(&[NotifyState::Watchdog]);
            },
        }
    };
    let watchdog: std::pin::Pin<&mut (dyn Future<Output = ()> + Send)> = std::pin::pin!(watchdog);
    let mut watchdog = watchdog;
    loop {
        tokio::select! {
            biased;
            why = signals.any() => {
                crate::log_info!("ends: {why}");
                break;
            }
            () = hub.asked_to_end.notified() => {
                crate::log_info!("ends: a client asked for it");
                break;
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(hub.accept(stream)),
                Err(e) => {
                    crate::log_warning!("accept: {e}");
                    tokio::time::sleep(RETRY).await;
                }
            },
            () = quiet(hub, idle) => {
                if end_if_idle(hub, socket).await {
                    break;
                }
            }
            () = &mut watchdog => {}
        }
    }
    notify::tell(&[NotifyState::Stopping, NotifyState::Status("ending")]);
    if !hub.is_draining() {
        return Ok(());
    }
    // Idle: clients may still have asked something. That is served, unless a signal comes.
    tokio::select! {
        biased;
        _ = signals.any() => {}
        () = drained(hub) => {}
    }
    Ok(())
}

async fn quiet(hub: &Hub, idle: Duration) {
    if idle.is_zero() {
        return std::future::pending().await;
    }
    loop {
        hub.activity.quiet_for(idle).await;
        if !hub.browser.is_busy() {
            return;
        }
        hub.activity.touch();
    }
}

/// The moment of the idle exit: from here on each client is either served by this daemon or knows that
/// it is not. `false` if somebody had connected already.
async fn end_if_idle(hub: &Arc<Hub>, socket: &mut Socket) -> bool {
    let mut late = Vec::new();
    if !socket.is_passed() {
        let waiting = backlog(hub, socket);
        if !waiting.is_empty() {
            return false;
        }
        // Somebody may have connected since the look above. Shutting the socket down refuses all who are
        // still on their way, also those that have found its path already.
        socket.remove();
        let _ = shutdown(socket.listener.as_raw_fd(), Shutdown::Read);
        late = backlog(hub, socket);
    }
    crate::log_info!("ends: nobody needs it");
    hub.draining.store(true, Ordering::Relaxed);
    let late_numbers: Vec<u64> = late.iter().map(|c| c.number).collect();
    let others: Vec<Arc<Connection>> = hub.connections().values().cloned().collect();
    for connection in others {
        if !late_numbers.contains(&connection.number) {
            connection.stop_reading();
        }
    }
    for connection in late {
        tokio::spawn(async move {
            let until = Instant::now() + LATE;
            connection.first_request(until).await;
            connection.stop_reading();
        });
    }
    true
}

/// Accepts whoever has connected and was not accepted yet.
fn backlog(hub: &Arc<Hub>, socket: &Socket) -> Vec<Arc<Connection>> {
    let mut connections = Vec::new();
    // The runtime's own accept knows only what it was last told; the kernel knows all.
    while let Ok((stream, _)) = socket.listener.accept() {
        let stream = stream
            .set_nonblocking(true)
            .and_then(|()| UnixStream::from_std(stream));
        if let Ok(stream) = stream {
            connections.extend(hub.accept(stream));
        }
    }
    connections
}

/// Waits until every client has been answered. Who does not take its answers is not waited for.
async fn drained(hub: &Hub) {
    loop {
        if timeout(FLUSH, no_connections(hub)).await.is_ok() {
            return;
        }
        let late = hub.connections().values().any(|c| !c.has_ended());
        if hub.activity.count() == 0 && !late {
            return;
        }
    }
}

async fn no_connections(hub: &Hub) {
    loop {
        let mut closed = std::pin::pin!(hub.one_closed.notified());
        closed.as_mut().enable();
        if hub.connections().is_empty() {
            return;
        }
        closed.await;
    }
}

fn stop_reading(hub: &Hub) {
    hub.draining.store(true, Ordering::Relaxed);
    let all: Vec<Arc<Connection>> = hub.connections().values().cloned().collect();
    for connection in all {
        connection.stop_reading();
    }
}

/// Answers every request that is still open: the queued ones were not begun, the running ones stop.
fn answer_all(hub: &Hub) {
    let all: Vec<Arc<Connection>> = hub.connections().values().cloned().collect();
    for request in all.iter().flat_map(|c| c.unanswered()) {
        if request.is_queued() {
            request.end(shutting_down());
        } else {
            request.cancel("the daemon is going away");
        }
    }
}

/// SIGTERM, SIGINT and SIGHUP.
struct Signals([(Signal, &'static str); 3]);

impl Signals {
    fn new() -> Result<Signals> {
        let on = |kind| signal(kind).map_err(|e| internal("signals", &e));
        Ok(Signals([
            (on(SignalKind::terminate())?, "SIGTERM"),
            (on(SignalKind::interrupt())?, "SIGINT"),
            (on(SignalKind::hangup())?, "SIGHUP"),
        ]))
    }

    async fn any(&mut self) -> &'static str {
        let [(a, term), (b, int), (c, hup)] = &mut self.0;
        tokio::select! {
            _ = a.recv() => term,
            _ = b.recv() => int,
            _ = c.recv() => hup,
        }
    }
}

fn internal(what: &str, error: &io::Error) -> Error {
    Code::Internal.because(format!("{what}: {error}"))
}
