//! Lanes: the requests of one session run one after the other, in the order they arrived.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::in_flight::InFlight;

/// All sessions' lanes. A lane exists while it holds a request.
#[derive(Default)]
pub struct Lanes(Mutex<HashMap<String, Lane>>);

struct Lane {
    running: Arc<InFlight>,
    waiting: VecDeque<(Arc<InFlight>, oneshot::Sender<Turn>)>,
}

/// The right to run in a lane; dropping it lets the next one run.
pub struct Turn {
    lanes: Arc<Lanes>,
    session: String,
}

/// Where a request stands after it joined.
pub enum Place {
    /// It runs at once.
    First(Turn),
    /// It will be told.
    Behind(oneshot::Receiver<Turn>),
}

impl Lanes {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request at the end of its session's lane.
    pub fn join(self: &Arc<Self>, request: &Arc<InFlight>) -> Place {
        let mut all = self.all();
        if let Some(lane) = all.get_mut(&request.session) {
            let (tell, told) = oneshot::channel();
            lane.waiting.push_back((request.clone(), tell));
            return Place::Behind(told);
        }
        request.leave_queue();
        let lane = Lane {
            running: request.clone(),
            waiting: VecDeque::new(),
        };
        all.insert(request.session.clone(), lane);
        Place::First(Turn {
            lanes: self.clone(),
            session: request.session.clone(),
        })
    }

    /// The request that holds the session's lane.
    pub fn running(&self, session: &str) -> Option<Arc<InFlight>> {
        self.all().get(session).map(|lane| lane.running.clone())
    }

    /// Lets the next request run that still wants to.
    fn advance(self: &Arc<Self>, session: &str) {
        let mut all = self.all();
        let Some(lane) = all.get_mut(session) else {
            return;
        };
        while let Some((request, tell)) = lane.waiting.pop_front() {
            if request.is_answered() {
                continue;
            }
            request.leave_queue();
            lane.running = request;
            // Its turn would come back to this lock if its task is gone.
            drop(all);
            let turn = Turn {
                lanes: self.clone(),
                session: session.to_owned(),
            };
            drop(tell.send(turn));
            return;
        }
        all.remove(session);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.lanes.advance(&self.session);
    }
}
