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

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: usize = 8;

    /// The frames of `input`, read `step` bytes at a time, and the most that was held between reads.
    fn split(input: &[u8], step: usize) -> (Vec<Frame>, usize) {
        let mut splitter = Splitter::new(b'\n', CAP);
        let (mut frames, mut most) = (Vec::new(), 0);
        for part in input.chunks(step) {
            splitter.space().extend_from_slice(part);
            frames.extend(std::iter::from_fn(|| splitter.next()));
            most = most.max(splitter.held.len());
        }
        frames.extend(splitter.finish());
        assert_eq!(splitter.finish(), None);
        (frames, most)
    }

    fn lines(texts: &[&str]) -> Vec<Frame> {
        let frame = |text: &&str| match *text {
            "!" => Frame::TooLong,
            line => Frame::Line(Bytes::copy_from_slice(line.as_bytes())),
        };
        texts.iter().map(frame).collect()
    }

    #[test]
    fn frames_do_not_depend_on_how_the_bytes_arrive() {
        for (input, expected) in [
            ("", &[][..]),
            ("\n", &[""]),
            ("a\nb\n", &["a", "b"]),
            ("a\n\nb", &["a", "", "b"]),
            ("a\r\n", &["a\r"]),
            ("12345678\n12345678", &["12345678", "12345678"]),
            ("123456789\na\n", &["!", "a"]),
            ("a\n123456789012345678901234567890\nb\n", &["a", "!", "b"]),
            ("1234567890", &["!"]),
            ("1234567890\n1234567890\n\n", &["!", "!", ""]),
        ] {
            for step in 1..=input.len().max(1) {
                let (frames, most) = split(input.as_bytes(), step);
                assert_eq!(frames, lines(expected), "{input:?} by {step}");
                assert!(most <= CAP, "{input:?} by {step}: {most} bytes held");
            }
        }
    }

    #[test]
    fn too_long_is_told_before_the_delimiter_comes() {
        let mut splitter = Splitter::new(b'\n', CAP);
        splitter.space().extend_from_slice(b"123456789");
        assert_eq!(splitter.next(), Some(Frame::TooLong));
        splitter.space().extend_from_slice(b"more\nok\n");
        assert_eq!(splitter.next(), lines(&["ok"]).pop());
        assert_eq!(splitter.next(), None);
    }

    #[test]
    fn a_large_frame_takes_its_memory_with_it() {
        let mut splitter = Splitter::new(0, usize::MAX);
        let mut input = vec![b'x'; 10_000_000];
        input.extend_from_slice(b"\0tail");
        for part in input.chunks(READ) {
            splitter.space().extend_from_slice(part);
        }
        let Some(Frame::Line(line)) = splitter.next() else {
            panic!("no frame");
        };
        assert_eq!(line.len(), 10_000_000);
        assert!(line.is_unique());
        drop(line);
        assert_eq!(splitter.next(), None);
        assert!(splitter.space().capacity() <= 4 * READ);
        assert_eq!(
            splitter.finish(),
            Some(Frame::Line(Bytes::from_static(b"tail")))
        );
    }

    #[test]
    fn nothing_is_held_when_nothing_is_left() {
        let mut splitter = Splitter::new(b'\n', CAP);
        splitter.space().extend_from_slice(b"a\n");
        assert!(splitter.next().is_some());
        assert_eq!(splitter.held.capacity(), 0);
    }
}
