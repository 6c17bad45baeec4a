//! Repairs JSON text that holds half a character, which JavaScript strings may and Unicode may not.

use std::borrow::Cow;

/// The text with every lone surrogate escape (`\ud83c` without its partner) as `\ufffd`.
///
/// Pairs and escaped backslashes (`\\ud83c`) stay. Borrowed if there was nothing to repair. The
/// length never changes, so offsets in the repaired text are those of the original.
pub fn repair_surrogates(text: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(skip) = text[at..].iter().position(|&byte| byte == b'\\') {
        at += skip;
        match unit(text, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(text, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12
            }
            Some(0xD800..=0xDFFF) => {
                repaired.get_or_insert_with(|| text.to_vec())[at..at + 6]
                    .copy_from_slice(b"\\ufffd");
                at += 6;
            }
            _ => at = text.len().min(at + 2),
        }
    }
    repaired.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The UTF-16 unit of the escape `\uXXXX` at `at`, if there is one.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)? as u16)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (text, repaired) in [
            (r#""\ud83c""#, r#""\ufffd""#),
            (r#""\uD83C\uDF0D""#, r#""\uD83C\uDF0D""#),
            (r#""\udf0d\ud83c""#, r#""\ufffd\ufffd""#),
            (r#""\ud83c\ud83c\udf0d""#, r#""\ufffd\ud83c\udf0d""#),
            (r#""\\ud83c""#, r#""\\ud83c""#),
            (r#""\\\ud83c""#, r#""\\\ufffd""#),
            (r#""\ud83c\\udf0d""#, r#""\ufffd\\udf0d""#),
            (r#""\ud83c\n\u0041""#, r#""\ufffd\n\u0041""#),
            (r#""\ud8"#, r#""\ud8"#),
            ("\\", "\\"),
            ("", ""),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&repair_surrogates(text.as_bytes())),
                repaired,
                "{text}"
            );
        }
        assert!(matches!(
            repair_surrogates(br#""\ud83c\udf0d""#),
            Cow::Borrowed(_)
        ));
    }
}
