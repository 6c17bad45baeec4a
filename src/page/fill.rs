//! Fields: the focus, and text as trusted input.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::input;
use super::keys::Chord;
use super::locate::Locator;
use super::{Again, Document, args, budget_ms, frames};
use crate::error::{Code, Result};

/// Keys that are written together, so that a cancelled call soon stops typing.
const BATCH: usize = 32;

/// How a text gets into a field.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Inserted, then the last character by its key.
    #[default]
    Insert,
    /// A key each: boxes of a code.
    Keys,
    /// The Delete key.
    Empty,
    /// The page has set it already.
    Native,
    /// Nothing is to be done.
    None,
}

/// A field that has the focus and waits for its text (`tabd.prepareText`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Field {
    /// How the text goes in.
    pub mode: Mode,
    keys_before: Vec<String>,
    insert: String,
    keys: String,
    /// The field: ref, role, name.
    pub target: Value,
    /// `text`, `area`, `rich` or `native`.
    pub kind: String,
    /// The type of an input.
    pub r#type: String,
    /// What it holds now.
    pub value: String,
    #[serde(skip)]
    sent: AtomicBool,
}

impl Field {
    /// Whether all of the text is on its way.
    pub fn is_sent(&self) -> bool {
        self.sent.load(Ordering::Relaxed)
    }
}

/// How keys are pressed one by one.
#[derive(Clone, Copy, Debug)]
pub struct ByKey {
    /// The pause after each.
    pub delay: Duration,
}

/// Gives the focus to the element that `locator` means, waiting for it until `by`; says what it is.
pub async fn focus(
    document: &Document,
    locator: &Locator,
    by: Instant,
    deadline: Instant,
) -> Result<Value> {
    let mut wanted = locator.args();
    wanted.extend(args(json!({"budget_ms": budget_ms(by)})));
    let mut answer: Value = document.ask("focus", wanted, Again::No, deadline).await?;
    Ok(answer["target"].take())
}

/// Waits, until `by`, until the field can be written in, gives it the focus and selects what is to be replaced.
pub async fn prepare(
    document: &Document,
    locator: &Locator,
    text: &str,
    append: bool,
    by: Instant,
    deadline: Instant,
) -> Result<Field> {
    let mut wanted = locator.args();
    wanted.extend(args(json!({
        "text": text,
        "append": append,
        "budget_ms": budget_ms(by),
    })));
    document
        .ask("prepareText", wanted, Again::No, deadline)
        .await
}

/// Sends what the field waits for.
pub async fn write(
    document: &Document,
    field: &Field,
    by_key: Option<ByKey>,
    deadline: Instant,
) -> Result<()> {
    let tab = &document.tab;
    let chords = |names: &[&str]| -> Result<Vec<Chord>> {
        names.iter().map(|name| Chord::parse(name)).collect()
    };
    let before: Vec<&str> = field.keys_before.iter().map(String::as_str).collect();
    let mut sent = vec![input::strike(tab, &chords(&before)?)?];
    let mut inserted = Vec::new();
    let rich = field.kind == "rich";
    match (field.mode, by_key) {
        (Mode::Native | Mode::None, _) => {}
        (Mode::Empty, _) => sent.push(input::strike(tab, &chords(&["Delete"])?)?),
        (Mode::Insert, None) => {
            // A single line has no place for a newline: a blank, rather than two words in one.
            let text = match field.kind.as_str() {
                "text" => field.insert.replace('\n', " "),
                _ => field.insert.clone(),
            };
            for (i, line) in lines(&text, rich).enumerate() {
                if i > 0 {
                    sent.push(input::strike(tab, &Chord::of_char('\n'))?);
                }
                if !line.is_empty() {
                    inserted.push(input::insert(tab, line)?);
                }
            }
            let keys: Vec<Chord> = field.keys.chars().filter_map(Chord::of_char).collect();
            sent.push(input::strike(tab, &keys)?);
        }
        (Mode::Insert | Mode::Keys, by_key) => {
            for keys in sent.drain(..) {
                keys.done(tab, deadline).await?;
            }
            let text = format!("{}{}", field.insert, field.keys);
            let hop = field.mode == Mode::Keys;
            type_out(document, &text, field, by_key, hop, deadline).await?;
        }
    }
    field.sent.store(true, Ordering::Relaxed);
    for insert in inserted {
        insert.done(tab, deadline).await?;
    }
    for keys in sent {
        keys.done(tab, deadline).await?;
    }
    Ok(())
}

/// What the field holds now; `None` where it cannot be asked any more.
pub async fn value(document: &Document, field: &Field, deadline: Instant) -> Option<String> {
    #[derive(Deserialize)]
    struct Held {
        value: String,
    }
    let same = Locator {
        r#ref: Some(field.target["ref"].as_str()?.parse().ok()?),
        ..Locator::default()
    };
    let asked = document.ask::<Held>("textValue", same.args(), Again::No, deadline);
    asked.await.ok().map(|held| held.value)
}

/// The document that has the focus: `top`, or one of the frames below it.
pub async fn focused_document(top: Document, deadline: Instant) -> Result<Document> {
    let mut document = top;
    while document.tab.look(|s| s.frames.len() > 1) {
        let frames = frames::below(&document, deadline).await;
        let nothing = Locator::default().args();
        let focused: Value = match document.ask("locate", nothing, Again::No, deadline).await {
            Err(error) if error.code() == Code::NotFound => break,
            answer => answer?,
        };
        let Some(number) = focused["frame"].as_u64() else {
            break;
        };
        let inner = frames
            .into_iter()
            .find(|d| d.number.map(u64::from) == Some(number));
        match inner {
            Some(inner) => document = inner,
            None => break,
        }
    }
    Ok(document)
}

/// Where editing is rich, a newline in inserted text would be a blank: each line goes in by itself.
fn lines(text: &str, rich: bool) -> impl Iterator<Item = &str> {
    text.split(move |c| rich && c == '\n')
}

/// Presses a key for each character; those that no key writes are inserted.
///
/// With `hop`, the page's own tasks run between two keys: its code may move the focus on.
async fn type_out(
    document: &Document,
    text: &str,
    field: &Field,
    by_key: Option<ByKey>,
    hop: bool,
    deadline: Instant,
) -> Result<()> {
    let tab = &document.tab;
    let delay = by_key.map_or(Duration::ZERO, |b| b.delay);
    let one_by_one = hop || !delay.is_zero();
    let single = field.kind == "text";
    let blank = |c| if single && c == '\n' { ' ' } else { c };
    let mut chars = text.chars().map(blank).peekable();
    let mut keys = Vec::new();
    while let Some(c) = chars.next() {
        let chord = Chord::of_char(c);
        let known = chord.is_some();
        keys.extend(chord);
        if known && !one_by_one && keys.len() < BATCH && chars.peek().is_some() {
            continue;
        }
        input::strike(tab, &std::mem::take(&mut keys))?
            .done(tab, deadline)
            .await?;
        if !known {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer);
            input::insert(tab, text)?.done(tab, deadline).await?;
        }
        if chars.peek().is_none() {
            break;
        }
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        } else if hop {
            let task = "new Promise((done) => setTimeout(() => done(''), 0))";
            // A page that is left with the last box may not answer.
            let _ = document.script(task, Again::No, deadline).await;
        }
    }
    Ok(())
}
