//! Framing, the envelope and back-pressure, byte by byte.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Client, Daemon};

const PING: &str = "{\"tool\":\"ping\"}\n";

#[test]
fn a_last_line_without_newline_is_a_request() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.write(r#"{"id":1.0,"tool":"ping"}"#);
    client.half_close();
    assert!(
        client
            .line()
            .starts_with(r#"{"id":1.0,"ok":true,"result":{"pong":true,"#)
    );
    assert_eq!(client.rest(), "");
}

#[test]
fn two_requests_in_one_write() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.write("{\"id\":1,\"tool\":\"ping\"}\r\n\n\r\n{\"id\":2,\"tool\":\"ping\"}\n");
    assert_eq!(client.json()["id"], 1);
    assert_eq!(client.json()["id"], 2);
    client.half_close();
    assert_eq!(client.rest(), "");
}

#[test]
fn one_request_in_a_hundred_writes() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let line = format!("{{\"id\":\"{}\",\"tool\":\"ping\"}}\n", "x".repeat(76));
    assert_eq!(line.len(), 100);
    for byte in line.bytes() {
        client.write([byte]);
    }
    assert_eq!(client.json()["id"], "x".repeat(76));
}

#[test]
fn ids_come_back_as_they_were_sent() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for id in [
        "1.0",
        "null",
        "\"x\"",
        "{\"a\": 1}",
        "12345678901234567890123",
        "[]",
        "\"\\u0041\"",
    ] {
        client.write(format!("{{\"tool\":\"ping\", \"id\": {id} }}\n"));
        let line = client.line();
        assert!(
            line.starts_with(&format!("{{\"id\":{id},\"ok\":true,")),
            "{line}"
        );
    }
    client.write("{\"cmd_id\":[1,2],\"from\":\"bus\",\"tool\":\"ping\"}\n");
    assert!(client.line().starts_with("{\"cmd_id\":[1,2],\"ok\":true,"));
    client.write(PING);
    assert!(client.line().starts_with("{\"ok\":true,"));
}

#[test]
fn a_bad_line_costs_one_reply_without_id() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for (line, offset) in [
        (&b"{\"id\":1,\"tool\":\"ping\",}"[..], 22),
        (b"[1]", 0),
        (b"1", 0),
        (b"{\"id\":1,\"a\xff\"}", 10),
        (b"{\"id\":1} x", 9),
        (b"\0", 0),
    ] {
        client.write(line);
        client.write("\n");
        let reply = client.json();
        assert_eq!(reply["error"]["code"], "bad_json", "{reply}");
        assert_eq!(reply["error"]["data"]["offset"], offset, "{reply}");
        assert!(reply.get("id").is_none());
    }
    assert_eq!(client.call("ping", json!({}))["ok"], true);
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let deep = "[".repeat(1_000_000);
    client.write(format!("{{\"tool\":\"ping\",\"args\":{deep}\n"));
    assert_eq!(client.code(), "bad_json");
    let shut = "]".repeat(1_000_000);
    client.write(format!(
        "{{\"id\":1,\"tool\":\"ping\",\"args\":{deep}{shut}}}\n"
    ));
    assert_eq!(client.code(), "bad_request");
    assert_eq!(client.call("ping", json!({}))["ok"], true);
}

#[test]
fn a_line_of_9_mib_is_too_large_and_skipped() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let long = vec![b'x'; 9 << 20];
    client.write(&long);
    assert_eq!(client.code(), "too_large");
    client.write(format!("{PING}{PING}"));
    assert_eq!(client.json()["ok"], true);
    // 8 MiB are not too long.
    let id = "x".repeat((8 << 20) - 23);
    client.write(format!("{{\"tool\":\"ping\",\"id\":\"{id}\"}}\n"));
    let reply = client.json();
    assert_eq!((&reply["id"], &reply["ok"]), (&json!(id), &json!(true)));
    client.half_close();
    assert_eq!(client.rest(), "");
}

#[test]
fn what_is_unknown_is_named_with_its_neighbour() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let error = |client: &mut Client, line: &str| -> Value {
        client.write(format!("{line}\n"));
        let reply = client.json();
        assert_eq!(reply["id"], 1);
        assert_eq!(reply["error"]["code"], "bad_request", "{reply}");
        reply["error"].clone()
    };
    let tool = error(&mut client, r#"{"id":1,"tool":"pnig"}"#);
    assert_eq!(tool["hint"], "did you mean \"ping\"?");
    let field = error(&mut client, r#"{"id":1,"tool":"ping","sesion":"a"}"#);
    assert_eq!(field["hint"], "did you mean \"session\"?");
    let args = r#"{"id":1,"tool":"subscribe","args":{"event":["tab"]}}"#;
    let argument = error(&mut client, args);
    assert_eq!(argument["hint"], "did you mean \"events\"?");
    for line in [
        r#"{"id":1}"#,
        r#"{"id":1,"tool":7}"#,
        r#"{"id":1,"tool":"ping","args":[]}"#,
        r#"{"id":1,"tool":"ping","args":{"x":1}}"#,
        r#"{"id":1,"tool":"ping","timeout_ms":0}"#,
        r#"{"id":1,"tool":"ping","timeout_ms":600001}"#,
        r#"{"id":1,"tool":"ping","session":"a/b"}"#,
        r#"{"id":1,"tool":"subscribe"}"#,
        r#"{"id":1,"tool":"subscribe","args":{"events":[]}}"#,
        r#"{"id":1,"tool":"subscribe","args":{"events":["canvas"]}}"#,
        r#"{"id":1,"tool":"subscribe","args":{"events":["tab"],"tab":"x"}}"#,
        r#"{"id":1,"tool":"cancel"}"#,
        r#"{"id":1,"tool":"cancel","args":{"id":1,"session":"a"}}"#,
    ] {
        error(&mut client, line);
    }
    client
        .write("{\"id\":1,\"tool\":\"ping\",\"args\":null,\"session\":null,\"timeout_ms\":null}\n");
    assert_eq!(client.json()["ok"], true);
}

#[test]
fn a_reply_has_its_lines_dialect() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.write("{\n");
    assert_eq!(client.code(), "bad_json");
    client.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n");
    client.write("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"method\":\"x\"}\n{\n");
    assert!(
        client
            .line()
            .starts_with("{\"jsonrpc\":\"2.0\",\"id\":1.0,\"error\":{\"code\":-32")
    );
    assert!(
        client
            .line()
            .starts_with("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,")
    );
    client.write(format!("{PING}{{\n"));
    assert_eq!(client.json()["ok"], true);
    assert_eq!(client.code(), "bad_json");
}

#[test]
fn ten_thousand_pipelined_pings() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let count = 10_000;
    let lines: String = (0..count)
        .map(|i| format!("{{\"id\":{i},\"tool\":\"ping\"}}\n"))
        .collect();
    let began = Instant::now();
    let mut stream = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || stream.write_all(lines.as_bytes()).unwrap());
    let mut seen = vec![false; count];
    for _ in 0..count {
        let reply = client.json();
        let id = usize::try_from(reply["id"].as_u64().unwrap()).unwrap();
        assert!(!std::mem::replace(&mut seen[id], true));
    }
    sender.join().unwrap();
    println!("{count} pings in {:?}", began.elapsed());
}

#[test]
fn a_client_that_never_reads_is_bounded_and_slows_nobody() {
    let daemon = Daemon::start();
    let before = daemon.rss();
    let mut deaf = daemon.client();
    deaf.stream.set_nonblocking(true).unwrap();
    let lines = "{\"tool\":\"tools\"}\n".repeat(100_000);
    let mut sent = 0;
    // Until neither its own buffer nor the daemon takes more, though the daemon had its chances.
    let mut refused = 0;
    while refused < 200 {
        match deaf.stream.write(&lines.as_bytes()[sent..]) {
            Ok(n) => (sent, refused) = (sent + n, 0),
            Err(_) => refused += 1,
        }
        assert!(sent < lines.len(), "the daemon read everything");
        assert_eq!(daemon.client().call("ping", json!({}))["ok"], true);
    }
    let grown = daemon.rss().saturating_sub(before);
    assert!(
        grown < 8 << 20,
        "{grown} bytes for a client that does not read"
    );
    drop(deaf);
    assert_eq!(daemon.client().call("ping", json!({}))["ok"], true);
}

#[test]
fn two_hundred_clients_at_once() {
    let daemon = Daemon::start();
    let before = daemon.rss();
    let mut clients: Vec<Client> = (0..200).map(|_| daemon.client()).collect();
    for (i, client) in clients.iter_mut().enumerate() {
        client.write(format!("{{\"id\":{i},\"tool\":\"ping\"}}\n"));
    }
    for (i, client) in clients.iter_mut().enumerate().rev() {
        assert_eq!(client.json()["id"], i);
    }
    let each = daemon.rss().saturating_sub(before) / 200;
    println!("{each} bytes an idle connection");
    assert!(each < 16 << 10, "{each} bytes an idle connection");
    let info = clients[0].call("info", json!({}));
    let counters = &info["result"]["counters"];
    assert!(counters["open_connections"].as_u64() >= Some(200), "{info}");
}

#[test]
fn tools_lists_every_tool_with_a_flat_schema() {
    let daemon = Daemon::start();
    let reply = daemon.client().call("tools", json!({}));
    let tools = reply["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|t| t["name"] == "ping"));
    for tool in tools {
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool}");
        assert_eq!(tool["schema"]["type"], "object", "{tool}");
        assert!(tool["schema"].get("anyOf").is_none(), "{tool}");
        assert!(!tool["examples"].as_array().unwrap().is_empty(), "{tool}");
    }
}

#[test]
fn subscribe_keeps_a_half_closed_connection_open() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.write("{\"tool\":\"subscribe\",\"args\":{\"events\":[\"tab\"]}}\n");
    client.half_close();
    assert_eq!(client.json()["ok"], true);
    let mut other = daemon.client();
    let open = |other: &mut Client| {
        let info = other.call("info", json!({}));
        let counters = info["result"]["counters"].clone();
        (
            counters["open_connections"].clone(),
            counters["subscriptions"].clone(),
        )
    };
    assert_eq!(open(&mut other), (json!(2), json!(1)));
    drop(client);
    while open(&mut other) != (json!(1), json!(0)) {}
}
