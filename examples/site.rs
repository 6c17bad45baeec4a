//! A static web server for the demo and the tests: `site DIR [PORT]`.
//!
//! Standard library only, listens on 127.0.0.1 only, serves the files directly inside DIR and
//! nothing else. Without PORT the system picks a free one. The address is the first line on stdout.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A request line or header beyond this is not read.
const LONGEST_LINE: u64 = 8 * 1024;

#[allow(dead_code, reason = "tests include this file for `serve` alone")]
fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let usage = || io::Error::other("usage: site DIR [PORT]");
    let dir = PathBuf::from(args.next().ok_or_else(usage)?);
    let port = match args.next() {
        Some(port) => port
            .to_str()
            .and_then(|p| p.parse().ok())
            .ok_or_else(usage)?,
        None => 0,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let mut stdout = io::stdout();
    writeln!(stdout, "http://{}", listener.local_addr()?)?;
    stdout.flush()?;
    serve(&listener, &dir);
    Ok(())
}

/// Answers every connection to `listener` with files of `dir`, a thread each, for ever.
pub fn serve(listener: &TcpListener, dir: &Path) {
    for stream in listener.incoming().flatten() {
        let dir = dir.to_owned();
        // A browser that goes away in mid-answer is its own business.
        thread::spawn(move || drop(answer(stream, &dir)));
    }
}

fn answer(mut stream: TcpStream, dir: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = line(&mut reader)?;
    while !line(&mut reader)?.is_empty() {}

    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let head = method == "HEAD";
    let (status, kind, body) = match (method, file(dir, target)) {
        ("GET" | "HEAD", Some((kind, body))) => ("200 OK", kind, body),
        ("GET" | "HEAD", None) => {
            let page = b"<!doctype html><title>Not found</title><h1>Not found</h1>".to_vec();
            ("404 Not Found", "text/html; charset=utf-8", page)
        }
        _ => ("405 Method Not Allowed", "text/plain", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    if !head {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// One line without its end; `""` at the end of the headers or of the stream.
fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// The file that a request target names: its type and content. No directories, no `..`, no links out.
fn file(dir: &Path, target: &str) -> Option<(&'static str, Vec<u8>)> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let name = if path.is_empty() { "index.html" } else { path };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.starts_with('.') || !name.chars().all(plain) {
        return None;
    }
    let kind = match name.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "png" => "image/png",
        _ => "application/octet-stream",
    };
    let path = dir.join(name);
    fs::symlink_metadata(&path).ok()?.is_file().then_some(())?;
    Some((kind, fs::read(path).ok()?))
}
