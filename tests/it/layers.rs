//! The direction of dependencies: no module uses one above it.

use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first; see `ARCHITECTURE.md`.
const LAYERS: &[&[&str]] = &[
    &[
        "error",
        "wire",
        "lines",
        "surrogates",
        "progress",
        "log",
        "home",
        "files",
    ],
    &["cdp"],
    &["browser"],
    &["page"],
    &["tools"],
    &["server", "cli", "help"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_uses_what_is_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut checked = 0;
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.components().next().unwrap();
        let own = Path::new(&first)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if matches!(own.as_str(), "lib" | "main") {
            continue;
        }
        let own_layer = layer(&own).unwrap_or_else(|| panic!("{own} is in no layer"));
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let line = line.split("//").next().unwrap();
            for part in line.split("crate::").skip(1) {
                let end = part.find(|c: char| !c.is_alphanumeric() && c != '_');
                let used = &part[..end.unwrap_or(part.len())];
                let Some(used_layer) = layer(used) else {
                    continue;
                };
                checked += 1;
                if used_layer > own_layer {
                    wrong.push(format!(
                        "src/{}:{}: {own} uses {used}",
                        inside.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(checked > 100, "only {checked} uses were seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_tool_uses_another_tools_insides() {
    // Shared arguments and replies stand with the tool that they are named after.
    const SHARED: &[&str] = &["open", "tabs", "call", "check", "common"];
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tools");
    let mut files = Vec::new();
    sources(&dir, &mut files);
    let names: Vec<String> = files
        .iter()
        .map(|f| f.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|n| n != "mod" && !SHARED.contains(&n.as_str()))
        .collect();
    for file in &files {
        if file.file_stem().is_some_and(|stem| stem == "mod") {
            continue;
        }
        let text = fs::read_to_string(file).unwrap();
        for name in &names {
            let uses = format!("super::{name}::");
            assert!(!text.contains(&uses), "{} uses {name}", file.display());
        }
    }
}
