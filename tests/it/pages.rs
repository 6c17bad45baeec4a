//! Pages of one's own: a server on loopback that answers from a function.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What a request gets: status line without the version, more header lines, body.
pub struct Answer {
    pub status: &'static str,
    pub headers: String,
    pub body: Vec<u8>,
}

/// An HTML page.
pub fn html(body: impl Into<String>) -> Answer {
    let kind = "content-type: text/html; charset=utf-8";
    answer("200 OK", &[kind], body.into())
}

/// An answer with a status and headers, each `name: value`.
pub fn answer(status: &'static str, headers: &[&str], body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status,
        headers: headers.iter().map(|h| format!("{h}\r\n")).collect(),
        body: body.into(),
    }
}

/// A server that ends with the test's process.
pub struct Pages {
    port: u16,
}

impl Pages {
    /// Answers each path with what `pages` makes of it; `{PORT}` in HTML is the server's.
    pub fn serve(pages: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Pages {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages = Arc::new(pages);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = pages.clone();
                std::thread::spawn(move || talk(stream, port, &*pages));
            }
        });
        Pages { port }
    }

    /// One page at every path.
    pub fn one(page: impl Into<String>) -> Pages {
        let page = page.into();
        Pages::serve(move |_| html(page.clone()))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn talk(stream: TcpStream, port: u16, pages: &dyn Fn(&str) -> Answer) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut first = String::new();
        lines.read_line(&mut first).ok().filter(|n| *n > 0)?;
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok().filter(|n| *n > 0)?;
            if line == "\r\n" {
                break;
            }
        }
        let path = first.split(' ').nth(1)?;
        let mut answer = pages(path);
        if answer.headers.contains("text/html") {
            let text = String::from_utf8(answer.body).ok()?;
            answer.body = text.replace("{PORT}", &port.to_string()).into_bytes();
        }
        let head = format!(
            "HTTP/1.1 {}\r\n{}content-length: {}\r\n\r\n",
            answer.status,
            answer.headers,
            answer.body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&answer.body).ok()?;
    }
}
