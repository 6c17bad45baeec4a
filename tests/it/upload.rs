//! `upload`, and the file choosers that clicks open.

use std::fs;

use serde_json::{Value, json};

use crate::pages::Pages;
use crate::support::{Client, Daemon, Dir};

const PAGE: &str = r#"<!doctype html><title>upload</title>
<label>One <input id=one type=file></label>
<input id=many type=file multiple aria-label=Many>
<input id=folder type=file webkitdirectory aria-label=Folder>
<input id=off type=file disabled aria-label=Off>
<div id=zone><p>Drop here</p><input type=file style="display:none"></div>
<button id=loose onclick="const i = document.createElement('input'); i.type = 'file'; i.onchange = () => told(i); i.click()">Pick</button>
<button id=held onclick="document.querySelector('#hidden').click()">Attach</button>
<input id=hidden type=file multiple hidden>
<button id=plain>Nothing</button>
<pre id=log></pre>
<script>
  function told(i) { log.textContent += [...i.files].map((f) => (f.webkitRelativePath || f.name) + ':' + f.size).sort().join(' ') + '\n'; }
  for (const i of document.querySelectorAll('input')) i.addEventListener('change', () => told(i));
</script>"#;

fn log(client: &mut Client) -> String {
    let script = "const all = log.textContent.trim(); log.textContent = ''; all";
    let reply = client.call("evaluate", json!({"script": script}));
    reply["result"]["value"].as_str().unwrap().to_owned()
}

fn ok(reply: Value) -> Value {
    assert_eq!(reply["ok"], true, "{reply}");
    reply["result"].clone()
}

#[test]
fn files_get_into_inputs_of_every_kind_and_nowhere_else() {
    let (daemon, pages, dir) = (Daemon::start(), Pages::one(PAGE), Dir::new());
    let mut client = daemon.client();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("a.txt"), "one").unwrap();
    fs::write(path("b.txt"), "three").unwrap();
    fs::create_dir(path("d")).unwrap();
    fs::write(path("d/x"), "1234567").unwrap();
    let (a, b) = (path("a.txt"), path("b.txt"));
    ok(client.call("open", json!({"url": pages.url("/"), "read": false})));

    // Shown, of a label, several, hidden in what holds it.
    let done = ok(client.call("upload", json!({"selector": "#one", "files": [a]})));
    assert_eq!(done["files"], json!([a]));
    assert_eq!(done["effect"]["changed"], true, "{done}");
    assert_eq!(log(&mut client), "a.txt:3");
    ok(client.call("upload", json!({"selector": "label", "files": [b]})));
    assert_eq!(log(&mut client), "b.txt:5");
    ok(client.call("upload", json!({"selector": "#many", "files": [a, b]})));
    assert_eq!(log(&mut client), "a.txt:3 b.txt:5");
    ok(client.call("upload", json!({"selector": "#zone", "files": [b]})));
    assert_eq!(log(&mut client), "b.txt:5");
    ok(client.call(
        "upload",
        json!({"selector": "#folder", "files": [path("d")]}),
    ));
    assert_eq!(log(&mut client), "d/x:7");

    // Buttons: by a click that says which chooser it opened, and by themselves.
    for button in ["#held", "#loose"] {
        let clicked = ok(client.call("click", json!({"selector": button})));
        let chooser = &clicked["effect"]["chooser"];
        assert_eq!(chooser["multiple"], button == "#held", "{clicked}");
        let give = json!({"ref": chooser["ref"], "files": [a]});
        ok(client.call("upload", give));
        assert_eq!(log(&mut client), "a.txt:3", "{button}");
        ok(client.call("upload", json!({"selector": button, "files": [b]})));
        assert_eq!(log(&mut client), "b.txt:5", "{button}");
    }

    // What cannot be.
    let mut refused = |args: Value, code: &str| {
        let reply = client.call("upload", args);
        assert_eq!(reply["error"]["code"], code, "{reply}");
    };
    refused(json!({"selector": "#one", "files": [a, b]}), "bad_request");
    refused(
        json!({"selector": "#one", "files": [path("d")]}),
        "bad_request",
    );
    refused(
        json!({"selector": "#one", "files": ["a.txt"]}),
        "bad_request",
    );
    refused(json!({"selector": "#one", "files": [path("none")]}), "io");
    refused(json!({"selector": "#off", "files": [a]}), "disabled");
    refused(json!({"selector": "#plain", "files": [a]}), "not_editable");
    refused(json!({"selector": "#nowhere", "files": [a]}), "not_found");
    assert_eq!(log(&mut client), "");
}
