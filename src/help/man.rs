//! `tabd(1)` in roff.

use std::fmt::Write as _;

use super::{FORMS, KINDS, arguments, examples, option, usage};
use crate::cli::flags;
use crate::cli::options::COMMON;
use crate::tools::TOOLS;

/// The man page.
pub fn page() -> String {
    let mut page = format!(
        ".TH TABD 1 \"\" \"tabd {}\"\n.SH NAME\ntabd \\- hands on the web for agents, scripts and daemons\n.SH SYNOPSIS\n",
        env!("CARGO_PKG_VERSION")
    );
    for (form, what) in FORMS {
        item(&mut page, form, what);
    }
    page.push_str(".SH OPTIONS OF EVERY TOOL\n");
    for (name, value, what) in COMMON {
        item(&mut page, &option(name, value), what);
    }
    for (kind, heading) in KINDS {
        let _ = writeln!(page, ".SH TOOLS: {}", escaped(&heading.to_uppercase()));
        for entry in TOOLS.iter().filter(|t| t.kind == *kind) {
            let _ = writeln!(page, ".SS {}", escaped(&usage(entry)));
            paragraphs(&mut page, entry.description());
            for argument in arguments(entry) {
                item(&mut page, &argument.option(), &argument.sentence());
            }
            for (json, command) in examples(entry) {
                let _ = writeln!(page, ".PP\n.nf\n{}\n{}\n.fi", line(&command), line(&json));
            }
        }
    }
    page.push_str(".SH FLAGS OF THE DAEMON\n");
    for arg in flags::command()
        .get_arguments()
        .filter(|a| !a.is_hide_set())
    {
        let Some(flag) = arg.get_long().filter(|f| *f != "help") else {
            continue;
        };
        let value = match arg.get_action().takes_values() {
            true => arg
                .get_value_names()
                .and_then(|v| v.first())
                .map_or("", |v| v.as_str()),
            false => "",
        };
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        item(
            &mut page,
            &option(flag, value),
            &format!("{help} ({})", flags::variable(flag)),
        );
    }
    page.push_str(".SH EXIT STATUS\n");
    item(&mut page, "0", "The reply was ok.");
    item(&mut page, "1", "The reply was an error, or there was none.");
    item(&mut page, "2", "The command line makes no sense.");
    page.push_str(".SH FILES\n");
    item(
        &mut page,
        "$XDG_RUNTIME_DIR/tabd.sock",
        "The socket: one JSON object a line, both ways.",
    );
    page
}

fn item(page: &mut String, term: &str, text: &str) {
    let _ = writeln!(page, ".TP\n.B {}\n{}", escaped(term), line(text));
}

fn paragraphs(page: &mut String, text: &str) {
    for paragraph in text.split("\n\n") {
        let _ = writeln!(page, ".PP\n{}", line(&paragraph.replace('\n', " ")));
    }
}

/// Text as one input line that is no request.
fn line(text: &str) -> String {
    let text = escaped(text);
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\n', " ")
}
