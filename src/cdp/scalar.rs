//! What the generated code is made of: text ids, text enums and integers that may come as floats.

use serde::Deserializer;

/// Declares an id: text that is cheap to clone and not mixed up with another id.
macro_rules! string_id {
    ($name:ident) => {
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// The id as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> $name {
                $name(text.into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                crate::cdp::scalar::text(from, |text| $name(text.into()))
            }
        }
    };
}

/// Declares an enum of words. A word that a newer browser made up is `Unknown`.
macro_rules! string_enum {
    ($name:ident, $unknown:literal, { $($variant:ident = $word:literal,)* }) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name {
            $($variant,)*
            #[default]
            Unknown,
        }

        impl $name {
            /// The word as it stands on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* $name::Unknown => $unknown }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> $name {
                match word { $($word => $name::$variant,)* _ => $name::Unknown }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                crate::cdp::scalar::text(from, |word| $name::from(word))
            }
        }
    };
}

struct Text<F>(F);

impl<T, F: FnOnce(&str) -> T> serde::de::Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok((self.0)(text))
    }
}

/// Text, made into something without a `String` between.
pub(super) fn text<'de, D: Deserializer<'de>, T>(
    from: D,
    make: impl FnOnce(&str) -> T,
) -> Result<T, D::Error> {
    from.deserialize_str(Text(make))
}

struct Int;

impl<'de> serde::de::Visitor<'de> for Int {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Option<i64>, E> {
        Ok(Some(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Option<i64>, E> {
        Ok(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    // Saturates; a fraction, which no integer of the protocol has, is lost.
    fn visit_f64<E>(self, number: f64) -> Result<Option<i64>, E> {
        Ok(Some(number as i64))
    }

    fn visit_unit<E>(self) -> Result<Option<i64>, E> {
        Ok(None)
    }
}

/// An integer, also one written as `1.0` or `1e3`; 0 if it is `null`.
pub(super) fn int<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    from.deserialize_any(Int).map(Option::unwrap_or_default)
}

/// As [`int`]; `null` is none.
pub(super) fn optional_int<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    from.deserialize_any(Int)
}

#[cfg(test)]
mod tests {
    use crate::cdp::{dom, page};

    #[test]
    fn words_of_a_newer_browser_are_unknown() {
        let kind: page::DialogType = serde_json::from_str("\"confirm\"").unwrap();
        assert_eq!(kind, page::DialogType::Confirm);
        let kind: page::DialogType = serde_json::from_str("\"hologram\"").unwrap();
        assert_eq!(kind, page::DialogType::Unknown);
    }

    #[test]
    fn integers_may_come_as_floats() {
        let owner = r#"{"backendNodeId":7.0,"nodeId":8,"unheard":[{}]}"#;
        let owner: dom::GetFrameOwnerReply = serde_json::from_str(owner).unwrap();
        assert_eq!((owner.backend_node_id, owner.node_id), (7, Some(8)));
    }
}
