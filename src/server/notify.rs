//! What systemd is told, and the watchdog's interval. All of it is optional: without systemd nothing happens.

use std::time::Duration;

use sd_notify::NotifyState;

/// Tells systemd, if it asked to be told.
pub fn tell(states: &[NotifyState<'_>]) {
    // `false` keeps the environment, which only the browser's start must clean.
    if let Err(e) = sd_notify::notify(false, states) {
        crate::log_warning!("systemd cannot be told {states:?}: {e}");
    }
}

/// How often the watchdog wants a sign of life, halved; `None` if it does not.
pub fn watchdog() -> Option<Duration> {
    let mut usec = 0;
    let on = sd_notify::watchdog_enabled(false, &mut usec);
    (on && usec > 1).then(|| Duration::from_micros(usec / 2))
}
