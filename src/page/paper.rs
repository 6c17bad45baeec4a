//! The page on paper: sizes, and how many sheets a PDF has.

use crate::error::{Code, Error, Result, quoted};

/// CSS pixels of an inch.
const PX_PER_INCH: f64 = 96.0;

/// Width and height of paper, in inches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Across, upright.
    pub width: f64,
    /// Down, upright.
    pub height: f64,
}

/// The sizes that have a name, in inches.
const NAMED: &[(&str, f64, f64)] = &[
    ("letter", 8.5, 11.0),
    ("legal", 8.5, 14.0),
    ("tabloid", 11.0, 17.0),
    ("ledger", 17.0, 11.0),
    ("a0", 33.110_236, 46.811_024),
    ("a1", 23.385_827, 33.110_236),
    ("a2", 16.535_433, 23.385_827),
    ("a3", 11.692_913, 16.535_433),
    ("a4", 8.267_717, 11.692_913),
    ("a5", 5.826_772, 8.267_717),
    ("a6", 4.133_858, 5.826_772),
];

impl Paper {
    /// From a name in any case, or `WIDTHxHEIGHT` with one of the units `mm cm in px`, as in `210x297mm`.
    pub fn parse(text: &str) -> Result<Paper> {
        let lower = text.trim().to_ascii_lowercase();
        if let Some((_, width, height)) = NAMED.iter().find(|(name, ..)| *name == lower) {
            return Ok(Paper {
                width: *width,
                height: *height,
            });
        }
        Paper::measured(&lower).ok_or_else(|| wrong(text))
    }

    fn measured(text: &str) -> Option<Paper> {
        let (number, inches) = [
            ("mm", 1.0 / 25.4),
            ("cm", 1.0 / 2.54),
            ("in", 1.0),
            ("px", 1.0 / PX_PER_INCH),
        ]
        .iter()
        .find_map(|(unit, inches)| Some((text.strip_suffix(unit)?, inches)))?;
        let (width, height) = number.split_once('x')?;
        let side = |text: &str| {
            let inches = text.trim().parse::<f64>().ok()? * inches;
            (0.1..=200.0).contains(&inches).then_some(inches)
        };
        Some(Paper {
            width: side(width)?,
            height: side(height)?,
        })
    }
}

fn wrong(text: &str) -> Error {
    let names: Vec<_> = NAMED.iter().map(|(name, ..)| *name).collect();
    Code::BadRequest
        .because(format!("paper cannot be {}", quoted(text, 80)))
        .fact("argument", "paper")
        .hint(format!(
            "one of {}, or a size such as 210x297mm",
            names.join(" ")
        ))
}

/// A length of CSS pixels in inches.
pub fn inches(px: f64) -> f64 {
    px / PX_PER_INCH
}

/// How many pages a PDF has: by its own table of objects, from the trailer to the root of the page
/// tree, since any text in the file may look like part of it. `None` for what is no such file.
pub fn pages_of(pdf: &[u8]) -> Option<u64> {
    let start = number_after(pdf, rfind(pdf, b"startxref")? + 9)?;
    let table = Table::read(pdf, usize::try_from(start).ok()?)?;
    let trailer = rfind(pdf, b"trailer")?;
    let root = number_after(pdf, find(pdf, trailer, b"/Root")? + 5)?;
    let root = table.at(root)?;
    let tree = number_after(pdf, find(pdf, root, b"/Pages ")? + 7)?;
    let tree = table.at(tree)?;
    number_after(pdf, find(pdf, tree, b"/Count")? + 6)
}

/// A cross-reference table (ISO 32000-1, 7.5.4): where each object begins.
struct Table<'a> {
    entries: &'a [u8],
    first: u64,
    count: u64,
}

impl<'a> Table<'a> {
    /// One with a single section, as a file that was written at once has.
    fn read(pdf: &'a [u8], at: usize) -> Option<Table<'a>> {
        let rest = pdf.get(at..)?.strip_prefix(b"xref")?;
        let first = number_after(rest, 0)?;
        let line = rest.iter().skip(1).position(|b| *b == b'\n')? + 1;
        let head = std::str::from_utf8(&rest[..line]).ok()?;
        let count = head.split_whitespace().nth(1)?.parse().ok()?;
        let entries = rest.get(line + 1..)?;
        Some(Table {
            entries,
            first,
            count,
        })
    }

    fn at(&self, object: u64) -> Option<usize> {
        let index = object.checked_sub(self.first)?;
        if index >= self.count {
            return None;
        }
        let line = usize::try_from(index).ok()?.checked_mul(20)?;
        let digits = self.entries.get(line..line + 10)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let at = text
        .get(from..)?
        .windows(what.len())
        .position(|w| w == what)?;
    Some(from + at)
}

fn rfind(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).rposition(|w| w == what)
}

/// The number that stands at `from`, after blanks.
fn number_after(text: &[u8], from: usize) -> Option<u64> {
    let rest = text.get(from..)?.trim_ascii_start();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_has_names_and_sizes() {
        assert_eq!(Paper::parse("A4").unwrap(), Paper::parse("a4").unwrap());
        let sized = Paper::parse("210x297mm").unwrap();
        let named = Paper::parse("a4").unwrap();
        assert!((sized.width - named.width).abs() < 1e-3);
        assert!((sized.height - named.height).abs() < 1e-3);
        assert_eq!(
            Paper::parse("96 x 192px").unwrap(),
            Paper {
                width: 1.0,
                height: 2.0
            }
        );
        for text in [
            "", "a9", "x", "1x2", "0x1in", "1e9x1in", "NaNx1in", "1x2x3mm", "infx1in",
        ] {
            assert_eq!(
                Paper::parse(text).unwrap_err().code(),
                Code::BadRequest,
                "{text}"
            );
        }
    }

    #[test]
    fn pages_are_counted_by_the_table_and_not_by_what_text_says() {
        let head = "%PDF-1.4\n1 0 obj\n<</Title (/Type /Pages /Count 99)>>\nendobj\n";
        let root = head.len();
        let catalog = "2 0 obj\n<</Type /Catalog\n/Pages 3 0 R>>\nendobj\n";
        let tree = root + catalog.len();
        let pages = "3 0 obj\n<</Type /Pages\n/Count 12\n/Kids []>>\nendobj\n";
        let table = tree + pages.len();
        let pdf = format!(
            "{head}{catalog}{pages}xref\n0 4\n0000000000 65535 f \n{:010} 00000 n \n{root:010} 00000 n \n{tree:010} 00000 n \ntrailer\n<</Size 4\n/Root 2 0 R\n/Info 1 0 R>>\nstartxref\n{table}\n%%EOF",
            9
        );
        assert_eq!(pages_of(pdf.as_bytes()), Some(12));
        for cut in 0..pdf.len() - 8 {
            let _ = pages_of(&pdf.as_bytes()[..cut]);
        }
        assert_eq!(pages_of(b"%PDF"), None);
    }
}
