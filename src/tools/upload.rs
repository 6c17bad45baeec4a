//! `upload`: choose files for a file input.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Acted, Call, Kind, Tool};
use crate::error::{Code, Result, quoted};
use crate::files;
use crate::page::act::{Acting, Before, Done};
use crate::page::locate::Locator;
use crate::page::{point, upload};

/// Choose files for a file input, in place of those it has.
///
/// The input may be hidden; its label will do as well. No files empty it.
#[derive(Deserialize, JsonSchema)]
pub struct Upload {
    #[serde(flatten)]
    target: Locator,
    /// Absolute paths.
    #[schemars(length(max = 1000))]
    files: Vec<String>,
    #[serde(flatten)]
    acting: Acting,
}

/// What was chosen, and what the page did with it.
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
        r#"{"ref":"n15","files":["/home/kim/report.pdf"]}"#,
        r#"{"selector":"input[type=file]","files":["/tmp/a.png","/tmp/b.png"]}"#,
    ];
    type Output = Uploaded;

    async fn run(self, call: &Call) -> Result<Uploaded> {
        self.target.require()?;
        let paths = self.files.clone();
        files::blocking(move || paths.iter().try_for_each(|path| check(path))).await?;
        let document = call.document(&self.target).await?;
        let deadline = call.deadline();
        let mut before = Before::new(&document);
        let target = upload::find(&document, &self.target, self.files.len(), deadline).await?;
        match self.files.is_empty() {
            true => before.begin(),
            false => before = Before::new(&document),
        }
        call.set_acted(Acted::Unknown);
        let setting = upload::set(&document, &target, &self.files, deadline);
        point::delivered(call, &document.tab, setting).await?;
        let done = before.after(call, &self.acting).await?;
        Ok(Uploaded {
            target,
            files: self.files,
            done,
        })
    }
}

/// Fails unless the file is there and can be read: the browser would say nothing of it.
fn check(path: &str) -> Result<()> {
    if !Path::new(path).is_absolute() || path.contains('\0') {
        return Err(Code::BadRequest
            .because(format!("{} is not an absolute path", quoted(path, 80)))
            .fact("argument", "files"));
    }
    let io = |what: String| {
        Err(Code::Io
            .because(format!("{}: {what}", quoted(path, 200)))
            .fact("path", path.to_owned()))
    };
    let kind = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(e) => return io(e.to_string()),
    };
    if !kind.is_file() {
        return io("it is no regular file".to_owned());
    }
    match std::fs::File::open(path) {
        Ok(_) => Ok(()),
        Err(e) => io(e.to_string()),
    }
}
