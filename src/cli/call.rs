//! One call: the request out, its reply in, and both to where they belong.

use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::connect::Address;
use super::start::Oneshot;
use super::words::Invocation;
use super::{FAILED, print};
use crate::error::{Code, Error, Result};
use crate::tools::Entry;
use crate::wire;

/// Beyond an explicit timeout the daemon owes its reply at once; this much later it is given up.
const GRACE: Duration = Duration::from_secs(10);

/// Makes the call and prints what came of it. The exit status: 0 for `ok:true`, else 1.
pub fn run(mut call: Invocation, here: &Path) -> ExitCode {
    let raw = call.json || !io::stdout().is_terminal();
    if !raw {
        prefer_outline(&mut call);
    }
    match exchange(&call, here, |line| show(&call, raw, line)) {
        Ok(code) => code,
        Err(error) => {
            // Nobody answered: the same shape, so that a script has one thing to read.
            if raw {
                let line = wire::reply_line(&wire::Ids::default(), Err(&error), false);
                let _ = write_out(line.as_bytes());
            }
            complain(&print::error(&error));
            ExitCode::from(FAILED)
        }
    }
}

/// On a terminal pages are for eyes.
fn prefer_outline(call: &mut Invocation) {
    let outlined = Entry::find(call.tool).is_ok_and(|entry| {
        let words = entry.schema()["properties"]["format"]["enum"].as_array();
        words.is_some_and(|words| words.contains(&json!("outline")))
    });
    if outlined && !call.args.contains_key("format") {
        call.args.insert("format".to_owned(), json!("outline"));
    }
}

/// Sends the request and hands over each line that comes back: one, or after `subscribe` all.
fn exchange(
    call: &Invocation,
    here: &Path,
    mut show: impl FnMut(&[u8]) -> io::Result<bool>,
) -> Result<ExitCode> {
    let request = call.line();
    let wait = call.timeout_ms.map(|ms| Duration::from_millis(ms) + GRACE);
    let (mut reply, _oneshot) = match &call.route.oneshot {
        Some(flags) => {
            let (oneshot, stream) = Oneshot::start(flags)?;
            (
                ask(stream, &request, wait).map_err(Lost::error)?,
                Some(oneshot),
            )
        }
        None => {
            let address = Address::find(call.route.socket.as_deref(), here)?;
            let first = ask(address.connect()?, &request, wait);
            let reply = match first {
                // The daemon was going away; nothing has been done.
                Err(Lost::Untaken(_)) => ask(address.connect()?, &request, wait),
                other => other,
            };
            (reply.map_err(Lost::error)?, None)
        }
    };
    let stays = call.tool == "subscribe";
    let mut code = ExitCode::SUCCESS;
    loop {
        match show(&reply.line) {
            Ok(true) => {}
            Ok(false) => return Ok(ExitCode::from(FAILED)),
            // Whoever read us has seen enough.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(code),
            Err(e) => return Err(Code::Io.because(format!("cannot write the reply: {e}"))),
        }
        if !stays {
            return Ok(code);
        }
        let _ = reply.from.get_ref().set_read_timeout(None);
        reply.line.clear();
        match reply.from.read_until(b'\n', &mut reply.line) {
            Ok(0) => return Ok(code),
            Ok(_) => {}
            Err(_) => {
                code = ExitCode::from(FAILED);
                return Ok(code);
            }
        }
    }
}

struct Reply {
    line: Vec<u8>,
    from: BufReader<UnixStream>,
}

/// Why there is no reply.
enum Lost {
    /// The request certainly reached nobody.
    Untaken(io::Error),
    /// The daemon may have acted on it.
    Unknown(Error),
}

impl Lost {
    fn error(self) -> Error {
        match self {
            Lost::Untaken(e) => {
                Code::Io.because(format!("the daemon did not take the request: {e}"))
            }
            Lost::Unknown(error) => error.fact("acted", "unknown"),
        }
    }
}

fn ask(stream: UnixStream, request: &str, wait: Option<Duration>) -> Result<Reply, Lost> {
    let mut from = BufReader::with_capacity(64 << 10, stream);
    // A daemon that refuses a stranger writes its reason and closes without reading: its line
    // counts for more than our failure to write.
    let sent = from.get_mut().write_all(request.as_bytes());
    let _ = from.get_ref().set_read_timeout(wait);
    let mut line = Vec::new();
    match (from.read_until(b'\n', &mut line), sent) {
        (Ok(_), _) if line.ends_with(b"\n") => Ok(Reply { line, from }),
        (_, Err(e)) if line.is_empty() => Err(Lost::Untaken(e)),
        // A peer that closes with our line unread resets the connection.
        (Err(e), _) if e.kind() == io::ErrorKind::ConnectionReset && line.is_empty() => {
            Err(Lost::Untaken(e))
        }
        (Err(e), _) if e.kind() == io::ErrorKind::WouldBlock => Err(Lost::Unknown(
            Code::Timeout
                .because("the daemon did not answer in time")
                .hint("it may be stopped or wedged; its pid is in `tabd ping` of another terminal"),
        )),
        (Err(e), _) => Err(Lost::Unknown(
            Code::Io.because(format!("the connection broke: {e}")),
        )),
        (Ok(_), _) => Err(Lost::Unknown(
            Code::Io.because("the daemon went away without an answer"),
        )),
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    ok: Option<bool>,
    #[serde(borrow)]
    result: Option<&'a serde_json::value::RawValue>,
    error: Option<Value>,
}

/// Prints one line; says whether it was anything but a failure.
fn show(call: &Invocation, raw: bool, line: &[u8]) -> io::Result<bool> {
    let reply: Envelope = serde_json::from_slice(line).unwrap_or(Envelope {
        ok: Some(false),
        result: None,
        error: Some(json!({"code":"internal","message":"the daemon's reply is not JSON"})),
    });
    if raw {
        write_out(line)?;
    }
    if reply.ok == Some(false) {
        complain(&print::refusal(&reply.error.unwrap_or_default()));
        return Ok(false);
    }
    if !raw {
        match reply
            .result
            .and_then(|r| serde_json::from_str(r.get()).ok())
        {
            Some(result) => {
                let readable = print::result(call.tool, &result);
                write_out(readable.text.as_bytes())?;
                if let Some(remark) = readable.remark {
                    complain(&format!("tabd: {remark}\n"));
                }
            }
            // An event.
            None => write_out(print::printable(&String::from_utf8_lossy(line)).as_bytes())?,
        }
    }
    Ok(true)
}

/// Writes all of it to stdout.
pub fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes it to stderr, if there is one.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
