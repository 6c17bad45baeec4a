//! Writes into `OUT_DIR`: the typed protocol from `cdp-schema/`, the page's script from `js/`.
//! Reads the tree only; downloads nothing.

#[path = "cdp-schema/codegen.rs"]
mod codegen;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=cdp-schema/codegen.rs");
    let protocol = serde_json::from_str(&read("cdp-schema/protocol.json".as_ref())?)
        .map_err(|why| format!("cdp-schema/protocol.json: {why}"))?;
    let code = codegen::generate(&protocol, &read("cdp-schema/used.txt".as_ref())?)?;
    write(&out.join("cdp.rs"), &code)?;
    write(&out.join("page.js"), &page(Path::new("js"))?)
}

/// All of `js/*.js` as one script that runs once a document: sorted by name, `api.js` last. Each
/// file only declares; `js/main/` belongs to the page's own world and is not part of it.
fn page(directory: &Path) -> Result<String, String> {
    // A directory: cargo looks at every file in it, so that added and removed ones count.
    println!("cargo::rerun-if-changed={}", directory.display());
    let Ok(entries) = fs::read_dir(directory) else {
        return Ok(String::new());
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.extension().is_some_and(|end| end == "js"))
        .collect();
    if files.is_empty() {
        return Ok(String::new());
    }
    files.sort_by_key(|path| (path.ends_with("api.js"), path.clone()));
    let mut script = "(() => { 'use strict'; if (globalThis.tabd) return;\n".to_owned();
    let mut declared = BTreeMap::new();
    for file in &files {
        let text = read(file)?;
        for name in text.lines().filter_map(declaration) {
            if let Some(first) = declared.insert(name.to_owned(), file.clone()) {
                // In one script the later would silently stand for both.
                return Err(format!(
                    "{name} is declared in {} and in {}",
                    first.display(),
                    file.display()
                ));
            }
        }
        script.push_str(&text);
        script.push('\n');
    }
    script.push_str("globalThis.tabd = api;\n})()\n");
    Ok(script)
}

/// The name that a line declares at the top level.
fn declaration(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    let kinds = ["function ", "function* ", "const ", "let ", "class "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')?;
    (end > 0).then_some(&rest[..end])
}

fn read(path: &Path) -> Result<String, String> {
    if path.starts_with("cdp-schema") {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|why| format!("{}: {why}", path.display()))
}
