//! `evaluate`: values, errors, and scripts that do not end, in a real page.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Daemon};

/// A page with a button, a field and a policy against compiling strings.
const PAGE: &str = "data:text/html,<title>t</title>\
<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">\
<button id=b>Go</button><input id=i><iframe id=f srcdoc='<button id=inner>In</button>'></iframe>";

struct Page {
    _daemon: Daemon,
    client: Client,
}

impl Page {
    fn open() -> Page {
        let daemon = Daemon::start();
        let mut client = daemon.client();
        let opened = client.call("open", json!({"url": PAGE}));
        assert_eq!(opened["ok"], true, "{opened}");
        Page {
            _daemon: daemon,
            client,
        }
    }

    fn reply(&mut self, script: &str) -> Value {
        self.client.call("evaluate", json!({"script": script}))
    }

    fn result(&mut self, script: &str) -> Value {
        let reply = self.reply(script);
        assert_eq!(reply["ok"], true, "{script}: {reply}");
        reply["result"].clone()
    }

    fn value(&mut self, script: &str) -> Value {
        self.result(script)["value"].clone()
    }

    fn error(&mut self, script: &str) -> Value {
        let reply = self.reply(script);
        assert_eq!(reply["error"]["code"], "eval_error", "{script}: {reply}");
        reply["error"].clone()
    }

    fn within(&mut self, script: &str, timeout_ms: u64) -> Value {
        self.client.request(
            json!({"tool": "evaluate", "args": {"script": script}, "timeout_ms": timeout_ms}),
        )
    }
}

#[test]
fn every_form_of_script_gives_its_value() {
    let mut page = Page::open();
    for (script, value) in [
        ("1 + 1", json!(2)),
        ("({a: [1, null]})", json!({"a": [1, null]})),
        ("{a: 1}", json!({"a": 1})),
        ("{ let x = 1; x + 1 }", json!(2)),
        ("const rows = [1]; rows.length", json!(1)),
        ("const rows = [1, 2]; rows.length", json!(2)),
        ("await 5", json!(5)),
        ("const r = await Promise.resolve(6); r", json!(6)),
        ("Promise.resolve([7])", json!([7])),
        ("() => 8", json!(8)),
        ("async () => { await 1; return 9 }", json!(9)),
        ("function named() { return 10 }", json!(10)),
        ("// why\n(() => 11);\n", json!(11)),
        ("function f() { return 12 } f()", json!(12)),
        ("null", json!(null)),
        ("'\\u2028 \\n \u{1f419}'", json!("\u{2028} \n \u{1f419}")),
        ("'half a \\ud83d'", json!("half a \u{fffd}")),
    ] {
        assert_eq!(page.value(script), value, "{script}");
    }
    let called = page.result("document.querySelector");
    assert_eq!(called["type"], "function", "only a lone function is called");
}

#[test]
fn what_json_cannot_hold_is_told_as_text() {
    let mut page = Page::open();
    for (script, kind, text) in [
        ("0/0", "number", "NaN"),
        ("-1/0", "number", "-Infinity"),
        ("12345678901234567890n", "bigint", "12345678901234567890n"),
        ("Symbol('s')", "symbol", "Symbol(s)"),
        ("new Date(0)", "date", "1970-01-01T00:00:00.000Z"),
        ("/a/g", "regexp", "/a/g"),
        ("new Map([[1, {a: 2}]])", "map", "Map(1) {1 => {\"a\":2}}"),
        ("window", "window", "[object Window]"),
        ("new RangeError('far')", "error", "RangeError: far"),
    ] {
        let result = page.result(script);
        assert_eq!(
            (&result["type"], &result["text"]),
            (&json!(kind), &json!(text)),
            "{script}"
        );
        assert!(result.get("value").is_none(), "{script}");
    }
    let nothing = page.result("undefined");
    assert_eq!(nothing["type"], "undefined");
    assert!(nothing.get("value").is_none() && nothing.get("text").is_none());
    let nested =
        page.result("const o = {a: [NaN, 1n, undefined], get b() { throw 'no' }}; o.o = o; o");
    assert_eq!(
        nested["value"],
        json!({"a": ["NaN", "1n", "undefined"], "b": "[throws no]", "o": "[circular]"})
    );
    assert_eq!(nested["lossy"], true);
}

#[test]
fn a_page_that_breaks_json_does_not_break_values() {
    let mut page = Page::open();
    page.value(
        "JSON.stringify = () => 'lie'; Object.prototype.toJSON = Array.prototype.toJSON = () => 'lie';
         Array.isArray = () => { throw 1 }; Array.prototype.join = null; 1",
    );
    assert_eq!(
        page.value("[{a: '\"\\n\\u0001'}, [2]]"),
        json!([{"a": "\"\n\u{1}"}, [2]])
    );
}

#[test]
fn elements_come_back_as_refs_and_go_in_as_el() {
    let mut page = Page::open();
    let node = page.result("document.querySelector('#b')");
    assert_eq!(
        (&node["type"], &node["role"]),
        (&json!("node"), &json!("button"))
    );
    assert_eq!(node["name"], "Go");
    let found = page
        .client
        .call("find", json!({"query": "Go", "role": "button"}));
    assert_eq!(found["result"]["nodes"][0]["ref"], node["ref"]);
    for (script, value) in [
        ("el.id", json!("b")),
        ("el => el.id", json!("b")),
        ("function (x) { return x.id }", json!("b")),
        ("const id = await el.id; id + 1", json!("b1")),
        (
            "Object.getOwnPropertyNames(globalThis).some((n) => n.startsWith('__'))",
            json!(false),
        ),
    ] {
        for world in ["page", "isolated"] {
            let args = json!({"script": script, "ref": node["ref"], "world": world});
            let reply = page.client.call("evaluate", args);
            assert_eq!(
                reply["result"]["value"], value,
                "{script} in {world}: {reply}"
            );
        }
    }
    let gone = page
        .client
        .call("evaluate", json!({"script": "el", "ref": "n999999"}));
    assert_eq!(gone["error"]["code"], "stale_ref");
    let inner = page
        .client
        .call("find", json!({"query": "In", "role": "button"}));
    let inner = &inner["result"]["nodes"][0]["ref"];
    let args = json!({"script": "[el.id, document.querySelector('#b')]", "ref": inner});
    let reply = page.client.call("evaluate", args);
    assert_eq!(
        reply["result"]["value"],
        json!(["inner", null]),
        "runs in its frame: {reply}"
    );
}

#[test]
fn what_is_thrown_is_told_whole() {
    let mut page = Page::open();
    for (script, words) in [
        ("throw 'plain words'", "plain words"),
        ("throw {code: 4711}", "4711"),
        ("throw null", "null"),
        (
            "Promise.reject(new TypeError('late words'))",
            "TypeError: late words",
        ),
        ("let let = 1 +", "SyntaxError"),
        ("() => { throw new Error('inside') }", "inside"),
    ] {
        let error = page.error(script);
        assert!(
            error["message"].as_str().unwrap().contains(words),
            "{error}"
        );
    }
    let error = page.error("1;\n  null.x");
    assert_eq!(
        (&error["data"]["line"], &error["data"]["column"]),
        (&json!(2), &json!(8))
    );
    assert!(
        error["data"]["stack"]
            .as_str()
            .unwrap()
            .starts_with("TypeError")
    );
    let error = page.error("function () {\n  missing }");
    assert_eq!(error["data"]["line"], 2, "{error}");
    assert!(
        error["data"]["stack"]
            .as_str()
            .unwrap()
            .contains("<anonymous>:2:3"),
        "{error}"
    );
    let error = page.error("1 +* 2");
    assert_eq!(error["data"]["acted"], "no", "nothing of it ran");
}

#[test]
fn a_script_that_does_not_end_costs_only_its_call() {
    let mut page = Page::open();
    for script in [
        "while (true) {}",
        "await 1; while (true) {}",
        "() => { while (true) {} }",
        "({get a() { while (true) {} }})",
        "new Promise(() => {})",
    ] {
        let began = Instant::now();
        let reply = page.within(script, 700);
        assert_eq!(reply["error"]["code"], "timeout", "{script}: {reply}");
        assert_eq!(reply["error"]["data"]["acted"], "unknown");
        assert!(began.elapsed() < Duration::from_secs(5), "{script}");
        assert_eq!(page.value("2 + 2"), 4, "after {script}");
    }
}

#[test]
fn cancelling_ends_a_running_script() {
    let mut page = Page::open();
    // Whoever cancels must come after the script: the field says that it runs.
    page.client.write("{\"id\":1,\"tool\":\"evaluate\",\"args\":{\"script\":\"console.log(1); while (true) {}\"}}\n");
    let mut other = page._daemon.client();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let cancelled = other.call("cancel", json!({"session": "default"}));
        if cancelled["result"]["cancelled"] == 1 {
            break;
        }
        assert!(Instant::now() < until, "it never ran");
    }
    assert_eq!(page.client.code(), "cancelled");
    assert_eq!(page.value("'alive'"), "alive");
}

#[test]
fn dialogs_and_navigations_end_the_wait_at_once() {
    let mut page = Page::open();
    let told = page.result("alert('hello'); 6");
    assert_eq!(
        (&told["value"], &told["effect"]["dialog"]["type"]),
        (&json!(6), &json!("alert"))
    );
    let told = page.result("prompt('town?')");
    assert_eq!(
        told["effect"]["dialog"],
        json!({"type": "prompt", "message": "town?"})
    );
    assert!(told.get("value").is_none());
    assert_eq!(page.reply("1")["error"]["code"], "dialog_open");
    let answered = page
        .client
        .call("dialog", json!({"accept": true, "text": "Bergen"}));
    assert_eq!(answered["ok"], true, "{answered}");
    assert_eq!(page.value("1"), 1);
    let told = page.result("location.href = 'about:blank'; await new Promise(() => {})");
    assert_eq!(told["effect"]["navigated"], "about:blank", "{told}");
}

#[test]
fn the_effect_tells_what_changed_and_nothing_costs_no_wait() {
    let mut page = Page::open();
    assert_eq!(page.result("1")["effect"]["changed"], false);
    assert_eq!(page.result("i.value = 'x'")["effect"]["changed"], true);
    assert_eq!(
        page.result("b.textContent = 'Stop'")["effect"]["changed"],
        true
    );
    let focus = &page.result("i.focus()")["effect"]["focus"];
    assert_eq!(focus["role"], "textbox", "{focus}");
}

#[test]
fn long_values_are_cut_and_said_to_be() {
    let mut page = Page::open();
    let mut cut = |script: &str, max: u64| {
        let args = json!({"script": script, "max_bytes": max});
        page.client.call("evaluate", args)["result"].clone()
    };
    let told = cut("'\u{e9}'.repeat(100)", 5);
    assert_eq!(
        (&told["value"], &told["truncated"]),
        (&json!("\u{e9}\u{e9}"), &json!(true))
    );
    let told = cut("['x'.repeat(100)]", 6);
    assert_eq!(
        (&told["text"], &told["truncated"]),
        (&json!("[\"xxxx"), &json!(true))
    );
    let told = cut("'x'.repeat(100)", 100);
    assert!(told.get("truncated").is_none());
    let told = cut("Array(1e9)", 1000);
    assert_eq!(told["truncated"], true, "a length costs nothing");
    let told = cut("'x'.repeat(10000000)", 20_000_000);
    assert_eq!(told["value"].as_str().unwrap().len(), 10_000_000);
}
