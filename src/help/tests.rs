use super::*;
use crate::cli::words::Command;
use std::path::Path;

/// The table without the rows that only tests have.
fn published() -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter().filter(|t| !t.name.starts_with("probe"))
}

#[test]
fn every_tool_says_what_it_is_for_and_how() {
    for entry in published() {
        assert!(
            !entry.description().is_empty(),
            "{} has no description",
            entry.name
        );
        assert!(!entry.examples.is_empty(), "{} has no example", entry.name);
        for argument in arguments(entry) {
            let described = argument.schema["description"]
                .as_str()
                .is_some_and(|d| !d.is_empty());
            assert!(
                described,
                "{} --{} is not described",
                entry.name, argument.name
            );
        }
        for name in entry.bare {
            let known = &entry.schema()["properties"][*name];
            assert!(
                known.is_object(),
                "{} has no {name} for a bare word",
                entry.name
            );
        }
    }
}

#[test]
fn names_are_unique_and_no_word_of_the_command_line() {
    for (n, entry) in TOOLS.iter().enumerate() {
        assert!(
            TOOLS[..n].iter().all(|e| e.name != entry.name),
            "{} twice",
            entry.name
        );
        assert!(!["daemon", "help", "mcp", "-"].contains(&entry.name));
        assert!(!entry.name.contains('-'));
    }
}

#[test]
fn every_example_passes_the_check() {
    for entry in TOOLS {
        for example in entry.examples {
            let args: Map<String, Value> = serde_json::from_str(example).expect(example);
            if let Err(error) = entry.check(args) {
                panic!("{} {example}: {error}", entry.name);
            }
        }
    }
}

#[test]
fn every_example_can_be_typed() {
    for entry in TOOLS {
        for example in entry.examples {
            let args: Map<String, Value> = serde_json::from_str(example).expect(example);
            let argv = arguments::spell(&Shape::from(entry), &args);
            let parsed = words::parse(&argv, Path::new("/")).expect(example);
            let Command::Call(call) = parsed else {
                panic!("{argv:?} is no call");
            };
            assert_eq!(call.tool, entry.name);
            assert_eq!(Value::Object(call.args), Value::Object(args), "{argv:?}");
        }
    }
}

#[test]
fn pages_show_every_tool() {
    for page in [
        overview(),
        markdown(),
        man::page(),
        complete::script("bash").unwrap(),
        complete::script("zsh").unwrap(),
        complete::script("fish").unwrap(),
    ] {
        for entry in TOOLS {
            let dashed = entry.name.replace('_', "\\-");
            assert!(
                page.contains(entry.name) || page.contains(&dashed),
                "{}",
                entry.name
            );
        }
    }
    assert!(
        complete::script("bsh")
            .unwrap_err()
            .next_step()
            .unwrap()
            .contains("bash")
    );
}

#[test]
fn help_of_a_tool_shows_both_forms() {
    let page = page(&["ping".to_owned()]).unwrap();
    assert!(page.contains("Usage: tabd ping\n"), "{page}");
    assert!(
        page.contains("  tabd ping\n      {\"tool\":\"ping\"}\n"),
        "{page}"
    );
}

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(shell_quoted("n12"), "n12");
    assert_eq!(shell_quoted("it's"), "'it'\\''s'");
    assert_eq!(shell_quoted(""), "''");
    assert_eq!(shell_quoted("#a > b"), "'#a > b'");
}
