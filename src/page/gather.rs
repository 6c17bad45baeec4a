//! One view of many parts: their records in reading order, within the caps.

use std::fmt::Write as _;

use serde_json::Value;

use super::parts::{FrameAt, Parts};
use super::read::{Format, ReadArgs};

/// Levels by which lines are indented; the page's script has the same number.
const MAX_INDENT: usize = 40;

/// A view's text as it is put together.
pub(super) struct Gather<'a> {
    read: &'a Parts,
    format: Format,
    out: String,
    /// Refs in it.
    pub count: u64,
    /// Refs there are.
    pub total: u64,
    max: u64,
    max_chars: u64,
    size: u64,
    /// What no more is taken in for.
    cut: Option<&'static str>,
    /// Whether it was cut here, not in the page.
    cut_here: bool,
    late: bool,
}

impl<'a> Gather<'a> {
    /// An empty view of what was read.
    pub fn new(wanted: &ReadArgs, read: &'a Parts) -> Gather<'a> {
        let (max, max_chars) = wanted.limits();
        Gather {
            read,
            format: wanted.format,
            out: String::new(),
            count: 0,
            total: 0,
            max: max.into(),
            max_chars,
            size: 0,
            cut: None,
            cut_here: false,
            late: false,
        }
    }

    /// Takes in all that is in the first part, frames in frames included.
    pub fn gather(&mut self) {
        self.add_part(0, 0);
    }

    /// Counts what the view has, without taking it in.
    pub fn skim(&mut self) {
        let all = reached(self.read);
        let parts = || all.iter().map(|at| &self.read.parts[*at].header);
        self.count = parts().map(|h| h.count).sum();
        self.total = parts().map(|h| h.total).sum();
        let told = |word: &str| parts().any(|h| h.truncated == word);
        let mut caps = ["refs", "chars"].into_iter();
        self.cut = caps.find(|word| told(word));
        self.late = told("budget");
    }

    /// What cut it short, or `false`.
    pub fn truncated(&self) -> Value {
        match self.cut {
            Some(cut) => cut.into(),
            None if self.late => "budget".into(),
            None => Value::Bool(false),
        }
    }

    /// Whether less was taken in than the pages' scripts hold it to be.
    pub fn is_cut_short(&self) -> bool {
        self.cut_here || self.cut.is_some() && self.read.parts.len() > 1
    }

    /// The text of it: a JSON array, or lines.
    pub fn into_text(self) -> String {
        match self.format {
            Format::Nodes => format!("[{}]", self.out),
            Format::Outline => self.out,
        }
    }

    fn add_part(&mut self, at: usize, base: usize) {
        let read = self.read;
        let part = &read.parts[at];
        self.total += part.header.total;
        let mut frames = part.header.frames.iter().peekable();
        for (line, record) in part.records().enumerate() {
            while let Some(frame) = frames.next_if(|f| f.at <= line) {
                self.add_frame(at, frame, base);
            }
            let here = frames
                .peek()
                .filter(|f| f.at == line + 1 && !f.r#ref.is_empty());
            let why = here.and_then(|f| read.unreadable.get_key_value(&f.frame?));
            match why {
                Some((number, why)) => {
                    self.add(&with_reason(record, self.format, *number, why), base)
                }
                None => self.add(record, base),
            }
        }
        while let Some(frame) = frames.next_if(|f| !f.cut) {
            self.add_frame(at, frame, base);
        }
        if let Some(word) = part.header.truncated.as_str() {
            match word {
                "budget" => self.late = true,
                "refs" => self.cut = self.cut.or(Some("refs")),
                _ => self.cut = self.cut.or(Some("chars")),
            }
        }
        // What lies behind the cut counts nevertheless.
        for frame in frames {
            self.add_frame(at, frame, base);
        }
    }

    fn add_frame(&mut self, at: usize, frame: &FrameAt, base: usize) {
        if let Some(inner) = self.read.inside(at, frame.frame) {
            self.add_part(inner, base + frame.depth);
        }
    }

    /// Adds a record `base` levels below where its frame put it, unless the caps are met.
    fn add(&mut self, record: &str, base: usize) {
        if self.cut.is_some() {
            return;
        }
        let has_ref = match self.format {
            Format::Nodes => record.starts_with("{\"ref\""),
            Format::Outline => record
                .split_once('\t')
                .is_some_and(|(_, line)| line.starts_with('[')),
        };
        if has_ref && self.count >= self.max {
            (self.cut, self.cut_here) = (Some("refs"), true);
            return;
        }
        let before = self.out.len();
        match self.format {
            Format::Nodes => {
                if before > 0 {
                    self.out.push(',');
                }
                let (head, depth, tail) = fields(record);
                let _ = write!(self.out, "{head},\"depth\":{}{tail}", depth + base);
            }
            Format::Outline => {
                let (depth, line) = record.split_once('\t').unwrap_or(("0", record));
                let depth = depth.parse().unwrap_or(0) + base;
                let indent = std::iter::repeat_n("  ", depth.min(MAX_INDENT));
                self.out.extend(indent);
                self.out.push_str(line);
                self.out.push('\n');
            }
        }
        // As the page counts: UTF-16 units, never fewer than characters; a comma with the first, too.
        let units = |c: char| c.len_utf16() as u64;
        let first = u64::from(before == 0 && self.format == Format::Nodes);
        let size = self.out[before..].chars().map(units).sum::<u64>() + first;
        if self.size + size > self.max_chars {
            self.out.truncate(before);
            (self.cut, self.cut_here) = (Some("chars"), true);
            return;
        }
        self.size += size;
        self.count += u64::from(has_ref);
    }
}

/// The parts that are in the view: of frames that are hidden, none is.
pub(super) fn reached(read: &Parts) -> Vec<usize> {
    let mut all = vec![0];
    let mut next = 0;
    while let Some(at) = all.get(next).copied() {
        next += 1;
        let frames = read.parts[at].header.frames.iter();
        all.extend(frames.filter_map(|f| read.inside(at, f.frame)));
    }
    all
}

/// A node's record taken apart: what is before its depth, the depth, what is behind.
pub(super) fn fields(record: &str) -> (&str, usize, &str) {
    let mut parts = record.splitn(3, '\t');
    let head = parts.next().unwrap_or_default();
    let depth = parts.next().and_then(|d| d.parse().ok()).unwrap_or(0);
    (head, depth, parts.next().unwrap_or("}"))
}

/// The record of a frame's node that says why what is in it is missing.
fn with_reason(record: &str, format: Format, number: u32, why: &str) -> String {
    // In JSON a quote within a string is escaped: this can only be the field.
    let (field, reason) = match format {
        Format::Nodes => (
            format!("\"frame\":\"f{number}\""),
            format!(",\"unreadable\":\"{why}\""),
        ),
        Format::Outline => (format!("frame f{number}"), format!(", unreadable: {why}")),
    };
    let mut quoted = false;
    let found = record.match_indices(&field).find(|(at, _)| {
        let before = &record[..*at];
        quoted = format == Format::Outline && is_in_string(before);
        !quoted
    });
    match found {
        Some((at, _)) => {
            let end = at + field.len();
            format!("{}{reason}{}", &record[..end], &record[end..])
        }
        None => record.to_owned(),
    }
}

/// Whether a JSON string has begun and not ended.
fn is_in_string(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_why_it_is_not_read() {
        let node = "{\"ref\":\"n1\",\"role\":\"iframe\",\"name\":\"\\\"frame\\\":\\\"f2\\\"\"\t1\t,\"frame\":\"f2\"}";
        let told = with_reason(node, Format::Nodes, 2, "gone");
        assert!(
            told.ends_with("\t,\"frame\":\"f2\",\"unreadable\":\"gone\"}"),
            "{told}"
        );
        let line = "0\t[n1] iframe \"frame f2\" {frame f2}";
        let told = with_reason(line, Format::Outline, 2, "gone");
        assert_eq!(
            told,
            "0\t[n1] iframe \"frame f2\" {frame f2, unreadable: gone}"
        );
    }
}
