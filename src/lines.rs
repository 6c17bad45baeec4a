//! Bytes ↔ frames: what ends at a delimiter, up to a cap. Knows nothing of what the frames say.

use std::io::BufRead as _;

use bytes::{Bytes, BytesMut};

/// Room for one read when nothing is held, in bytes: a pipe's usual page cluster.
const READ: usize = 16 * 1024;

/// A frame from here on, in bytes, takes its memory with it.
const LARGE: usize = 256 * 1024;

/// What a stream of bytes falls into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The bytes before a delimiter, without it. May be empty.
    Line(Bytes),
    /// More than the cap without a delimiter. Told once, when it is known; the rest, up to and
    /// with the delimiter, is dropped as it arrives.
    TooLong,
}

/// Cuts a stream at each delimiter.
///
/// Read into [`space`](Splitter::space), then take frames with [`next`](Splitter::next) until there
/// is none; at the end of the stream, [`finish`](Splitter::finish). No byte is looked at twice. What
/// is held is bounded by the cap and one read, and the memory of a large frame goes with it.
#[derive(Debug)]
pub struct Splitter {
    delimiter: u8,
    cap: usize,
    held: BytesMut,
    /// The first bytes of `held` that are known to hold no delimiter.
    scanned: usize,
    /// Inside a frame that was too long.
    skipping: bool,
}

impl Splitter {
    /// Frames of at most `cap` bytes (`usize::MAX`: any length) between delimiters.
    pub fn new(delimiter: u8, cap: usize) -> Splitter {
        Splitter {
            delimiter,
            cap,
            held: BytesMut::new(),
            scanned: 0,
            skipping: false,
        }
    }

    /// Where to append what was read, with room for more: hand it to `read_buf`, and only append.
    pub fn space(&mut self) -> &mut BytesMut {
        self.held.reserve(READ);
        &mut self.held
    }

    /// The next frame, if what was read so far holds one.
    #[expect(
        clippy::should_implement_trait,
        reason = "a `None` here is not the end"
    )]
    pub fn next(&mut self) -> Option<Frame> {
        loop {
            let Some(found) = find(&self.held[self.scanned..], self.delimiter) else {
                self.scanned = self.held.len();
                if self.skipping {
                    self.drop_held();
                } else if self.held.len() > self.cap {
                    self.drop_held();
                    self.skipping = true;
                    return Some(Frame::TooLong);
                }
                return None;
            };
            let length = self.scanned + found;
            let mut line = self.take(length + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if length > self.cap {
                return Some(Frame::TooLong);
            }
            line.truncate(length);
            return Some(Frame::Line(line));
        }
    }

    /// What is left at the end of the stream: a last line without its delimiter, if there is any.
    pub fn finish(&mut self) -> Option<Frame> {
        let left = self.take(self.held.len());
        let skipped = std::mem::take(&mut self.skipping);
        (!skipped && !left.is_empty()).then_some(Frame::Line(left))
    }

    fn take(&mut self, length: usize) -> Bytes {
        self.scanned = 0;
        let line = self.held.split_to(length).freeze();
        if length >= LARGE || self.held.is_empty() {
            // What follows moves out of the frame's memory, which is freed with the frame.
            self.held = BytesMut::from(&self.held[..]);
        }
        line
    }

    fn drop_held(&mut self) {
        self.held = BytesMut::new();
        self.scanned = 0;
    }
}

/// Where `byte` first stands. By way of `BufRead`, which uses the C library's `memchr`: ten times
/// as fast as `position` on a message of megabytes.
fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let mut rest = bytes;
    let end = rest.skip_until(byte).ok()?.checked_sub(1)?;
    (bytes[end] == byte).then_some(end)
}
