//! Numbers that are never used twice: of refs and of frames, across browsers and daemons.
//!
//! The high-water marks are in one small file; daemons of a user that share a directory draw from it
//! in blocks, so that a killed one leaves at most a gap.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{Flock, FlockArg};

/// How many numbers are drawn from the file at once. A killed daemon wastes at most so many.
const BLOCK: u32 = 1000;

/// The counters of a daemon.
pub struct Numbers {
    path: PathBuf,
    predecessor: bool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Refs of main frames whose refs have no frame number, of all sessions.
    refs: Pool,
    frames: Pool,
    /// Refs of numbered frames, each from 1: the frame's number is never used twice.
    within: HashMap<u32, Pool>,
}

/// Numbers from `next` to `end` have not been used, nor those that came back.
#[derive(Default)]
struct Pool {
    next: u32,
    end: u32,
    free: Vec<Range<u32>>,
    /// Those below were given out before the present browser started.
    before: u32,
}

impl Pool {
    fn within_frame() -> Pool {
        Pool {
            next: 1,
            end: u32::MAX,
            free: Vec::new(),
            before: 0,
        }
    }

    /// The lowest `count` numbers in a row, if there are any.
    fn take(&mut self, count: u32) -> Option<Range<u32>> {
        if let Some(at) = self.free.iter().position(|r| r.end - r.start >= count) {
            let range = self.free[at].start..self.free[at].start + count;
            self.free[at].start = range.end;
            self.free.retain(|r| !r.is_empty());
            return Some(range);
        }
        (self.end - self.next >= count).then(|| {
            let range = self.next..self.next + count;
            self.next = range.end;
            range
        })
    }

    fn restart(&mut self) {
        // What came back below the mark would look as if it were from before.
        self.free.clear();
        self.before = self.next;
    }

    fn put(&mut self, unused: Range<u32>) {
        if unused.is_empty() {
            return;
        }
        let at = self.free.partition_point(|r| r.start < unused.start);
        self.free.insert(at, unused);
        self.free.dedup_by(|right, left| {
            let joins = left.end == right.start;
            if joins {
                left.end = right.end;
            }
            joins
        });
        if let Some(last) = self.free.last()
            && last.end == self.next
        {
            self.next = last.start;
            self.free.pop();
        } else if self.free.len() > FREE_KEPT {
            // The smallest is wasted.
            let smallest = self
                .free
                .iter()
                .enumerate()
                .min_by_key(|(_, r)| r.end - r.start);
            if let Some((at, _)) = smallest {
                self.free.remove(at);
            }
        }
    }
}

/// Which counter of the file.
const REFS: usize = 0;
const FRAMES: usize = 1;
/// Ranges that came back and are kept apart.
const FREE_KEPT: usize = 64;

/// Numbers that a call may give out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    frame: Option<u32>,
    /// The numbers.
    pub range: Range<u32>,
}

impl Numbers {
    /// Counters that go on where the file at `path` says; from 1 where there is none.
    pub fn new(path: PathBuf) -> Numbers {
        Numbers {
            predecessor: path.exists(),
            path,
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `count` numbers for refs of a frame. What is not used goes back with
    /// [`Numbers::give_back`].
    pub fn lease(&self, frame: Option<u32>, count: u32) -> Lease {
        let mut inner = self.inner();
        let range = match frame {
            Some(number) => {
                let pool = inner
                    .within
                    .entry(number)
                    .or_insert_with(Pool::within_frame);
                pool.take(count).unwrap_or(u32::MAX..u32::MAX)
            }
            None => self.draw(&mut inner.refs, REFS, count),
        };
        Lease { frame, range }
    }

    /// Ends a lease of which the numbers from `next` on were not used: they are given out later.
    pub fn give_back(&self, lease: &Lease, next: u32) {
        if next < lease.range.start || next > lease.range.end {
            return;
        }
        let mut inner = self.inner();
        let unused = next..lease.range.end;
        match lease.frame {
            Some(number) => {
                if let Some(pool) = inner.within.get_mut(&number) {
                    pool.put(unused);
                }
            }
            None => inner.refs.put(unused),
        }
    }

    /// Whether refs of a frame go so far.
    pub fn was_given(&self, frame: Option<u32>, number: u32) -> bool {
        let inner = self.inner();
        match frame {
            Some(frame) => inner.within.get(&frame).is_some_and(|p| number < p.next),
            None => number < inner.refs.next,
        }
    }

    /// A new browser starts: no ref and no frame of before lives on.
    pub fn restart(&self) {
        let mut inner = self.inner();
        inner.refs.restart();
        inner.frames.restart();
        inner.within.values_mut().for_each(Pool::restart);
    }

    /// Whether a frame's ref of that number was given out before the present browser started.
    pub fn is_from_before(&self, frame: Option<u32>, number: u32) -> bool {
        let inner = self.inner();
        match frame {
            Some(frame) => inner.within.get(&frame).is_some_and(|p| number < p.before),
            None => number < inner.refs.before,
        }
    }

    /// The same of a frame's own number.
    pub fn is_frame_from_before(&self, frame: u32) -> bool {
        frame < self.inner().frames.before
    }

    /// Forgets a frame that is gone for good.
    pub fn forget(&self, frame: u32) {
        self.inner().within.remove(&frame);
    }

    /// Whether the file shows that an earlier daemon gave out refs.
    pub fn had_predecessor(&self) -> bool {
        self.predecessor
    }

    /// A new frame's number.
    pub fn frame(&self) -> u32 {
        let mut inner = self.inner();
        self.draw(&mut inner.frames, FRAMES, 1).start
    }

    /// Gives what was drawn and not used back to the file. For the daemon's end.
    pub fn close(&self) {
        let inner = self.inner();
        let _ = self.update(|marks| {
            for (mark, pool) in marks.iter_mut().zip([&inner.refs, &inner.frames]) {
                if *mark == pool.end && pool.next > 0 {
                    *mark = pool.next;
                }
            }
        });
    }

    fn draw(&self, pool: &mut Pool, which: usize, count: u32) -> Range<u32> {
        loop {
            if let Some(range) = pool.take(count) {
                return range;
            }
            let block = count.max(BLOCK);
            let mut start = pool.end.max(1);
            // A file that cannot be written costs uniqueness across daemons, not the call.
            let _ = self.update(|marks| {
                start = start.max(marks[which]);
                marks[which] = start.saturating_add(block);
            });
            if start != pool.end {
                let rest = pool.next..pool.end;
                pool.next = start;
                pool.end = start;
                pool.put(rest);
            }
            pool.end = start.saturating_add(block);
            if pool.end == u32::MAX {
                return u32::MAX..u32::MAX;
            }
        }
    }

    fn update(&self, change: impl FnOnce(&mut [u32; 2])) -> std::io::Result<()> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path)?;
        let mut file: Flock<File> =
            Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, e)| std::io::Error::from(e))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut marks = [1, 1];
        for (mark, word) in marks.iter_mut().zip(text.split_whitespace()) {
            *mark = word.parse().unwrap_or(1);
        }
        change(&mut marks);
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{} {}", marks[0], marks[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(name: &str) -> Numbers {
        let path = std::env::temp_dir().join(format!("tabd-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Numbers::new(path)
    }

    #[test]
    fn unused_numbers_come_back_and_used_ones_do_not() {
        let numbers = numbers("lease");
        let lease = numbers.lease(None, 100);
        assert_eq!(lease.range, 1..101);
        numbers.give_back(&lease, 5);
        let second = numbers.lease(None, 10);
        assert_eq!(second.range, 5..15);
        let third = numbers.lease(None, 10);
        assert_eq!(third.range, 15..25);
        numbers.give_back(&second, 6);
        assert_eq!(numbers.lease(None, 3).range, 6..9);
        assert_eq!(numbers.lease(None, 7).range, 25..32);
        numbers.give_back(&third, 15);
        assert_eq!(numbers.lease(None, 16).range, 9..25);
        let _ = std::fs::remove_file(&numbers.path);
    }

    #[test]
    fn each_numbered_frame_counts_for_itself() {
        let numbers = numbers("frames");
        let frame = numbers.frame();
        assert_eq!(frame, 1);
        assert_eq!(numbers.lease(Some(frame), 5).range, 1..6);
        assert_eq!(numbers.lease(Some(frame), 5).range, 6..11);
        assert!(numbers.was_given(Some(frame), 10));
        assert!(!numbers.was_given(Some(frame), 11));
        let _ = std::fs::remove_file(&numbers.path);
    }

    #[test]
    fn a_later_daemon_goes_on_and_a_killed_one_leaves_a_gap() {
        let first = numbers("restart");
        assert_eq!(first.lease(None, 7).range, 1..8);
        let while_it_runs = Numbers::new(first.path.clone());
        assert_eq!(while_it_runs.lease(None, 1).range, 1001..1002);
        assert_eq!(first.lease(None, 2000).range, 2001..4001);
        while_it_runs.close();
        first.close();
        let later = Numbers::new(first.path.clone()).lease(None, 1);
        assert_eq!(later.range, 4001..4002);
        let _ = std::fs::remove_file(&first.path);
    }
}
