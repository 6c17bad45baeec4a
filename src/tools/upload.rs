//! `upload`: give files to a file input.

use std::fs::{self, File};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Acted, Call, Kind, Tool};
use crate::browser::state::Chooser;
use crate::error::{Code, Error, Result, quoted};
use crate::files::blocking;
use crate::page::act::{Acting, Before, Done};
use crate::page::click::{How, click};
use crate::page::files::{self, FileInput};
use crate::page::locate::Locator;
use crate::page::{Document, point};

/// Give files to a file input, as if they had been picked in its chooser.
///
/// The target is the input, shown or hidden, its label, what holds it, or a button that opens a chooser:
/// that is clicked. No files take away what was chosen.
#[derive(Deserialize, JsonSchema)]
pub struct Upload {
    #[serde(flatten)]
    target: Locator,
    /// Absolute paths of files that can be read; of one directory, where the input takes directories.
    #[schemars(length(max = 1000))]
    files: Vec<String>,
    #[serde(flatten)]
    acting: Acting,
}

/// What was given, and what that did.
#[derive(Serialize)]
pub struct Uploaded {
    target: Value,
    files: Vec<String>,
    #[serde(flatten)]
    done: Done,
}

impl Tool for Upload {
    const NAME: &'static str = "upload";
    const KIND: Kind = Kind::Act;
    const BARE: &'static [&'static str] = &["ref", "files"];
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"ref":"n12","files":["/home/me/report.pdf"]}"#,
        r##"{"selector":"#photos","files":["/tmp/a.jpg","/tmp/b.jpg"]}"##,
    ];
    type Output = Uploaded;

    async fn run(self, call: &Call) -> Result<Uploaded> {
        self.target.require()?;
        let document = call.document(&self.target).await?;
        let paths = self.files.clone();
        let directories = blocking(move || readable(&paths)).await?;
        let found = files::input(&document, &self.target, call.deadline()).await?;
        let target = found.target.clone();
        if found.input.is_some() {
            let done = self.give(call, &document, &found, directories).await?;
            return Ok(Uploaded { target, files: self.files, done });
        }
        let (of, opened) = self.open_chooser(call, &document, &target).await?;
        let done = self.give(call, &of, &opened, directories).await?;
        Ok(Uploaded { target, files: self.files, done })
    }
}

impl Upload {
    async fn give(
        &self,
        call: &Call,
        document: &Document,
        input: &FileInput,
        directories: usize,
    ) -> Result<Done> {
        let wrong = |what: String| {
            Err(Code::BadRequest.because(what).fact("argument", "files").fact("target", input.target.clone()))
        };
        if self.files.len() > 1 && !input.multiple && !input.directory {
            return wrong(format!("the input takes one file, not {}", self.files.len()));
        }
        if directories > 0 && !input.directory {
            return wrong("the input takes files, not directories".to_owned());
        }
        if directories > 0 && self.files.len() > 1 {
            return wrong("the input takes one directory".to_owned());
        }
        let number = input.input.ok_or_else(|| super::internal("an upload without an input"))?;
        let before = Before::new(document);
        call.set_acted(Acted::Unknown);
        let giving = files::set(document, number, &self.files, call.deadline());
        point::delivered(call, &document.tab, giving).await?;
        before.after(call, &self.acting).await
    }

    /// Clicks what is no file input, for the chooser that this may open.
    async fn open_chooser(
        &self,
        call: &Call,
        document: &Document,
        target: &Value,
    ) -> Result<(Document, FileInput)> {
        let tab = &document.tab;
        let opened = |skip: usize| tab.look(|s| s.choosers.get(skip).cloned());
        let earlier = tab.look(|s| s.choosers.len());
        let acting = Acting::plain();
        let (_, done) = click(call, document, &self.target, How::default(), &acting).await?;
        let Some(Chooser { frame, node, multiple }) = opened(earlier) else {
            return Err(Code::NotEditable
                .because(format!(
                    "{} is no file input, and a click on it opened no file chooser",
                    words(target)
                ))
                .fact("acted", "yes")
                .fact("effect", done.effect)
                .hint("read again: the click may have brought a file input"));
        };
        let of = Document::new(&document.browser, &document.session, tab, frame);
        let input = files::opened_for(&of, node, call.deadline()).await.unwrap_or_default();
        let by_ref = Locator {
            r#ref: input["ref"].as_str().and_then(|r| r.parse().ok()),
            ..Locator::default()
        };
        by_ref.require().map_err(|_| super::internal("a file chooser without an input"))?;
        let mut found = files::input(&of, &by_ref, call.deadline()).await?;
        found.multiple |= multiple;
        Ok((of, found))
    }
}

fn words(target: &Value) -> String {
    let word = |key: &str| target[key].as_str().unwrap_or_default();
    format!("{} ({} {})", word("ref"), word("role"), quoted(word("name"), 80))
}

/// `io` unless all are files or directories that can be read; how many are directories. Blocks.
fn readable(paths: &[String]) -> Result<usize> {
    let mut directories = 0;
    for path in paths {
        if !Path::new(path).is_absolute() || path.contains('\0') {
            return Err(Code::BadRequest
                .because(format!("files must be absolute paths, not {}", quoted(path, 80)))
                .fact("argument", "files")
                .hint("the daemon's working directory is not yours"));
        }
        // A fifo would be waited for: only what is a file is opened.
        let meta = fs::metadata(path).map_err(|e| unreadable(path, &e))?;
        if meta.is_dir() {
            fs::read_dir(path).map_err(|e| unreadable(path, &e))?;
            directories += 1;
        } else if meta.is_file() {
            File::open(path).map_err(|e| unreadable(path, &e))?;
        } else {
            return Err(Code::Io
                .because(format!("{path} is neither a file nor a directory"))
                .fact("path", path.as_str()));
        }
    }
    Ok(directories)
}

fn unreadable(path: &str, error: &std::io::Error) -> Error {
    Code::Io
        .because(format!("{path} cannot be read: {error}"))
        .fact("path", path)
        .fact("acted", "no")
}
