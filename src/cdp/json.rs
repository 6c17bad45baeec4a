//! JSON that nobody has looked into yet, and the decoding of a message's parts.

use std::cell::RefCell;
use std::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::surrogates::{repair_surrogates, unescape};

/// From this length on, in bytes, a [`Json`] keeps its message alive instead of copying from it.
const SHARED: usize = 1024;

thread_local! {
    /// The text being decoded on this thread: what a [`Json`] may share.
    static MESSAGE: RefCell<Bytes> = const { RefCell::new(Bytes::new()) };
}

/// One JSON value as its own text, whatever its size and depth. `null` by default.
///
/// A large one shares the memory of the message it came in: use it and let it go.
#[derive(Clone)]
pub struct Json(Bytes);

impl Json {
    /// The value of anything that serialises.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Json> {
        serde_json::to_vec(value).map(|text| Json(text.into()))
    }

    /// The text as it came, lone surrogates and all.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// True of `null`, and of what was never there.
    pub fn is_null(&self) -> bool {
        &self.0[..] == b"null"
    }

    /// The text of a string, `None` of anything else: the fast way to what a page function answers.
    /// Lone surrogates in it become U+FFFD.
    pub fn string(&self) -> Option<String> {
        unescape(self.text())
    }

    /// The value as `T`. Lone surrogates in it become U+FFFD.
    pub fn parse<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        decode(&self.0)
    }
}

impl Default for Json {
    fn default() -> Json {
        Json(Bytes::from_static(b"null"))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_slice::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(to),
            Err(why) => Err(serde::ser::Error::custom(why)),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        let text = <&RawValue>::deserialize(from)?.get().as_bytes();
        if text.len() < SHARED {
            return Ok(Json(Bytes::copy_from_slice(text)));
        }
        MESSAGE.with_borrow(|message| Ok(Json(slice(message, text))))
    }
}

/// `part` of `whole` without a copy, if it is one; else a copy.
pub(super) fn slice(whole: &Bytes, part: &[u8]) -> Bytes {
    let (outer, inner) = (whole.as_ptr_range(), part.as_ptr_range());
    if outer.start <= inner.start && inner.end <= outer.end {
        whole.slice_ref(part)
    } else {
        Bytes::copy_from_slice(part)
    }
}

/// `T` from JSON text. Lone surrogates, which serde_json refuses, become U+FFFD, and so does what
/// is not UTF-8.
pub(crate) fn decode<T: DeserializeOwned>(text: &Bytes) -> serde_json::Result<T> {
    decode_as_is(text).or_else(|why| {
        let lossy = String::from_utf8_lossy(text);
        let repaired = repair_surrogates(lossy.as_bytes());
        if *repaired == **text {
            return Err(why);
        }
        decode_as_is(&repaired.into_owned().into())
    })
}

fn decode_as_is<T: DeserializeOwned>(text: &Bytes) -> serde_json::Result<T> {
    let outer = MESSAGE.replace(text.clone());
    let value = serde_json::from_slice(text);
    MESSAGE.set(outer);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Serialize)]
    struct Holder {
        value: Json,
    }

    #[test]
    fn large_values_share_their_message() {
        let text = Bytes::from(format!(r#"{{"value":["{}"]}}"#, "x".repeat(SHARED)));
        let holder: Holder = decode(&text).unwrap();
        assert!(text.as_ptr_range().contains(&holder.value.text().as_ptr()));
        assert_eq!(serde_json::to_vec(&holder).unwrap(), text);
        assert!(MESSAGE.with_borrow(|message| message.is_empty()));
    }

    #[test]
    fn depth_does_not_matter_until_someone_looks() {
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        let holder: Holder = decode(&format!(r#"{{"value":{deep}}}"#).into()).unwrap();
        assert_eq!(holder.value.text(), deep);
        assert!(holder.value.parse::<serde_json::Value>().is_err());
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let holder: Holder = decode(&Bytes::from_static(br#"{"value":"a\ud83cb"}"#)).unwrap();
        assert_eq!(holder.value.text(), r#""a\ud83cb""#);
        assert_eq!(holder.value.parse::<String>().unwrap(), "a\u{fffd}b");
        assert_eq!(holder.value.string().unwrap(), "a\u{fffd}b");
    }
}
