//! A caller's script while it may run, and its end.

use std::sync::Arc;
use std::time::Duration;

use crate::browser::Tab;
use crate::cdp::{SessionId, runtime};

/// How long an idle page may take to say so before a script is ended.
const SIGN: Duration = Duration::from_millis(100);
/// How often a script is ended before its page is left alone.
const STOPS: usize = 100;

/// A script that may be running. Dropped while it may, it ends it.
pub(super) struct Running {
    tab: Arc<Tab>,
    cdp_session: SessionId,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// It has not ended, and the page has not answered since.
    Runs,
    /// It waits for something, as far as is known.
    Waits,
    Over,
}

impl Running {
    pub(super) fn new(tab: &Arc<Tab>, cdp_session: &SessionId) -> Running {
        Running {
            tab: tab.clone(),
            cdp_session: cdp_session.clone(),
            state: State::Runs,
        }
    }

    /// The page has answered since: the script waits for something.
    pub(super) fn waits(&mut self) {
        self.state = State::Waits;
    }

    /// It has ended, or is to be left alone.
    pub(super) fn over(&mut self) {
        self.state = State::Over;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.state == State::Over {
            return;
        }
        let one = runtime::Evaluate {
            expression: "1".to_owned(),
            ..Default::default()
        };
        if self.state == State::Runs {
            self.tab.stop_scripts(&self.cdp_session);
        }
        // The question stands before any later call's script: as long as it has no answer, what runs is
        // ours. A stop may come before the script has begun, and end what is before it instead; one to a
        // page where nothing runs would end the page's next script.
        let (tab, cdp_session) = (self.tab.clone(), self.cdp_session.clone());
        let (Ok(mut sign), Ok(runtime)) = (
            tab.send_to(&cdp_session, &one),
            tokio::runtime::Handle::try_current(),
        ) else {
            return;
        };
        runtime.spawn(async move {
            for _ in 0..STOPS {
                let answered = tokio::time::timeout(SIGN, &mut sign).await.is_ok();
                // A dialog holds everything, and the script ends when it is answered.
                if answered || tab.dialog().is_some() {
                    return;
                }
                tab.stop_scripts(&cdp_session);
            }
        });
    }
}
