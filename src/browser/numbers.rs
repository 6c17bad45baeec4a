//! Numbers that are never used twice: of refs and of frames, across browsers and daemons.
//!
//! The high-water marks are in one small file; daemons of a user that share a directory draw from it
//! in blocks, so that a killed one leaves at most a gap.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{Flock, FlockArg};

/// How many numbers are drawn from the file at once. A killed daemon wastes at most so many.
const BLOCK: u32 = 1000;

/// The two counters of a daemon.
pub struct Numbers {
    path: PathBuf,
    predecessor: bool,
    inner: Mutex<[Counter; 2]>,
}

#[derive(Clone, Copy, Default)]
struct Counter {
    next: u32,
    /// Numbers below this are ours.
    end: u32,
}

const REFS: usize = 0;
const FRAMES: usize = 1;

impl Numbers {
    /// Counters that go on where the file at `path` says; from 1 where there is none.
    pub fn new(path: PathBuf) -> Numbers {
        Numbers {
            predecessor: path.exists(),
            path,
            inner: Mutex::default(),
        }
    }

    /// Takes `count` numbers for refs. What is not used goes back with [`Numbers::give_back`].
    pub fn lease(&self, count: u32) -> Range<u32> {
        self.take(REFS, count)
    }

    /// Ends a lease of which the numbers from `next` on were not used. They are used later if nobody
    /// has taken others since.
    pub fn give_back(&self, lease: &Range<u32>, next: u32) {
        let mut counters = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = &mut counters[REFS];
        if counter.next == lease.end && lease.contains(&next) {
            counter.next = next;
        }
    }

    /// The number that the next lease begins with.
    pub fn next_ref(&self) -> u32 {
        let counters = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        counters[REFS].next
    }

    /// Whether the file shows that an earlier daemon gave out refs.
    pub fn had_predecessor(&self) -> bool {
        self.predecessor
    }

    /// A new frame's number.
    pub fn frame(&self) -> u32 {
        self.take(FRAMES, 1).start
    }

    /// Gives what was drawn and not used back to the file. For the daemon's end.
    pub fn close(&self) {
        let counters = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.update(|marks| {
            for (mark, counter) in marks.iter_mut().zip(counters.iter()) {
                if *mark == counter.end && counter.next > 0 {
                    *mark = counter.next;
                }
            }
        });
    }

    fn take(&self, which: usize, count: u32) -> Range<u32> {
        let mut counters = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = &mut counters[which];
        if counter.end - counter.next < count {
            let block = count.max(BLOCK);
            let mut start = counter.end.max(1);
            // A file that cannot be written costs uniqueness across daemons, not the call.
            let _ = self.update(|marks| {
                start = start.max(marks[which]);
                marks[which] = start.saturating_add(block);
            });
            if start != counter.end {
                counter.next = start;
            }
            counter.end = start.saturating_add(block);
        }
        let range = counter.next..counter.next.saturating_add(count);
        counter.next = range.end;
        range
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
        let lease = numbers.lease(100);
        assert_eq!(lease, 1..101);
        numbers.give_back(&lease, 5);
        let second = numbers.lease(10);
        assert_eq!(second, 5..15);
        let third = numbers.lease(10);
        numbers.give_back(&second, 6);
        assert_eq!(third, 15..25);
        assert_eq!(numbers.lease(1), 25..26);
        assert_eq!(numbers.frame(), 1);
        let _ = std::fs::remove_file(&numbers.path);
    }

    #[test]
    fn a_later_daemon_goes_on_and_a_killed_one_leaves_a_gap() {
        let first = numbers("restart");
        assert_eq!(first.lease(7), 1..8);
        let while_it_runs = Numbers::new(first.path.clone());
        assert_eq!(while_it_runs.lease(1), 1001..1002);
        assert_eq!(first.lease(2000), 2001..4001);
        while_it_runs.close();
        first.close();
        assert_eq!(Numbers::new(first.path.clone()).lease(1), 4001..4002);
        let _ = std::fs::remove_file(&first.path);
    }
}
