//! Nothing but the element that was named gets a press or a text, in layouts made at random.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::pages::{Pages, html};
use crate::support::{Client, Daemon};

const LAYOUT: &str = include_str!("../pages/layouts.html");
/// How long an element may take to become one that can be acted on.
const PATIENCE_MS: u64 = 1200;

#[derive(Default)]
struct Tally {
    right: usize,
    errors: HashMap<String, usize>,
    wrong: Vec<String>,
}

/// What the elements have got; waits for it where something must have come.
fn got(client: &mut Client, something: bool) -> Vec<String> {
    let script = format!(
        "for (let i = 0; {something} && i < 100 && !log.length; i++) await new Promise((done) => setTimeout(done, 20)); log.splice(0)"
    );
    let reply = client.call("evaluate", json!({"script": script}));
    serde_json::from_value(reply["result"]["value"].clone())
        .unwrap_or_else(|e| panic!("{e}: {reply}"))
}

fn one_layout(client: &mut Client, pages: &Pages, seed: u64, tally: &mut Tally) {
    let url = pages.url(&format!("/?seed={seed}"));
    let opened = client.call("open", json!({"url": url}));
    assert_eq!(opened["ok"], true, "{opened}");
    let nodes = opened["result"]["nodes"].as_array().unwrap().clone();
    let named = nodes
        .iter()
        .filter_map(|n| Some((n["ref"].as_str()?, n["role"].as_str()?, n["name"].as_str()?)))
        .filter(|(_, _, name)| name.contains('-'));
    for (r, role, name) in named {
        let (tool, args, want) = match role {
            "textbox" => (
                "type",
                json!({"ref": r, "text": "words"}),
                format!("text {name}"),
            ),
            "button" | "link" => ("click", json!({"ref": r}), format!("click {name}")),
            _ => continue,
        };
        let reply = client.request(json!({"tool": tool, "args": args, "timeout_ms": PATIENCE_MS}));
        let ok = reply["ok"] == true;
        let mut events = got(client, ok);
        // A text is several events; a press that an anchor follows is one.
        events.dedup();
        let all_right = match ok {
            true => events == [want.clone()],
            false => events.is_empty(),
        };
        if !all_right {
            let what = format!("seed {seed}: {tool} {r} ({want}) got {events:?}: {reply}");
            tally.wrong.push(what);
        } else if ok {
            tally.right += 1;
        } else {
            let code = reply["error"]["code"].as_str().unwrap().to_owned();
            *tally.errors.entry(code).or_default() += 1;
        }
    }
}

#[test]
fn no_press_and_no_text_goes_anywhere_else() {
    let long = std::env::var_os("TABD_LONG").is_some();
    let want = if long { 1000 } else { 200 };
    let first: u64 = std::env::var("TABD_SEED").map_or(1, |s| s.parse().unwrap());
    let (daemon, pages) = (Daemon::start(), Pages::serve(|_| html(LAYOUT)));
    let mut client = daemon.client();
    let mut tally = Tally::default();
    let all = |t: &Tally| t.right + t.errors.values().sum::<usize>() + t.wrong.len();
    for seed in first.. {
        one_layout(&mut client, &pages, seed, &mut tally);
        if all(&tally) >= want {
            break;
        }
    }
    println!(
        "{} right, errors {:?}, {} wrong",
        tally.right,
        tally.errors,
        tally.wrong.len()
    );
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    // What cannot be pressed is a few elements that are wholly covered, and some that never rest.
    assert!(tally.right * 10 >= all(&tally) * 7, "{:?}", tally.errors);
    let _: Value = client.call("session_close", json!({}));
}
