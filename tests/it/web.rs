//! A web server for tests: loopback, a thread a connection, pages that a test gives it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::support::PATIENCE;

/// Serves until dropped. Paths:
///
/// | path | answer |
/// |---|---|
/// | what [`Web::page`] was given | that, as HTML |
/// | `/status/N` | a small page with status N |
/// | `/redirect/N` | 302 to `/redirect/N-1`, at last to `/status/200` |
/// | `/gate/NAME` | a small page, once [`Web::let_through`] was called |
/// | `/never` | nothing, for as long as the client waits |
/// | `/stall` | the start of a page, and no more |
/// | `/cookies` | sets the query as a cookie; the page's text is the cookies that came |
/// | `/download` | an attachment |
pub struct Web {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, String>,
    open: Vec<String>,
    hits: Vec<String>,
    over: bool,
}

impl Web {
    pub fn start() -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let for_all = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if for_all.state.lock().unwrap().over {
                    return;
                }
                let shared = for_all.clone();
                // A client that goes away is no failure of the server.
                let _ = stream.map(|stream| std::thread::spawn(move || shared.serve(&stream)));
            }
        });
        Web { port, shared }
    }

    /// Its URL of `path`.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The same on another site, which a browser keeps in another process.
    pub fn other_site(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// Serves `html` at `path`, and gives the URL.
    pub fn page(&self, path: &str, html: &str) -> String {
        let mut state = self.shared.state.lock().unwrap();
        state.pages.insert(path.to_owned(), html.to_owned());
        drop(state);
        self.url(path)
    }

    /// Lets the requests for `/gate/NAME` be answered.
    pub fn let_through(&self, name: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.open.push(format!("/gate/{name}"));
        self.shared.changed.notify_all();
    }

    /// How often `path` was asked for.
    pub fn hits(&self, path: &str) -> usize {
        let state = self.shared.state.lock().unwrap();
        state.hits.iter().filter(|hit| *hit == path).count()
    }

    /// Waits until `path` has been asked for `count` times.
    pub fn wait_for(&self, path: &str, count: usize) {
        let until = Instant::now() + PATIENCE;
        let mut state = self.shared.state.lock().unwrap();
        while state.hits.iter().filter(|hit| *hit == path).count() < count {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nobody asked for {path}");
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap().over = true;
        self.shared.changed.notify_all();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        let mut lines = BufReader::new(stream).lines();
        let Some(Ok(first)) = lines.next() else {
            return;
        };
        let mut cookies = String::new();
        for line in lines.map_while(Result::ok).take_while(|l| !l.is_empty()) {
            if let Some(sent) = line.to_ascii_lowercase().strip_prefix("cookie: ") {
                sent.clone_into(&mut cookies);
            }
        }
        let whole = first.split(' ').nth(1).unwrap_or("/");
        let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
        let page = {
            let mut state = self.state.lock().unwrap();
            state.hits.push(path.to_owned());
            self.changed.notify_all();
            state.pages.get(path).cloned()
        };
        if let Some(page) = page {
            return answer(stream, "200 OK", "", &page);
        }
        let mut parts = path.split('/').skip(1);
        match (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        ) {
            ("status", status @ ("204" | "304")) => {
                let _ = (&*stream).write_all(
                    format!("HTTP/1.1 {status} Empty\r\nConnection: close\r\n\r\n").as_bytes(),
                );
            }
            ("status", status) => answer(stream, &format!("{status} So"), "", &small(status)),
            ("redirect", "0") => answer(stream, "302 Found", "Location: /status/200\r\n", ""),
            ("redirect", n) => {
                let next = n.parse::<u32>().unwrap_or(1) - 1;
                answer(
                    stream,
                    "302 Found",
                    &format!("Location: /redirect/{next}\r\n"),
                    "",
                );
            }
            ("gate", name) => {
                self.wait_while(|state| !state.open.iter().any(|open| open == path));
                answer(stream, "200 OK", "", &small(name));
            }
            ("never", _) => self.hold(stream),
            ("stall", _) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n<title>stalled</title><button>Half</button>";
                let _ = (&*stream).write_all(head.as_bytes());
                self.hold(stream);
            }
            ("cookies", _) => {
                let set = match query {
                    "" => String::new(),
                    cookie => format!("Set-Cookie: {cookie}; Path=/; Max-Age=1000\r\n"),
                };
                answer(
                    stream,
                    "200 OK",
                    &set,
                    &format!("<title>cookies</title><p>{cookies}</p>"),
                );
            }
            ("download", _) => answer(
                stream,
                "200 OK",
                "Content-Disposition: attachment; filename=\"a.bin\"\r\n",
                "0123456789",
            ),
            _ => answer(stream, "404 Not Found", "", &small("404")),
        }
    }

    fn wait_while(&self, holds: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap();
        let over = self
            .changed
            .wait_timeout_while(state, PATIENCE, |s| !s.over && holds(s));
        drop(over);
    }

    /// Until the client goes or the server ends.
    fn hold(&self, stream: &TcpStream) {
        let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
        let until = Instant::now() + PATIENCE;
        let mut byte = [0];
        while Instant::now() < until && !self.state.lock().unwrap().over {
            match (&*stream).read(&mut byte) {
                Ok(0) => return,
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return,
                _ => {}
            }
        }
    }
}

fn small(title: &str) -> String {
    format!("<title>{title}</title><p>{title}</p><button>{title}</button>")
}

fn answer(mut stream: &TcpStream, status: &str, headers: &str, body: &str) {
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes());
}
