//! What one client has yet to be sent: replies and events in order, bounded. No I/O.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::wire::{MAX_IN_FLIGHT, event_line};

/// Unsent bytes beyond which a client's lines wait unread.
pub const MAX_UNSENT: usize = 1 << 20;
/// Events that wait for a client; further ones are counted and dropped.
pub const MAX_EVENTS: usize = 256;
/// Small lines are sent together up to about this many bytes.
const BATCH: usize = 64 << 10;

/// One connection's queue. Filled by calls and by the browser's reader, emptied by the writer task.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<State>,
    /// The writer has something to do.
    work: Notify,
    /// The reader may have room again.
    room: Notify,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Item>,
    unsent: usize,
    /// Lines read whose replies have not been written.
    in_flight: usize,
    events: usize,
    missed: u64,
    /// The reader does not read, so only the writer can see that the client vanished.
    blind: bool,
    /// No more lines will come.
    ended: bool,
    gone: bool,
}

struct Item {
    line: Bytes,
    event: bool,
}

/// What the writer does next.
pub enum Next {
    /// Send this; then report it with [`Outbox::sent`].
    Send(Batch),
    /// Wait for [`Outbox::work`]; `true`: watch for the client's end meanwhile.
    Wait(bool),
    /// Everything is answered and no more will come.
    Finished,
    /// The client vanished.
    Gone,
}

/// Lines that are written at once.
pub struct Batch {
    /// Their bytes.
    pub bytes: Bytes,
    replies: usize,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for one more line's reply, waiting for one. `false` if the client is gone.
    pub async fn admit(&self) -> bool {
        loop {
            {
                let mut state = self.state();
                if state.gone {
                    return false;
                }
                let full = state.in_flight >= MAX_IN_FLIGHT || state.unsent > MAX_UNSENT;
                let was_blind = std::mem::replace(&mut state.blind, full);
                if !full {
                    state.in_flight += 1;
                    return true;
                }
                if !was_blind {
                    self.work.notify_one();
                }
            }
            self.room.notified().await;
        }
    }

    /// Gives a place back unused: the line gets no reply.
    pub fn forgo(&self) {
        let mut state = self.state();
        state.in_flight -= 1;
        self.work.notify_one();
    }

    /// Queues the reply to a line that was admitted.
    pub fn reply(&self, line: String) {
        self.push(line.into(), false);
    }

    /// Queues an event, or counts it as missed.
    pub fn event(&self, line: Bytes) {
        let mut state = self.state();
        if state.events >= MAX_EVENTS || state.missed > 0 {
            state.missed += 1;
            return;
        }
        drop(state);
        self.push(line, true);
    }

    /// Queues an event that must not be missed: the present state, which is bounded itself.
    pub fn state_event(&self, line: Bytes) {
        self.push(line, true);
    }

    fn push(&self, line: Bytes, event: bool) {
        let mut state = self.state();
        if state.gone {
            return;
        }
        state.unsent += line.len();
        state.events += usize::from(event);
        state.queue.push_back(Item { line, event });
        self.work.notify_one();
    }

    /// No more lines will come.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        state.blind = true;
        self.work.notify_one();
    }

    /// The client vanished: nothing is kept for it any more.
    pub fn close(&self) {
        let mut state = self.state();
        state.gone = true;
        state.queue = VecDeque::new();
        state.unsent = 0;
        self.work.notify_one();
        self.room.notify_one();
    }

    /// Whether no more lines will come.
    pub fn has_ended(&self) -> bool {
        let state = self.state();
        state.ended || state.gone
    }

    /// Whether the client vanished.
    pub fn is_gone(&self) -> bool {
        self.state().gone
    }

    /// Wakes the writer to look again whether it has finished.
    pub fn look_again(&self) {
        self.work.notify_one();
    }

    /// Waits until the writer may have something to do.
    pub async fn work(&self) {
        self.work.notified().await;
    }

    /// The writer's next step. `stay`: the end of the client's lines is not the end (it subscribed).
    pub fn next(&self, stay: bool) -> Next {
        let mut state = self.state();
        if state.gone {
            return Next::Gone;
        }
        let batch = state.batch();
        if let Some(batch) = batch {
            return Next::Send(batch);
        }
        if state.ended && state.in_flight == 0 && !stay {
            return Next::Finished;
        }
        state.queue.shrink_to(0);
        Next::Wait(state.blind)
    }

    /// A batch has been written.
    pub fn sent(&self, batch: &Batch) {
        let mut state = self.state();
        if state.gone {
            return;
        }
        state.unsent -= batch.bytes.len();
        state.in_flight -= batch.replies;
        self.room.notify_one();
    }
}

impl State {
    /// Takes the next lines off the queue, small ones together.
    fn batch(&mut self) -> Option<Batch> {
        let first = self.pop()?;
        let mut replies = usize::from(!first.event);
        let fits = |size: usize, next: Option<&Item>| {
            next.is_some_and(|next| size + next.line.len() <= BATCH)
        };
        let mut bytes = first.line;
        if fits(bytes.len(), self.queue.front()) {
            let mut joined = Vec::with_capacity(self.unsent.min(BATCH));
            joined.extend_from_slice(&bytes);
            while fits(joined.len(), self.queue.front()) {
                let Some(item) = self.pop() else { break };
                replies += usize::from(!item.event);
                joined.extend_from_slice(&item.line);
            }
            bytes = joined.into();
        }
        Some(Batch { bytes, replies })
    }

    fn pop(&mut self) -> Option<Item> {
        let item = self.queue.pop_front()?;
        if item.event {
            self.events -= 1;
        }
        if self.missed > 0 && self.events < MAX_EVENTS {
            let missed = std::mem::take(&mut self.missed);
            let line = event_line("lagged", None, None, &format!("{{\"missed\":{missed}}}"));
            self.unsent += line.len();
            self.events += 1;
            self.queue.push_back(Item {
                line: line.into(),
                event: true,
            });
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(outbox: &Outbox) -> String {
        let mut all = String::new();
        while let Next::Send(batch) = outbox.next(true) {
            all.push_str(std::str::from_utf8(&batch.bytes).unwrap());
            outbox.sent(&batch);
        }
        all
    }

    #[tokio::test]
    async fn small_replies_go_out_together() {
        let outbox = Outbox::default();
        for i in 0..10 {
            assert!(outbox.admit().await);
            outbox.reply(format!("{i}\n"));
        }
        let Next::Send(batch) = outbox.next(false) else {
            panic!("a batch")
        };
        assert_eq!(&batch.bytes[..], b"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        outbox.sent(&batch);
        outbox.end();
        assert!(matches!(outbox.next(false), Next::Finished));
    }

    #[tokio::test]
    async fn who_falls_behind_is_told_how_many_events_it_missed() {
        let outbox = Outbox::default();
        for i in 0..MAX_EVENTS + 7 {
            outbox.event(Bytes::from(format!("{i}\n")));
        }
        let all = drain(&outbox);
        let mut lines: Vec<&str> = all.lines().collect();
        assert_eq!(
            lines.pop(),
            Some("{\"event\":\"lagged\",\"data\":{\"missed\":7}}")
        );
        assert_eq!(lines.len(), MAX_EVENTS);
        outbox.event(Bytes::from_static(b"again\n"));
        assert_eq!(drain(&outbox), "again\n");
    }

    #[tokio::test]
    async fn a_line_waits_for_its_place() {
        let outbox = Outbox::default();
        for _ in 0..MAX_IN_FLIGHT {
            assert!(outbox.admit().await);
        }
        let mut admit = Box::pin(outbox.admit());
        let waits =
            std::future::poll_fn(|cx| std::task::Poll::Ready(admit.as_mut().poll(cx).is_pending()));
        assert!(waits.await);
        assert!(matches!(outbox.next(false), Next::Wait(true)));
        outbox.reply("x\n".to_owned());
        drain(&outbox);
        assert!(admit.await);
        assert!(matches!(outbox.next(false), Next::Wait(false)));
    }
}
