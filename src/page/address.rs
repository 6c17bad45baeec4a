//! What a caller typed as an address → an absolute URL and its scheme. Chromium does the real parsing.

use crate::error::{Code, Result, quoted};

/// The longest URL that is opened, in bytes: Chromium's own limit.
const MAX_URL: usize = 2 << 20;

/// An absolute URL, and its scheme in lower case.
#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    /// The URL.
    pub url: String,
    /// Its scheme.
    pub scheme: String,
}

impl Address {
    /// Without a scheme it is `https://`; `http://` for localhost, loopback and `word:digits`.
    pub fn parse(text: &str) -> Result<Address> {
        // As every URL parser does: blanks around, tabs and newlines anywhere.
        let text: String = text
            .trim_matches(|c: char| c <= ' ')
            .chars()
            .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
            .collect();
        let refuse = |why: &str| {
            Err(Code::BadRequest
                .because(format!("{} is not a URL: {why}", quoted(&text, 80)))
                .fact("argument", "url")
                .hint("give one such as https://example.com/"))
        };
        if text.is_empty() {
            return refuse("it is empty");
        }
        if text.len() > MAX_URL {
            return refuse("it is longer than 2 MiB");
        }
        if let Some((scheme, rest)) = scheme_of(&text)
            && !is_port(rest)
        {
            let scheme = scheme.to_ascii_lowercase();
            return Ok(Address { url: text, scheme });
        }
        let end = text.find(['/', '?', '#']).unwrap_or(text.len());
        let authority = &text[..end];
        if authority.is_empty() {
            return refuse("it has no host");
        }
        if authority.contains(' ') {
            return refuse("its host has a blank in it");
        }
        let host = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
        let near = is_loopback(host)
            || host
                .split_once(':')
                .is_some_and(|(w, p)| !w.is_empty() && is_port(p) && !w.contains('.'));
        let scheme = if near { "http" } else { "https" };
        Ok(Address {
            url: format!("{scheme}://{text}"),
            scheme: scheme.to_owned(),
        })
    }
}

/// RFC 3986, section 3.1.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut bytes = scheme.bytes();
    let first = bytes.next()?.is_ascii_alphabetic();
    (first && bytes.all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)))
        .then_some((scheme, rest))
}

/// Whether what follows the colon is a port, so that what is before it is a host: `myhost:8080/x`.
fn is_port(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    end > 0 && rest[..end].bytes().all(|b| b.is_ascii_digit())
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => return v6.split(']').next() == Some("::1"),
        None => host.split(':').next().unwrap_or(host),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_scheme_is_filled_in() {
        for (text, url) in [
            ("example.com", "https://example.com"),
            ("example.com:8443/a", "https://example.com:8443/a"),
            ("localhost", "http://localhost"),
            ("localhost:3000/x?y", "http://localhost:3000/x?y"),
            ("127.0.0.1:80", "http://127.0.0.1:80"),
            ("[::1]:8080/", "http://[::1]:8080/"),
            ("printer:631", "http://printer:631"),
            ("user@localhost", "http://user@localhost"),
            (" https://a.b/c ", "https://a.b/c"),
            ("about:blank", "about:blank"),
            ("data:text/html,<p>1:2", "data:text/html,<p>1:2"),
        ] {
            assert_eq!(Address::parse(text).unwrap().url, url, "{text}");
        }
    }

    #[test]
    fn a_scheme_cannot_hide() {
        let address = Address::parse(" java\nScript:alert(1)").unwrap();
        assert_eq!(address.scheme, "javascript");
        assert!(Address::parse("").is_err());
        assert!(Address::parse("not a url").is_err());
    }
}
