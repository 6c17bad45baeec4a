//! Acting: keys, text, choices and pointing, as a page gets them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Daemon};

/// What every page has: `log` holds the events that it got, `trusted` ones only unless marked.
const LOG: &str = "<!doctype html><meta charset=utf-8><script>
const log = [];
for (const type of ['keydown', 'keyup', 'input', 'change', 'click', 'submit'])
  addEventListener(type, (e) => log.push(type + ' ' + (e.key ?? e.target.id) + (e.isTrusted ? '' : ' untrusted')), true);
</script>";

/// A tab of a session of its own, in a daemon that the tests of this file share.
struct Page {
    client: Client,
    session: String,
    _daemon: Arc<Daemon>,
}

fn shared() -> Arc<Daemon> {
    static SHARED: Mutex<Weak<Daemon>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let daemon = Arc::new(Daemon::start());
        *shared = Arc::downgrade(&daemon);
        daemon
    })
}

impl Page {
    fn open(html: &str) -> Page {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let daemon = shared();
        let mut page = Page {
            client: daemon.client(),
            session: format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed)),
            _daemon: daemon,
        };
        let mut url = String::from("data:text/html,");
        for byte in format!("{LOG}{html}").bytes() {
            url.push_str(&format!("%{byte:02x}"));
        }
        page.ok("open", json!({"url": url, "read": false}));
        page
    }

    fn request(&mut self, tool: &str, args: Value) -> Value {
        let session = &self.session;
        self.client
            .request(json!({"tool": tool, "args": args, "session": session}))
    }

    fn within(&mut self, timeout_ms: u64, tool: &str, args: Value) -> Value {
        let session = &self.session;
        self.client.request(
            json!({"tool": tool, "args": args, "session": session, "timeout_ms": timeout_ms}),
        )
    }

    /// The result of a call that must succeed.
    #[track_caller]
    fn ok(&mut self, tool: &str, args: Value) -> Value {
        let reply = self.request(tool, args.clone());
        assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
        reply["result"].clone()
    }

    /// The error of a call that must fail with `code`, within half a second.
    #[track_caller]
    fn fails(&mut self, code: &str, tool: &str, args: Value) -> Value {
        let reply = self.within(500, tool, args.clone());
        assert_eq!(reply["error"]["code"], code, "{tool} {args}: {reply}");
        reply["error"].clone()
    }

    fn js(&mut self, script: &str) -> Value {
        self.ok("evaluate", json!({"script": script}))["value"].clone()
    }

    /// The events that came since the last time.
    fn log(&mut self) -> Vec<String> {
        let log = self.js("log.splice(0)");
        serde_json::from_value(log).unwrap()
    }

    fn find(&mut self, query: &str) -> String {
        let found = self.ok("find", json!({"query": query}));
        found["nodes"][0]["ref"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_chord_is_trusted_keys_in_order() {
    let mut page = Page::open("<textarea id=t>hello</textarea>");
    let pressed = page.ok("press", json!({"keys": "Control+A", "selector": "#t"}));
    assert_eq!(pressed["target"]["role"], "textbox");
    assert_eq!(page.js("[t.selectionStart, t.selectionEnd]"), json!([0, 5]));
    assert_eq!(
        page.log(),
        ["keydown Control", "keydown a", "keyup a", "keyup Control"]
    );
    assert_eq!(page.js("t.value"), "hello");
}

#[test]
fn keys_do_what_keys_do() {
    let mut page = Page::open("<textarea id=t>one two</textarea><input id=next>");
    let mut press = |keys: &str, value: &str| {
        page.ok("press", json!({"keys": keys}));
        assert_eq!(page.js("t.value"), value, "{keys}");
    };
    press("Tab", "one two");
    press("Control+End", "one two");
    press("Backspace", "one tw");
    press("Home", "one tw");
    press("Delete", "ne tw");
    press("A", "Ane tw");
    press("+", "A+ne tw");
    press(".", "A+.ne tw");
    press("Shift+End", "A+.ne tw");
    press("Control+X", "A+.");
    press("Enter", "A+.\n");
    press("Control+V", "A+.\nne tw");
    press("Control+Z", "A+.\n");
    press("ArrowUp", "A+.\n");
    press("Space", " A+.\n");
    press("ArrowRight", " A+.\n");
    press("Numpad7", " A7+.\n");
    page.ok("press", json!({"keys": "Tab"}));
    assert_eq!(page.js("document.activeElement.id"), "next");
}

#[test]
fn a_held_key_is_down_as_long_and_as_often_as_asked() {
    let mut page = Page::open(
        "<script>let down = 0, held = [];
        onkeydown = () => { down = performance.now(); };
        onkeyup = () => { held.push(performance.now() - down); };</script>",
    );
    let pressed = page.ok("press", json!({"keys": "k", "hold_ms": 120, "count": 3}));
    assert!(
        pressed["effect"]["ms"].as_u64().unwrap() >= 360,
        "{pressed}"
    );
    let held: Vec<f64> = serde_json::from_value(page.js("held")).unwrap();
    assert_eq!(held.len(), 3);
    assert!(held.iter().all(|ms| *ms > 100.0), "{held:?}");
}

#[test]
fn a_key_comes_up_when_its_call_ends_early() {
    let mut page = Page::open("");
    let late = page.within(150, "press", json!({"keys": "k", "hold_ms": 30000}));
    assert_eq!(late["error"]["code"], "timeout", "{late}");
    assert_eq!(late["error"]["data"]["acted"], "yes");
    assert_eq!(page.log(), ["keydown k", "keyup k"]);

    page.js("addEventListener('keydown', () => { document.title = 'down'; })");
    let session = page.session.clone();
    let holding = json!({"id": "h", "tool": "press", "session": session, "args": {"keys": "j", "hold_ms": 30000}});
    page.client.write(format!("{holding}\n"));
    let mut other = page._daemon.client();
    let mut ask = |tool: &str, args: Value| {
        other.request(json!({"tool": tool, "session": session, "args": args}))["result"].clone()
    };
    let began = Instant::now();
    // The title tells that the key is down, while the call still holds its lane.
    while ask("tabs", json!({}))["tabs"][0]["title"] != "down" {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(ask("cancel", json!({"session": session}))["cancelled"], 1);
    let cancelled = page.client.json();
    assert_eq!(cancelled["error"]["code"], "cancelled", "{cancelled}");
    // Scripts do not queue behind input: the key may come up a moment after the next look.
    let mut log = page.log();
    while log.len() < 2 && began.elapsed() < Duration::from_secs(20) {
        log.extend(page.log());
    }
    assert_eq!(log, ["keydown j", "keyup j"]);
}

#[test]
fn an_unknown_key_is_told_with_the_nearest() {
    let mut page = Page::open("");
    let error = page.fails("bad_request", "press", json!({"keys": "Control+Entr"}));
    assert_eq!(error["hint"], "did you mean \"Enter\"?");
    page.fails("bad_request", "press", json!({"keys": "Enter Enter"}));
    assert_eq!(page.log(), [""; 0]);
}

#[test]
fn a_controlled_input_hears_of_the_text() {
    // As frameworks do: a setter on the element that swallows what comes without an event.
    let mut page = Page::open("<input id=i><p id=state></p><script>
        const inner = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
        let known = '';
        Object.defineProperty(i, 'value', { get: () => inner.get.call(i), set: (v) => { known = v; inner.set.call(i, v); } });
        i.addEventListener('input', () => { if (inner.get.call(i) !== known) { known = inner.get.call(i); state.textContent = known; } });
        </script>");
    let typed = page.ok("type", json!({"selector": "#i", "text": "call Ada"}));
    assert_eq!(typed["value"], "call Ada");
    assert_eq!(typed["effect"]["changed"], true);
    assert!(typed.get("differs").is_none(), "{typed}");
    assert_eq!(page.js("state.textContent"), "call Ada");
}

#[test]
fn text_replaces_or_is_added() {
    let mut page =
        Page::open("<input id=i value=old><div id=e contenteditable>old <b>text</b></div>");
    for field in ["#i", "#e"] {
        let mut value = |args: Value| {
            let mut all = json!({"selector": field});
            all.as_object_mut()
                .unwrap()
                .extend(args.as_object().unwrap().clone());
            page.ok("type", all)["value"].clone()
        };
        assert_eq!(value(json!({"text": "new"})), "new", "{field}");
        assert_eq!(
            value(json!({"text": "er", "append": true})),
            "newer",
            "{field}"
        );
        assert_eq!(value(json!({"text": ""})), "", "{field}");
        assert_eq!(
            value(json!({"text": "🐙 é", "by_key": true})),
            "🐙 é",
            "{field}"
        );
    }
    assert!(page.log().iter().all(|e| !e.ends_with("untrusted")));
}

#[test]
fn a_newline_sends_nothing_off() {
    let chat =
        "onkeydown=\"if (event.key === 'Enter' && !event.shiftKey) document.title = 'sent'\"";
    let mut page = Page::open(&format!(
        "<form onsubmit=\"document.title = 'sent'; return false\"><textarea id=t {chat}></textarea><input id=i></form>
         <div id=e contenteditable {chat}></div>"
    ));
    for field in ["#t", "#e"] {
        for by_key in [false, true] {
            let text = "one\ntwo\n\nthree";
            let args = json!({"selector": field, "text": text, "by_key": by_key});
            assert_eq!(page.ok("type", args)["value"], text, "{field} {by_key}");
        }
    }
    let typed = page.ok("type", json!({"selector": "#i", "text": "one\r\ntwo"}));
    assert_eq!(typed["value"], "one two");
    assert_eq!(typed["differs"], true);
    assert_eq!(page.js("document.title"), "");
    page.ok(
        "type",
        json!({"selector": "#i", "text": "end", "submit": true}),
    );
    assert_eq!(page.js("document.title"), "sent");
}

#[test]
fn fields_that_are_no_text_take_their_values() {
    let mut page = Page::open(
        "<input id=d type=date><input id=t type=time><input id=r type=range><input id=c type=color><input id=n type=number>",
    );
    for (field, text) in [
        ("#d", "2031-04-09"),
        ("#t", "17:45"),
        ("#r", "70"),
        ("#c", "#ff8800"),
        ("#n", "12.5"),
    ] {
        let typed = page.ok("type", json!({"selector": field, "text": text}));
        assert_eq!(typed["value"], text, "{field}");
    }
    let log = page.log();
    for field in ["d", "t", "r", "c"] {
        let fired = |what: &str| {
            log.iter()
                .any(|e| e.starts_with(&format!("{what} {field}")))
        };
        assert!(fired("input") && fired("change"), "{field}: {log:?}");
    }
    let error = page.fails(
        "bad_request",
        "type",
        json!({"selector": "#d", "text": "9 April"}),
    );
    assert!(
        error["hint"].as_str().unwrap().contains("2031-04-09"),
        "{error}"
    );
    assert_eq!(page.js("d.value"), "2031-04-09");
}

#[test]
fn a_value_that_is_not_what_was_asked_for_is_told() {
    let mut page = Page::open(
        "<input id=short maxlength=3><input id=loud oninput='value = value.toUpperCase()'><input id=p type=password>",
    );
    let typed = page.ok("type", json!({"selector": "#short", "text": "abcdef"}));
    assert_eq!(
        (&typed["value"], &typed["differs"]),
        (&json!("abc"), &json!(true))
    );
    let typed = page.ok("type", json!({"selector": "#loud", "text": "abc"}));
    assert_eq!(
        (&typed["value"], &typed["differs"]),
        (&json!("ABC"), &json!(true))
    );
    assert!(typed["note"].is_string());
    let typed = page.ok("type", json!({"selector": "#p", "text": "s3c'r&t!.-#(%$)"}));
    assert_eq!(typed["value"], "•••");
    assert!(typed.get("differs").is_none(), "{typed}");
    assert_eq!(page.js("p.value"), "s3c'r&t!.-#(%$)");
}

#[test]
fn a_code_goes_into_its_boxes() {
    let mut page = Page::open("<div id=boxes><input maxlength=1><input maxlength=1><input maxlength=1><input maxlength=1></div><script>
        const all = [...boxes.children];
        all.forEach((box, n) => box.oninput = () => setTimeout(() => all[n + 1]?.focus()));</script>");
    page.ok(
        "type",
        json!({"selector": "#boxes input", "nth": 0, "text": "4815"}),
    );
    assert_eq!(page.js("all.map((box) => box.value).join('')"), "4815");
}

#[test]
fn control_a_then_text_replaces_it() {
    let mut page = Page::open("<textarea id=t>draft one</textarea>");
    page.ok("click", json!({"selector": "#t"}));
    page.ok("press", json!({"keys": "Control+a"}));
    let typed = page.ok("type", json!({"text": "final"}));
    assert_eq!(typed["value"], "final");
    assert_eq!(page.js("t.value"), "final");
}

#[test]
fn keys_and_text_reach_the_frame_that_has_the_focus() {
    let mut page = Page::open("<iframe srcdoc='<input aria-label=Inner>'></iframe>");
    let field = page.find("Inner");
    page.ok("type", json!({"ref": field, "text": "abc"}));
    let pressed = page.ok("press", json!({"keys": "x"}));
    assert_eq!(pressed["effect"]["changed"], true);
    let typed = page.ok("type", json!({"text": "def", "append": true}));
    assert_eq!(typed["value"], "abcxdef");
    assert_eq!(typed["target"]["ref"], field.as_str());
}

#[test]
fn slow_keys_have_their_time() {
    let mut page = Page::open("<input id=i>");
    let typed = page.ok(
        "type",
        json!({"selector": "#i", "text": "slow", "delay_ms": 40}),
    );
    assert_eq!(typed["value"], "slow");
    assert!(typed["effect"]["ms"].as_u64().unwrap() >= 120, "{typed}");
    let downs = page
        .log()
        .iter()
        .filter(|e| e.starts_with("keydown"))
        .count();
    assert_eq!(downs, 4);
    let late = page.within(
        300,
        "type",
        json!({"selector": "#i", "text": "0123456789", "delay_ms": 100}),
    );
    assert_eq!(late["error"]["code"], "timeout", "{late}");
    assert_eq!(late["error"]["data"]["acted"], "yes");
}

#[test]
fn a_dialog_ends_the_wait() {
    let mut page = Page::open(
        "<input id=d type=date onchange='confirm(\"sure?\")'><input id=i onkeydown='if (event.key === \"Enter\") confirm(\"send?\")'><select id=s onchange='confirm(\"move?\")'><option>a<option>b</select>",
    );
    for (tool, args, message) in [
        (
            "type",
            json!({"selector": "#d", "text": "2031-04-09"}),
            "sure?",
        ),
        (
            "type",
            json!({"selector": "#i", "text": "x", "submit": true}),
            "send?",
        ),
        ("press", json!({"selector": "#i", "keys": "Enter"}), "send?"),
        (
            "select",
            json!({"selector": "#s", "values": ["b"]}),
            "move?",
        ),
    ] {
        let acted = page.ok(tool, args);
        assert_eq!(
            acted["effect"]["dialog"]["message"], message,
            "{tool}: {acted}"
        );
        page.ok("dialog", json!({"accept": true}));
    }
}

#[test]
fn options_are_chosen_by_label_or_value() {
    let mut page = Page::open(
        "<select id=s><option value=a>Alpha<option value=b>Beta<option value=c disabled>Gamma</select><select id=m multiple><option>1<option>2<option>3</select><button id=b>B</button>",
    );
    for (value, label) in [("Beta", "Beta"), ("a", "Alpha")] {
        let chosen = page.ok("select", json!({"selector": "#s", "values": [value]}));
        assert_eq!(chosen["selected"], json!([label]));
        assert_eq!(chosen["effect"]["changed"], true);
    }
    assert_eq!(page.js("s.value"), "a");
    let chosen = page.ok("select", json!({"selector": "#m", "values": ["3", "1"]}));
    assert_eq!(chosen["selected"], json!(["1", "3"]));
    page.ok("select", json!({"selector": "#m", "values": []}));
    assert_eq!(page.js("m.selectedOptions.length"), 0);
    page.log();
    let error = page.fails(
        "not_found",
        "select",
        json!({"selector": "#s", "values": ["Delta"]}),
    );
    assert_eq!(error["data"]["options"], json!(["Alpha", "Beta", "Gamma"]));
    page.fails(
        "disabled",
        "select",
        json!({"selector": "#s", "values": ["Gamma"]}),
    );
    page.fails(
        "bad_request",
        "select",
        json!({"selector": "#s", "values": ["a", "b"]}),
    );
    page.fails(
        "not_editable",
        "select",
        json!({"selector": "#b", "values": ["a"]}),
    );
    page.fails("bad_request", "select", json!({"selector": "#s"}));
    assert_eq!(page.js("s.value"), "a");
    assert_eq!(page.log(), [""; 0]);
}

#[test]
fn a_box_is_checked_once_and_looked_at_afterwards() {
    let mut page = Page::open("<label id=l>Ok<input type=checkbox id=c></label>
        <div id=w role=switch aria-checked=false tabindex=0 onclick='ariaChecked = ariaChecked !== \"true\"'>W</div>
        <input type=checkbox id=stuck onclick='event.preventDefault()'><button id=b>B</button>
        <input type=radio name=g id=r1 checked><input type=radio name=g id=r2><input type=checkbox id=h><script>h.indeterminate = true</script>");
    let mut check = |args: Value, state: bool| {
        let checked = page.ok("check", args.clone());
        assert_eq!(checked["checked"], state, "{args}: {checked}");
        page.log().iter().filter(|e| e.starts_with("click")).count()
    };
    assert_eq!(check(json!({"selector": "#c"}), true), 1);
    assert_eq!(check(json!({"selector": "#c"}), true), 0);
    assert_eq!(check(json!({"selector": "#c", "checked": false}), false), 1);
    assert_ne!(check(json!({"selector": "#l"}), true), 0);
    assert_eq!(check(json!({"selector": "#w"}), true), 1);
    assert_eq!(check(json!({"selector": "#w", "checked": false}), false), 1);
    assert_eq!(check(json!({"selector": "#r2"}), true), 1);
    assert_eq!(check(json!({"selector": "#h", "checked": false}), false), 2);
    let error = page.fails("not_editable", "check", json!({"selector": "#stuck"}));
    assert_eq!(error["data"]["acted"], "yes");
    page.log();
    page.fails("not_editable", "check", json!({"selector": "#b"}));
    page.fails(
        "not_editable",
        "check",
        json!({"selector": "#r2", "checked": false}),
    );
    assert_eq!(page.log(), [""; 0]);
}

#[test]
fn a_menu_opens_under_the_pointer() {
    let mut page = Page::open("<style>ul { display: none } nav { width: 9em } nav:hover ul { display: block }</style>
        <div style='height: 2000px'></div><nav>Garden<ul><li><a href='#tools' onclick='document.title = \"tools\"'>Hand tools</a></ul></nav>");
    let none = page.ok("find", json!({"query": "Hand tools"}));
    assert_eq!(none["count"], 0);
    let hovered = page.ok("hover", json!({"selector": "nav", "read": true}));
    let nodes = hovered["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|n| n["name"] == "Hand tools"), "{hovered}");
    let link = page.find("Hand tools");
    page.ok("click", json!({"ref": link}));
    assert_eq!(page.js("document.title"), "tools");
    page.ok("hover", json!({"x": 700, "y": 5}));
    assert_eq!(page.ok("find", json!({"query": "Hand tools"}))["count"], 0);
    page.fails("bad_request", "hover", json!({"x": 700}));
    page.fails("bad_request", "hover", json!({}));
}

#[test]
fn scrolling_tells_where_it_is() {
    let mut page = Page::open("<style>html { scroll-behavior: smooth } body { margin: 0 }</style>
        <div id=box style='height: 100px; overflow: auto'><div style='height: 1000px'></div><b id=deep>deep</b></div>
        <div style='height: 3000px'></div><p id=far>far");
    let at = page.ok("scroll", json!({"dy": 300}));
    assert_eq!(
        (&at["x"], &at["y"], &at["at_end"]),
        (&json!(0), &json!(300), &json!(false))
    );
    assert_eq!(page.js("scrollY"), 300);
    let at = page.ok("scroll", json!({"to": "bottom"}));
    assert_eq!(at["at_end"], true);
    assert_eq!(at["y"], at["max_y"]);
    assert_eq!(page.ok("scroll", json!({"to": "top"}))["y"], 0);
    let at = page.ok("scroll", json!({"selector": "#far"}));
    assert_eq!(at["target"]["role"], "paragraph");
    assert!(
        page.js("far.getBoundingClientRect().bottom <= innerHeight")
            .as_bool()
            .unwrap()
    );
    let at = page.ok(
        "scroll",
        json!({"to": "bottom", "within": {"selector": "#box"}}),
    );
    assert_eq!(at["at_end"], true);
    assert_eq!(page.js("box.scrollTop"), at["y"]);
    for args in [
        json!({}),
        json!({"to": "top", "dy": 3}),
        json!({"dy": 3, "within": {}}),
    ] {
        page.fails("bad_request", "scroll", args);
    }
}

#[test]
fn what_grows_at_the_bottom_is_told_as_it_is_then() {
    let mut page = Page::open("<div style='height: 2000px'></div><script>
        onscroll = () => { onscroll = null; const more = document.createElement('p'); more.style.height = '900px'; document.body.append(more); };</script>");
    let at = page.ok("scroll", json!({"to": "bottom"}));
    assert_eq!(at["effect"]["changed"], true);
    assert_eq!(at["at_end"], false);
    let grown = page.js("document.documentElement.scrollHeight - innerHeight");
    assert_eq!(at["max_y"], grown);
}

#[test]
fn a_ref_that_is_gone_acts_on_nothing_else() {
    let mut page = Page::open("<div id=list><button>Save</button></div><input aria-label=Name>");
    let save = page.find("Save");
    let name = page.find("Name");
    page.js("document.body.innerHTML = '<button>Save</button><input aria-label=Name>'");
    page.log();
    for (tool, args) in [
        ("click", json!({"ref": save})),
        ("hover", json!({"ref": save})),
        ("press", json!({"ref": name, "keys": "Enter"})),
        ("type", json!({"ref": name, "text": "x"})),
        ("check", json!({"ref": name})),
        ("select", json!({"ref": name, "values": ["x"]})),
        ("scroll", json!({"ref": name})),
    ] {
        let error = page.fails("stale_ref", tool, args);
        assert_eq!(error["data"]["why"], "removed", "{tool}");
        assert!(error["data"]["candidate"].is_string(), "{tool}: {error}");
    }
    assert_eq!(page.log(), [""; 0]);
}

#[test]
fn what_lies_on_top_is_named() {
    let mut page = Page::open(
        "<button id=b>Join</button><input type=checkbox id=c><div role=dialog aria-label=Cookies style='position: fixed; inset: 0; background: white'>no</div>",
    );
    for (tool, args) in [
        ("click", json!({"selector": "#b"})),
        ("hover", json!({"selector": "#b"})),
        ("check", json!({"selector": "#c"})),
    ] {
        let error = page.fails("covered", tool, args);
        assert_eq!(error["data"]["by"]["name"], "Cookies", "{tool}: {error}");
    }
    assert_eq!(page.js("c.checked"), false);
}

#[test]
fn a_field_that_cannot_be_written_says_why() {
    let mut page = Page::open(
        "<input id=d disabled><input id=r readonly><button id=b>B</button><input id=f type=file><p id=h hidden>",
    );
    page.fails("disabled", "type", json!({"selector": "#d", "text": "x"}));
    page.fails(
        "not_editable",
        "type",
        json!({"selector": "#r", "text": "x"}),
    );
    page.fails(
        "not_editable",
        "type",
        json!({"selector": "#b", "text": "x"}),
    );
    page.fails(
        "not_editable",
        "type",
        json!({"selector": "#f", "text": "x"}),
    );
    page.fails(
        "not_found",
        "type",
        json!({"selector": "#none", "text": "x"}),
    );
    page.fails(
        "ambiguous",
        "type",
        json!({"selector": "input", "text": "x"}),
    );
    assert_eq!(page.js("[d.value, r.value]"), json!(["", ""]));
}

#[test]
fn what_the_browser_drags_is_dropped() {
    let mut page = Page::open("<style>div { width: 200px; height: 80px }</style>
        <div id=a draggable=true>Card</div><div id=gap></div><div id=b>Column</div><script>
        a.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'a');
        b.ondragover = (e) => e.preventDefault();
        b.ondrop = (e) => { b.append(document.getElementById(e.dataTransfer.getData('text/plain'))); document.title = e.isTrusted; };</script>");
    let drag = json!({"from": {"selector": "#a"}, "to": {"selector": "#b"}});
    let dragged = page.ok("drag", drag);
    assert_eq!(dragged["effect"]["changed"], true, "{dragged}");
    assert_eq!(
        page.js("[a.parentNode.id, document.title]"),
        json!(["b", "true"])
    );
    // Nothing goes on: the next press is a click.
    page.log();
    page.ok("click", json!({"selector": "#gap"}));
    assert_eq!(page.log(), ["click gap"]);
}

#[test]
fn what_follows_the_mouse_is_let_go_where_asked() {
    let mut page = Page::open("<style>body { margin: 0; user-select: none } div { position: absolute; width: 60px; height: 60px }</style>
        <div id=hole style='left: 400px; top: 300px'>Hole</div><div id=a style='left: 0; top: 0'>Peg</div>
        <input id=r type=range max=100 value=0 style='position: absolute; top: 500px; left: 0; width: 200px'><script>
        let held = false, moves = 0;
        a.onmousedown = () => { held = true; };
        onmousemove = (e) => { if (held) { moves++; a.style.left = e.clientX - 30 + 'px'; a.style.top = e.clientY - 30 + 'px'; } };
        onmouseup = () => { held = false; };</script>");
    let dragged = page.ok(
        "drag",
        json!({"from": {"selector": "#a"}, "to": {"selector": "#hole"}}),
    );
    assert_eq!(
        (&dragged["x"], &dragged["y"]),
        (&json!(430.0), &json!(330.0))
    );
    assert_eq!(
        page.js("[a.style.left, a.style.top, held]"),
        json!(["400px", "300px", false])
    );
    assert!(page.js("moves").as_u64().unwrap() >= 5);
    let points = json!([{"x": 200, "y": 100}, {"x": 100, "y": 200}]);
    page.ok(
        "drag",
        json!({"from": {"x": 430, "y": 330}, "to": {"x": 50, "y": 60}, "points": points}),
    );
    assert_eq!(
        page.js("[a.style.left, a.style.top]"),
        json!(["20px", "30px"])
    );
    page.ok("drag", json!({"from": {"selector": "#r", "x": 8, "y": 8}, "to": {"selector": "#r", "x": 192, "y": 8}}));
    assert_eq!(page.js("r.value"), "100");
    for args in [
        json!({"from": {}, "to": {"x": 1, "y": 1}}),
        json!({"from": {"x": 1}, "to": {"x": 1, "y": 1}}),
        json!({"from": {"x": 1, "y": 1}}),
    ] {
        page.fails("bad_request", "drag", args);
    }
}
