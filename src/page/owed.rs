//! Pictures and prints that a page owes, so that one which never delivers can still be left.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::browser::Tab;
use crate::cdp::{CdpError, runtime};

/// How long a sign of life is waited for.
const PATIENCE: Duration = Duration::from_millis(250);

/// Something that the page's main thread is to deliver. Dropped before it is there, it sees to it that
/// the page comes round: in a tab whose page owes a picture and is stuck in a script, no navigation
/// ever commits.
///
/// Ask the page anything before, so that one already stuck never owes.
#[must_use = "dropping it rouses the page: settle it when what is owed has come"]
pub struct Owed(Option<Arc<Tab>>);

impl Owed {
    /// The tab's page owes from now on.
    pub fn by(tab: &Arc<Tab>) -> Owed {
        Owed(Some(tab.clone()))
    }

    /// It has delivered, or refused.
    pub fn settle(mut self) {
        self.0 = None;
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(tab) = self.0.take() {
            tokio::spawn(async move { rouse(&tab).await });
        }
    }
}

/// Ends the script that a page is stuck in, if it is. One that a dialog holds is not.
async fn rouse(tab: &Tab) {
    let one = runtime::Evaluate {
        expression: "1".to_owned(),
        ..Default::default()
    };
    let Ok(sign) = tab.send(&one) else { return };
    let sign = sign.by(Instant::now() + PATIENCE).await;
    let held = tab.look(|s| s.dialog.is_some());
    if matches!(sign, Err(CdpError::Deadline)) && !held {
        let main = tab.look(|s| s.main_frame().map(|f| f.cdp_session.clone()));
        if let Some(main) = main {
            tab.stop_scripts(&main);
        }
    }
}
