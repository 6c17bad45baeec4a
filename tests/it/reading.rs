//! What `read` and `find` tell: refs and whose they are, frames, shadow roots, differences, no trace.

use serde_json::{Value, json};

use crate::pages::{Pages, html};
use crate::support::{Client, Daemon};

struct Reader {
    client: Client,
    _daemon: Daemon,
}

impl Reader {
    fn at(url: &str) -> Reader {
        let daemon = Daemon::start();
        let mut reader = Reader {
            client: daemon.client(),
            _daemon: daemon,
        };
        reader.ok("open", json!({"url": url, "read": false}));
        reader
    }

    fn ok(&mut self, tool: &str, args: Value) -> Value {
        let request = json!({"tool": tool, "args": args, "timeout_ms": 30_000});
        let reply = self.client.request(request);
        assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
        reply["result"].clone()
    }

    fn fails(&mut self, tool: &str, args: Value) -> Value {
        let reply = self.client.request(json!({"tool": tool, "args": args}));
        assert_eq!(reply["ok"], false, "{tool} {args}: {reply}");
        reply["error"].clone()
    }

    fn nodes(&mut self, args: Value) -> Vec<Value> {
        self.ok("read", args)["nodes"].as_array().unwrap().clone()
    }

    fn node(&mut self, role: &str, name: &str) -> Value {
        let nodes = self.nodes(json!({}));
        let found = nodes
            .iter()
            .find(|n| n["role"] == role && n["name"] == name);
        found
            .unwrap_or_else(|| panic!("no {role} {name:?} in {nodes:?}"))
            .clone()
    }

    fn js(&mut self, script: &str) -> Value {
        self.ok("evaluate", json!({"script": script}))["value"].clone()
    }
}

#[test]
fn roles_names_and_states_are_those_of_the_specifications() {
    let pages = Pages::one(
        "<main><h2>Title</h2><label>Mail <input type=email value=a@b.c required></label>
         <input type=checkbox aria-label=On checked><select aria-label=Town disabled><option>Oslo</select>
         <button aria-expanded=false><span>Save</span> <b>all</b></button><a href=/x>Go</a>
         <div role=heaDing aria-level=3>Sub</div><p>Some <i>words</i> here</p>
         <div hidden>no</div><div aria-hidden=true>no</div><img src=data: alt=Cat></main>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    let nodes = reader.nodes(json!({}));
    let has = |wanted: Value| {
        let wanted = wanted.as_object().unwrap().clone();
        let fits = |n: &&Value| wanted.iter().all(|(k, v)| n[k] == *v);
        assert!(nodes.iter().any(|n| fits(&n)), "{wanted:?} in {nodes:?}");
    };
    has(json!({"role": "main", "name": "", "depth": 0}));
    has(json!({"role": "heading", "name": "Title", "level": 2, "depth": 1}));
    has(json!({"role": "textbox", "name": "Mail", "value": "a@b.c", "required": true}));
    has(json!({"role": "checkbox", "name": "On", "checked": true}));
    has(json!({"role": "combobox", "name": "Town", "value": "Oslo", "disabled": true}));
    has(json!({"role": "button", "name": "Save all", "expanded": false}));
    has(json!({"role": "link", "name": "Go", "url": pages.url("/x")}));
    has(json!({"role": "heading", "name": "Sub", "level": 3}));
    has(json!({"role": "text", "name": "Some words here"}));
    has(json!({"role": "img", "name": "Cat"}));
    assert!(nodes.iter().all(|n| n["name"] != "no"), "{nodes:?}");
}

#[test]
fn a_ref_stays_with_its_element_and_is_never_another_elements() {
    let pages = Pages::serve(|path| html(format!("<title>{path}</title><button>A</button>")));
    let mut reader = Reader::at(&pages.url("/1"));
    let old = reader.node("button", "A")["ref"].clone();
    reader.js("document.body.prepend(Object.assign(document.createElement('button'), {textContent: 'B'}))");
    assert_eq!(reader.node("button", "A")["ref"], old);
    assert_ne!(reader.node("button", "B")["ref"], old);

    reader.js("kept = document.querySelectorAll('button')[1]; kept.remove()");
    let error = reader.fails("click", json!({"ref": old}));
    assert_eq!(error["code"], "stale_ref", "{error}");
    assert_eq!(error["data"]["why"], "removed");
    reader.js("document.body.append(kept)");
    assert_eq!(reader.node("button", "A")["ref"], old);

    let mut seen = vec![old.clone()];
    for path in ["/2", "/3", "/1"] {
        reader.ok("open", json!({"url": pages.url(path), "read": false}));
        let error = reader.fails("click", json!({"ref": old}));
        assert_eq!(error["data"]["why"], "navigated", "{error}");
        let new = reader.node("button", "A")["ref"].clone();
        assert!(!seen.contains(&new), "{new} again");
        seen.push(new);
    }
}

#[test]
fn frames_of_any_origin_and_depth_are_read_and_clicked() {
    let pages = Pages::serve(|path| {
        html(match path {
            "/" => "<title>top</title><div style='height:40px'></div>
                <iframe src='http://localhost:{PORT}/other' style='transform:scale(.5);width:400px;height:300px'></iframe>",
            "/other" => "<button onclick='this.textContent=\"One done\"'>One</button><iframe src='http://127.0.0.1:{PORT}/deep'></iframe>",
            _ => "<button onclick='this.textContent=\"Two done\"'>Two</button>",
        })
    });
    let mut reader = Reader::at(&pages.url("/"));
    for name in ["One", "Two"] {
        let node = reader.node("button", name);
        let r = node["ref"].as_str().unwrap().to_owned();
        assert!(r.starts_with('f'), "{r}");
        assert!(node["depth"].as_u64().unwrap() > 0, "{node}");
        let clicked = reader.ok("click", json!({"ref": r}));
        assert_eq!(clicked["effect"]["changed"], true, "{clicked}");
        let done = reader.node("button", &format!("{name} done"));
        assert_eq!(done["ref"], r.as_str());
    }
}

#[test]
fn closed_shadow_roots_and_plain_listeners_are_seen() {
    let pages = Pages::one(
        "<x-box></x-box><div id=d>Row</div><div>Plain</div><script>
         customElements.define('x-box', class extends HTMLElement {
           constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML =
             '<button onclick=\"document.title=1\">Inside</button>'; } });
         d.addEventListener('click', () => document.title = 2);
         document.addEventListener('click', () => {});</script>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    let inside = reader.node("button", "Inside")["ref"].clone();
    reader.ok("click", json!({"ref": inside}));
    assert_eq!(reader.js("document.title"), "1");
    let row = reader.node("generic", "Row");
    assert_eq!(row["clickable"], true);
    reader.ok("click", json!({"ref": row["ref"]}));
    assert_eq!(reader.js("document.title"), "2");
    reader.node("text", "Plain");
}

#[test]
fn many_listeners_that_come_and_go_do_not_cost_the_page_its_life() {
    let pages = Pages::one(
        "<script>function fill() { document.body.textContent = '';
         for (let i = 0; i < 2000; i++) { const d = document.createElement('div'); d.textContent = 'x' + i;
           d.addEventListener('click', () => {}); document.body.append(d); } }</script><body onload=fill()>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    for _ in 0..12 {
        let read = reader.ok("read", json!({"max": 5}));
        assert_eq!(read["total"], 2000);
        reader.js("fill(); const g = []; for (let i = 0; i < 300; i++) g.push(new Array(20000).fill(i)); g.length");
    }
}

#[test]
fn a_difference_brings_exactly_what_changed() {
    let pages = Pages::one(
        "<ul id=u><li><button>1</button><li><button>2</button><li><button>3</button></ul>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    let first = reader.ok("read", json!({}));
    let two = reader.node("button", "2")["ref"].clone();
    reader.js("u.children[1].remove(); u.children[0].firstChild.disabled = true; u.insertAdjacentHTML('beforeend', '<li><button>4</button>')");
    let since = reader.ok("read", json!({"since": first["snapshot"]}));
    assert_eq!(since["base"], first["snapshot"], "{since}");
    let names = |list: &Value| -> Vec<String> {
        let buttons = list
            .as_array()
            .unwrap()
            .iter()
            .filter(|n| n["role"] == "button");
        buttons
            .map(|n| n["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&since["added"]), ["4"], "{since}");
    assert_eq!(names(&since["changed"]), ["1"], "{since}");
    assert!(
        since["removed"].as_array().unwrap().contains(&two),
        "{since}"
    );
    let unknown = reader.ok("read", json!({"since": "s999"}));
    assert!(unknown["base"].is_null() && unknown["nodes"].is_array());
}

#[test]
fn reading_leaves_no_trace_and_hostile_pages_change_nothing() {
    let pages = Pages::one(
        "<form><input name=parentNode aria-label=P><input name=tagName aria-label=T><button>Send</button></form>
         <div style='height:3000px'></div><script>
         JSON.stringify = Array.prototype.map = Element.prototype.getAttribute = document.querySelector = () => { throw 1 };
         focusin = 0; addEventListener('focusin', () => focusin++); scrollTo(0, 500);
         look = () => [Object.keys(window).length, typeof tabd, document.documentElement.outerHTML.length,
           document.activeElement.localName, scrollY, focusin].join()</script>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    let before = reader.js("look()");
    for (role, name) in [("textbox", "P"), ("textbox", "T"), ("button", "Send")] {
        reader.node(role, name);
    }
    reader.ok("find", json!({"query": "send"}));
    reader.ok("text", json!({}));
    reader.ok("read", json!({"format": "outline", "full": true}));
    assert_eq!(reader.js("look()"), before);
}

#[test]
fn what_is_cut_is_said_and_still_found() {
    let pages = Pages::one(
        "<body><script>for (let i = 0; i < 3000; i++) document.body.insertAdjacentHTML('beforeend', `<button>b${i}</button>`)</script>",
    );
    let mut reader = Reader::at(&pages.url("/"));
    let read = reader.ok("read", json!({}));
    assert_eq!(
        (&read["count"], &read["total"]),
        (&json!(2000), &json!(3000))
    );
    assert_eq!(read["truncated"], "refs");
    let found = reader.ok("find", json!({"query": "B2999"}));
    assert_eq!(found["nodes"][0]["name"], "b2999");
    let few = reader.ok("read", json!({"format": "outline", "max_chars": 300}));
    assert_eq!(few["truncated"], "chars");
    assert!(few["outline"].as_str().unwrap().chars().count() <= 300);
}
