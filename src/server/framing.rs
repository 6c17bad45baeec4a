//! Bytes from the socket → request lines. Knows the line's cap, nothing of JSON.

use std::io;

use tokio::net::UnixStream;

use crate::wire::MAX_LINE;

/// What one read asks for; also the most that is kept between two lines.
const CHUNK: usize = 64 << 10;

/// A line longer than [`MAX_LINE`]; what is left of it will be skipped.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// Splits what a client sends at `\n` (`\r\n` too). Holds no memory while it holds no bytes.
#[derive(Default)]
pub struct Framing {
    buffer: Vec<u8>,
    /// Where the first line that was not handed out begins.
    start: usize,
    /// Up to where there is no newline.
    scanned: usize,
    skipping: bool,
}

impl Framing {
    /// Reads once what the socket has; 0 is the end. `WouldBlock` if it has nothing.
    pub fn fill(&mut self, stream: &UnixStream) -> io::Result<usize> {
        self.make_room();
        let result = stream.try_read_buf(&mut self.buffer);
        self.give_back();
        result
    }

    /// Appends bytes, as a read would.
    #[cfg(test)]
    fn feed(&mut self, bytes: &[u8]) {
        self.make_room();
        self.buffer.extend_from_slice(bytes);
    }

    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.reserve(CHUNK);
    }

    /// Frees the buffer when nothing is in it.
    fn give_back(&mut self) {
        if self.start == self.buffer.len() {
            *self = Framing {
                skipping: self.skipping,
                ..Framing::default()
            };
        }
    }

    /// The next whole line without its newline. Empty lines are left out.
    pub fn line(&mut self) -> Option<Result<&[u8], TooLong>> {
        loop {
            let Some(found) = self.buffer[self.scanned..].iter().position(|b| *b == b'\n') else {
                self.scanned = self.buffer.len();
                return self.unfinished();
            };
            let (from, to) = (self.start, self.scanned + found);
            self.start = to + 1;
            self.scanned = to + 1;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let to = without_return(&self.buffer[..to], from);
            if to - from > MAX_LINE {
                return Some(Err(TooLong));
            }
            if to > from {
                return Some(Ok(&self.buffer[from..to]));
            }
        }
    }

    /// Begins to skip a line that is already too long; otherwise waits for more.
    fn unfinished(&mut self) -> Option<Result<&[u8], TooLong>> {
        let long = self.buffer.len() - self.start > MAX_LINE + 1;
        if long || self.skipping {
            self.start = self.buffer.len();
        }
        self.give_back();
        if long && !self.skipping {
            self.skipping = true;
            return Some(Err(TooLong));
        }
        None
    }

    /// After the end: the last line, which has no newline.
    pub fn rest(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        let Framing {
            buffer,
            start,
            skipping,
            ..
        } = std::mem::take(self);
        let to = without_return(&buffer, start);
        match to - start {
            0 => None,
            _ if skipping => None,
            n if n > MAX_LINE => Some(Err(TooLong)),
            _ => Some(Ok(buffer[start..to].to_vec())),
        }
    }
}

/// The end of the line `bytes[from..]` without a trailing `\r`.
fn without_return(bytes: &[u8], from: usize) -> usize {
    match bytes[from..].last() {
        Some(b'\r') => bytes.len() - 1,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(framing: &mut Framing) -> Vec<Result<Vec<u8>, TooLong>> {
        std::iter::from_fn(|| framing.line().map(|l| l.map(<[u8]>::to_vec))).collect()
    }

    #[test]
    fn splits_wherever_the_reads_fall() {
        let all = b"{\"a\":1}\r\n\n\r\n{\"b\":2}\n{\"c\":3}";
        for cut in 0..all.len() {
            let mut framing = Framing::default();
            framing.feed(&all[..cut]);
            let mut got = lines(&mut framing);
            framing.feed(&all[cut..]);
            got.extend(lines(&mut framing));
            assert_eq!(got, [Ok(b"{\"a\":1}".to_vec()), Ok(b"{\"b\":2}".to_vec())]);
            assert_eq!(framing.rest(), Some(Ok(b"{\"c\":3}".to_vec())));
        }
    }

    #[test]
    fn a_long_line_is_reported_once_and_skipped() {
        let mut framing = Framing::default();
        framing.feed(&vec![b'x'; MAX_LINE]);
        assert!(lines(&mut framing).is_empty());
        framing.feed(b"\r");
        assert!(lines(&mut framing).is_empty());
        framing.feed(b"x");
        assert_eq!(lines(&mut framing), [Err(TooLong)]);
        framing.feed(&vec![b'x'; MAX_LINE]);
        assert!(lines(&mut framing).is_empty());
        assert_eq!(framing.buffer.capacity(), 0);
        framing.feed(b"xx\nok\n");
        assert_eq!(lines(&mut framing), [Ok(b"ok".to_vec())]);
        assert_eq!(framing.rest(), None);
    }

    #[test]
    fn exactly_the_limit_passes() {
        let mut framing = Framing::default();
        let mut line = vec![b'x'; MAX_LINE];
        line.extend_from_slice(b"\r\n");
        framing.feed(&line);
        assert_eq!(lines(&mut framing), [Ok(vec![b'x'; MAX_LINE])]);
    }
}
