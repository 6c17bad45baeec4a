//! What a script's text says of it, before it is run. Pure.

/// Methods that only look, whatever they are called on; `document.querySelector` and its like.
const LOOKS: &[&str] = &[
    "querySelector",
    "querySelectorAll",
    "getElementById",
    "getElementsByTagName",
    "getElementsByClassName",
    "getElementsByName",
    "getAttribute",
    "getAttributeNames",
    "hasAttribute",
    "matches",
    "closest",
    "contains",
    "getBoundingClientRect",
    "getClientRects",
    "getPropertyValue",
    "checkVisibility",
    "elementFromPoint",
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "trim",
    "toLowerCase",
    "toUpperCase",
    "slice",
    "substring",
    "split",
    "join",
    "repeat",
    "at",
    "charCodeAt",
    "toString",
    "toFixed",
    "stringify",
    "keys",
    "values",
    "entries",
    "isArray",
    "round",
    "floor",
    "ceil",
    "min",
    "max",
    "abs",
];
/// Methods that call what they are given: what that is must be plain to see.
const CALL_BACK: &[&str] = &["from", "map", "filter", "some", "every"];
/// Functions that only look.
const LOOKING_FUNCTIONS: &[&str] = &[
    "String",
    "Number",
    "Boolean",
    "parseInt",
    "parseFloat",
    "getComputedStyle",
];
/// Words of statements, and of what makes, removes or waits.
const WORDS: &[&str] = &[
    "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "delete",
    "do", "else", "export", "finally", "for", "function", "get", "if", "import", "let", "new",
    "return", "set", "super", "switch", "throw", "try", "var", "while", "with", "yield",
];

/// Whether the script can only look at the page, by its text: names, literals, operators, and calls of
/// well-known functions that change nothing. False wherever that is not plain.
///
/// Getters and overridden functions of the page may do what they like; what the browser itself tells of
/// (navigations, requests, dialogs) is seen all the same.
pub(super) fn only_looks(source: &str) -> bool {
    let mut rest = source;
    // What the last token was: the end of a value, a name (after a dot or not), or anything else.
    let mut last = Last::Other;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            _ if c.is_whitespace() => {
                rest = &rest[length..];
                continue;
            }
            '\'' | '"' => match string(rest) {
                Some(end) => {
                    length = end;
                    last = Last::Value;
                }
                None => return false,
            },
            'a'..='z' | 'A'..='Z' | '_' | '$' => {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
                length = rest.bytes().take_while(is_part).count();
                let word = &rest[..length];
                if last != Last::Dot && WORDS.contains(&word) {
                    return false;
                }
                let looks = match last {
                    Last::Dot if CALL_BACK.contains(&word) => calls_an_arrow(word, &rest[length..]),
                    Last::Dot => LOOKS.contains(&word),
                    _ => LOOKING_FUNCTIONS.contains(&word),
                };
                last = if looks { Last::Looking } else { Last::Value };
            }
            '0'..='9' => {
                // With letters and a point: 0xff, 1e3, 1.5, 12n.
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
                length = rest.bytes().take_while(is_part).count();
                last = Last::Value;
            }
            '.' => last = Last::Dot,
            // After a value it is a call.
            '(' if matches!(last, Last::Value | Last::Dot) => return false,
            ')' | ']' | '}' => last = Last::Value,
            '=' => {
                // A comparison or an arrow; alone it assigns.
                let run = rest.bytes().take_while(|b| *b == b'=').count();
                length = match run {
                    1 if rest[1..].starts_with('>') => 2,
                    2 | 3 => run,
                    _ => return false,
                };
                last = Last::Other;
            }
            '!' | '<' | '>' => {
                length += rest[1..].bytes().take_while(|b| *b == b'=').count();
                // Shifts may assign, comments of old begin so.
                if rest[1..].starts_with([c, '-']) && c != '!' {
                    return false;
                }
                last = Last::Other;
            }
            '+' | '-' if rest[1..].starts_with(c) => return false,
            '(' | '[' | '{' | ',' | ':' | '?' | '+' | '-' | '*' | '%' | '&' | '|' | '^' | '~'
            | ';' => {
                last = Last::Other;
            }
            // Comments, regular expressions, templates, escapes, private names: too much to tell.
            _ => return false,
        }
        rest = &rest[length..];
    }
    true
}

/// Whether the arguments in front are one arrow function, or for `from` one value.
fn calls_an_arrow(word: &str, arguments: &str) -> bool {
    let Some(inner) = arguments.strip_prefix('(') else {
        return false;
    };
    if word == "from" {
        let (mut depth, mut end) = (1, None);
        for (at, byte) in inner.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 1 => return false,
                _ => {}
            }
            if depth == 0 {
                end = Some(at);
                break;
            }
        }
        return end.is_some();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | ' ' | ',');
    let inner = inner.trim_start();
    let after = match inner.strip_prefix('(') {
        Some(names) => names.trim_start_matches(is_name).strip_prefix(')'),
        None => Some(inner.trim_start_matches(|c| c != ',' && is_name(c))),
    };
    after.is_some_and(|after| after.trim_start().starts_with("=>"))
}

#[derive(Clone, Copy, PartialEq)]
enum Last {
    Value,
    Looking,
    Dot,
    Other,
}

/// The length of the string literal in front.
fn string(source: &str) -> Option<usize> {
    let quote = source.as_bytes()[0];
    let mut bytes = source.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'\n' => return None,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Whether the script may need the rules of a console: `await` outside of functions, and names that can
/// be declared again. They cost a quarter of a round trip.
pub(super) fn needs_repl(source: &str) -> bool {
    ["await", "const", "let", "class", "using"]
        .iter()
        .any(|word| source.contains(word))
        || source.contains('\\')
}

/// Whether a script that starts like a block or a declaration may be meant as an object or a function.
pub(super) fn is_expression(source: &str) -> bool {
    let source = uncommented(source);
    let word = |word: &str| {
        source.strip_prefix(word).is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
        })
    };
    (source.starts_with('{') && trimmed(source).ends_with('}'))
        || word("function")
        || (word("async") && source["async".len()..].trim_start().starts_with("function"))
}

/// Whether the function is the whole script: what its source is, but for parentheses around it.
pub(super) fn is_lone_function(script: &str, function: &str) -> bool {
    if function.starts_with("class") {
        return false;
    }
    let mut script = trimmed(uncommented(script));
    loop {
        if script == function {
            return true;
        }
        let inner = script.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
        match inner {
            Some(inner) => script = trimmed(uncommented(inner)),
            None => return false,
        }
    }
}

/// Without blank space and comments in front.
fn uncommented(mut source: &str) -> &str {
    loop {
        source = source.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        source = if let Some(rest) = source.strip_prefix("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if let Some(rest) = source.strip_prefix("/*") {
            rest.find("*/").map_or("", |end| &rest[end + 2..])
        } else {
            return source;
        };
    }
}

/// Without blank space and semicolons behind.
fn trimmed(source: &str) -> &str {
    source.trim_end_matches(|c: char| c.is_whitespace() || c == ';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_look_are_told_from_others() {
        for source in [
            "1",
            "document.title",
            "({a: [1, 'it\\'s', \"x\"]})",
            "a.b[0] === c ? -1 : !d && e != 2",
            "document.querySelectorAll('p').length",
            "() => location.href",
            "Array.from(document.links).map((a) => a.href)",
            "[...document.querySelectorAll('a')].filter(a => a.id >= 'x')",
            "[1, 2].map((a, i) => a + i)",
            "getComputedStyle(document.body).color",
            "(1 + 2) * 3;",
            "0.5 + 1e3",
        ] {
            assert!(only_looks(source), "{source}");
        }
        for source in [
            "a = 1",
            "a += 1",
            "a ??= 1",
            "a++",
            "--a",
            "f()",
            "a.f()",
            "a?.()",
            "(f)()",
            "a[0](1)",
            "a['b'](1)",
            "'x'.length; f ()",
            "find('x')",
            "[1].map(alert)",
            "[1].filter(0, remove)",
            "Array.from(x, remove)",
            "querySelector('x')",
            "new X",
            "delete a.b",
            "a >>= 1",
            "`${f()}`",
            "/\"/; f(); /\"/",
            "1 // \" \n f()",
            "'unended",
            "'a\nf()",
            "if (a) b",
            "x => { while (x) y }",
            "({get a() {}})",
            "ev\\u0061l('1')",
            "é(1)",
            "<!-- a",
            "await a",
        ] {
            assert!(!only_looks(source), "{source}");
        }
        assert!(needs_repl("const a = 1") && needs_repl("1; await 2"));
        assert!(!needs_repl("document.title"));
    }

    #[test]
    fn what_may_be_an_expression_is_tried_as_one() {
        for source in [
            "{a: 1}",
            "function () {}",
            "async function f() {}",
            "// why\n{ b };",
            "function(){}",
        ] {
            assert!(is_expression(source), "{source}");
        }
        for source in ["1", "({a: 1})", "functional()", "async () => 1", "{a: 1}.a"] {
            assert!(!is_expression(source), "{source}");
        }
    }

    #[test]
    fn a_function_is_called_only_if_it_is_the_whole_script() {
        assert!(is_lone_function(" () => 1;\n", "() => 1"));
        assert!(is_lone_function("/* a */ ((x) => x)", "(x) => x"));
        assert!(is_lone_function("(function f() {})", "function f() {}"));
        assert!(!is_lone_function(
            "document.write",
            "function write() { [native code] }"
        ));
        assert!(!is_lone_function("const f = () => 1; f", "() => 1"));
        assert!(!is_lone_function("class A {}", "class A {}"));
    }
}
