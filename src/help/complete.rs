//! Completion scripts for shells: tool names, then the tool's options and their words.

use std::fmt::Write as _;

use serde_json::Value;

use super::{arguments, first_sentence, option};
use crate::cli::flags;
use crate::cli::options::COMMON;
use crate::error::{Code, Result, quoted};
use crate::tools::TOOLS;
use crate::wire::nearest;

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The script for `shell`.
pub fn script(shell: &str) -> Result<String> {
    match shell {
        "bash" => Ok(bash()),
        // zsh runs bash's completion functions.
        "zsh" => Ok(format!(
            "#compdef tabd\nautoload -U +X bashcompinit && bashcompinit\n{}",
            bash()
        )),
        "fish" => Ok(fish()),
        other => {
            let error =
                Code::BadRequest.because(format!("no completions for {}", quoted(other, 80)));
            Err(match nearest(other, SHELLS) {
                Some(near) => error.hint(format!("did you mean \"{near}\"?")),
                None => error.hint("bash, zsh or fish"),
            })
        }
    }
}

/// What may follow `tabd`: tools and the other first words.
fn first_words() -> Vec<(&'static str, &'static str)> {
    let tools = TOOLS
        .iter()
        .map(|t| (t.name, first_sentence(t.description())));
    tools
        .chain([
            ("daemon", "Be the daemon, in the foreground"),
            ("help", "Show what a tool takes"),
        ])
        .collect()
}

/// An option, and the words its value is one of.
type Choice = (String, Vec<String>);

/// The options behind each first word, and the words an option takes.
fn options() -> Vec<(&'static str, Vec<Choice>)> {
    let common = || {
        COMMON
            .iter()
            .map(|(name, ..)| (option(name, ""), Vec::new()))
    };
    let mut all: Vec<_> = TOOLS
        .iter()
        .map(|tool| {
            let own = arguments(tool).into_iter().map(|a| {
                let words = a.schema["enum"].as_array().into_iter().flatten();
                let words = words.filter_map(Value::as_str).map(str::to_owned).collect();
                (option(a.name, ""), words)
            });
            (tool.name, own.chain(common()).collect())
        })
        .collect();
    let daemon = flags::command();
    let daemon = daemon.get_arguments().filter(|a| !a.is_hide_set());
    let daemon = daemon.filter_map(|a| Some((option(a.get_long()?, ""), Vec::new())));
    all.push(("daemon", daemon.collect()));
    let help = ["--markdown", "--man", "--completions"];
    let mut help: Vec<_> = help.iter().map(|h| ((*h).to_owned(), Vec::new())).collect();
    help[2].1 = SHELLS.iter().map(|s| (*s).to_owned()).collect();
    all.push(("help", help));
    all
}

fn bash() -> String {
    let words: Vec<&str> = first_words().into_iter().map(|(w, _)| w).collect();
    let mut out = String::from(
        "_tabd() {\n  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" tool=\"\" words=\"\" w\n  \
         for w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do case \"$w\" in -*) ;; *) tool=\"${w//-/_}\"; break;; esac; done\n  \
         case \"$tool:$prev\" in\n",
    );
    for (tool, options) in options() {
        for (option, words) in options.iter().filter(|(_, w)| !w.is_empty()) {
            let _ = writeln!(out, "    {tool}:{option}) words=\"{}\";;", words.join(" "));
        }
    }
    out.push_str("    *:--socket|*:--path|*:--files|*:--browser|*:--profile) COMPREPLY=( $(compgen -f -- \"$cur\") ); return;;\n");
    out.push_str("    *) case \"$tool\" in\n");
    for (tool, options) in options() {
        let options: Vec<String> = options.into_iter().map(|(o, _)| o).collect();
        let _ = writeln!(out, "      {tool}) words=\"{}\";;", options.join(" "));
    }
    let _ = writeln!(
        out,
        "      *) words=\"{}\";;\n    esac;;\n  esac",
        words.join(" ")
    );
    // Behind `help` come tools again.
    let _ = writeln!(
        out,
        "  [ \"$tool\" = help ] && words=\"$words {}\"",
        words.join(" ")
    );
    out.push_str(
        "  COMPREPLY=( $(compgen -W \"$words\" -- \"$cur\") )\n}\ncomplete -F _tabd tabd\n",
    );
    out
}

fn fish() -> String {
    let mut out = String::from("complete -c tabd -f\n");
    for (word, what) in first_words() {
        let what = what.replace('\\', "\\\\").replace('\'', "\\'");
        let _ = writeln!(
            out,
            "complete -c tabd -n __fish_use_subcommand -a {word} -d '{what}'"
        );
    }
    for (tool, options) in options() {
        let dashed = tool.replace('_', "-");
        let names = if dashed == tool {
            tool.to_owned()
        } else {
            format!("{tool} {dashed}")
        };
        for (option, words) in options {
            let takes = match words.is_empty() {
                true => String::new(),
                false => format!(" -x -a '{}'", words.join(" ")),
            };
            let option = option.trim_start_matches('-');
            let _ = writeln!(
                out,
                "complete -c tabd -n '__fish_seen_subcommand_from {names}' -l {option}{takes}"
            );
        }
    }
    out
}
