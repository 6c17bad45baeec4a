use super::*;
use crate::cli::arguments::spell;
use crate::error::Error;

fn shape_schema() -> Value {
    json!({"type":"object","additionalProperties":false,"properties":{
        "ref":{"type":"string"},
        "selector":{"type":"string"},
        "text":{"type":"string"},
        "submit":{"type":"boolean"},
        "settle":{"type":"boolean"},
        "count":{"type":"integer","minimum":1,"maximum":3},
        "dy":{"type":"number"},
        "files":{"type":"array","items":{"type":"string"}},
        "points":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"}}}},
        "viewport":{"type":"object","properties":{"width":{"type":"integer"}}},
        "reset":{"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"string"}}]},
        "delay_ms":{"type":"integer"},
        "path":{"type":"string"}}})
}

fn read_with(bare: &[&str], words: &[&str]) -> Result<Value> {
    let schema = shape_schema();
    let shape = Shape {
        name: "type",
        schema: &schema,
        bare,
    };
    let owned: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    let mut common = Common::new(&owned);
    let mut rest = words.iter().copied();
    let args = arguments(&shape, &mut common, &mut rest)?.expect("no help was asked for");
    crate::tools::check("type", &schema, args).map(Value::Object)
}

fn read(words: &[&str]) -> Result<Value> {
    read_with(&["ref", "text"], words)
}

fn refused(words: &[&str]) -> Error {
    read(words).expect_err("must be refused")
}

#[test]
fn bare_words_fill_the_schema_in_order() {
    let want = json!({"ref":"n7","text":"a b","submit":true});
    assert_eq!(read(&["n7", "a b", "--submit"]).unwrap(), want);
    assert_eq!(read(&["--submit", "n7", "a b"]).unwrap(), want);
    assert_eq!(read(&["a b", "--ref", "n7", "--submit"]).unwrap(), want);
    assert_eq!(read(&["a b", "--ref=n7", "--submit=true"]).unwrap(), want);
    let want = json!({"selector":"#a","text":"b"});
    assert_eq!(read(&["b", "--selector", "#a"]).unwrap(), want);
    let error = refused(&["n7", "a", "b"]);
    assert_eq!(error.message(), "type takes no further \"b\"");
}

#[test]
fn a_list_takes_the_remaining_words_a_repeated_option_or_json() {
    let want = json!({"ref":"n1","files":["a","b"]});
    let bare = ["ref", "files"];
    assert_eq!(read_with(&bare, &["n1", "a", "b"]).unwrap(), want);
    assert_eq!(
        read_with(&bare, &["n1", "--files", "a", "--files=b"]).unwrap(),
        want
    );
    assert_eq!(
        read_with(&bare, &["n1", "--files", "[\"a\",\"b\"]"]).unwrap(),
        want
    );
    let points = json!({"points":[{"x":1},{"x":-2.5}]});
    assert_eq!(
        read(&["--points", "{\"x\":1}", "--points={\"x\":-2.5}"]).unwrap(),
        points
    );
}

#[test]
fn values_have_the_type_of_their_schema() {
    let want = json!({"text":"12","count":2,"dy":-300,"viewport":{"width":5},"delay_ms":10});
    let words = [
        "--text",
        "12",
        "--count=2",
        "--dy",
        "-300",
        "--viewport",
        "{\"width\":5}",
        "--delay-ms",
        "10",
    ];
    assert_eq!(read(&words).unwrap(), want);
    assert_eq!(read(&["--reset"]).unwrap(), json!({"reset":true}));
    assert_eq!(
        read(&["--reset", "dark"]).unwrap(),
        json!({"reset":["dark"]})
    );
    assert_eq!(read(&["--no-reset"]).unwrap(), json!({"reset":false}));
    assert_eq!(
        read(&["--no-settle", "--submit=0"]).unwrap(),
        json!({"settle":false,"submit":false})
    );
    assert_eq!(
        refused(&["--count", "x"]).message(),
        "count must be a whole number from 1 to 3, not \"x\""
    );
    assert_eq!(
        refused(&["--count", "9"]).message(),
        "count must be a whole number from 1 to 3, not 9"
    );
    assert_eq!(
        refused(&["--viewport", "{"]).message(),
        "viewport must be an object, not \"{\""
    );
}

#[test]
fn words_may_begin_with_a_dash() {
    assert_eq!(read_with(&["dy"], &["-300"]).unwrap(), json!({"dy":-300}));
    assert_eq!(
        read(&["n1", "--", "--submit"]).unwrap(),
        json!({"ref":"n1","text":"--submit"})
    );
    assert_eq!(read(&["--text=-x"]).unwrap(), json!({"text":"-x"}));
    assert_eq!(read(&["--text", "-"]).unwrap(), json!({"text":"-"}));
    assert_eq!(
        refused(&["--text", "--submit"]).message(),
        "--text needs a value"
    );
    assert_eq!(refused(&["--text"]).message(), "--text needs a value");
    assert!(refused(&["-x"]).next_step().unwrap().contains("after --"));
}

#[test]
fn typos_name_their_neighbour() {
    assert_eq!(
        refused(&["--sumbit"]).next_step(),
        Some("did you mean --submit?")
    );
    assert_eq!(
        refused(&["--delay-m", "5"]).next_step(),
        Some("did you mean --delay-ms?")
    );
    assert_eq!(
        refused(&["--sesion", "a"]).next_step(),
        Some("did you mean --session?")
    );
    assert!(
        refused(&["--headed"])
            .next_step()
            .unwrap()
            .contains("--oneshot")
    );
    assert_eq!(
        refused(&["--text", "a", "--text", "b"]).message(),
        "text was given twice"
    );
    assert!(
        refused(&["n1", "a", "false"])
            .next_step()
            .unwrap()
            .contains("--no-flag")
    );
}

fn command(words: &[&str]) -> Result<Command> {
    let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
    parse(&words, Path::new("/here"))
}

fn call(words: &[&str]) -> Invocation {
    match command(words) {
        Ok(Command::Call(call)) => *call,
        other => panic!("{words:?}: {other:?}"),
    }
}

#[test]
fn common_options_stand_before_or_behind_the_tool() {
    for words in [
        &["--session", "shop", "--timeout", "5s", "--json", "ping"][..],
        &["ping", "--session=shop", "--timeout=5000", "--json"],
    ] {
        let call = call(words);
        assert!(call.json);
        assert_eq!(
            call.line(),
            "{\"tool\":\"ping\",\"session\":\"shop\",\"timeout_ms\":5000}\n"
        );
    }
    assert_eq!(
        call(&["ping", "--socket", "x"]).route.socket.as_deref(),
        Some("x")
    );
    for bad in [
        &["ping", "--timeout", "0"][..],
        &["ping", "--timeout", "601s"],
        &["ping", "--session", "a/b"],
        &["ping", "--json=1"],
        &["ping", "--session", "a", "--session", "b"],
        &["ping", "--oneshot", "--socket", "x"],
        &["pong"],
        &["--jsn", "ping"],
        &["-x"],
        &["-", "x"],
        &["ping", "x"],
        &["mcp"],
    ] {
        assert!(command(bad).is_err(), "{bad:?}");
    }
    assert_eq!(
        command(&["pign"]).unwrap_err().next_step(),
        Some("did you mean \"ping\"?")
    );
}

#[test]
fn oneshot_takes_the_daemons_flags() {
    let call = call(&[
        "--oneshot",
        "--headed",
        "ping",
        "--browser",
        "/b",
        "--no-sandbox",
        "--timeout=1s",
    ]);
    let flags = call.route.oneshot.expect("oneshot");
    assert_eq!(flags, ["--headed", "--browser", "/b", "--no-sandbox"]);
    assert!(command(&["ping", "--headed"]).is_err());
}

#[test]
fn other_first_words() {
    assert!(matches!(command(&[]), Ok(Command::Help(_))));
    assert!(matches!(command(&["--version"]), Ok(Command::Version)));
    assert!(matches!(command(&["-"]), Ok(Command::Pump(_))));
    assert!(matches!(command(&["ping", "--help"]), Ok(Command::Help(t)) if t == ["ping"]));
    assert!(matches!(command(&["help", "ping"]), Ok(Command::Help(t)) if t == ["ping"]));
    assert!(
        matches!(command(&["--socket=a", "daemon", "--headed"]), Ok(Command::Daemon(w)) if w == ["--socket=a", "--headed"])
    );
}

#[test]
fn relative_paths_become_absolute() {
    let args = json!({"path":"a.png","files":["b","/c"],"text":"d"});
    let Value::Object(args) = args else {
        panic!("an object")
    };
    let want = json!({"path":"/here/a.png","files":["/here/b","/c"],"text":"d"});
    assert_eq!(Value::Object(absolute(args, Path::new("/here"))), want);
}

#[test]
fn what_is_spelled_is_read_back() {
    let schema = shape_schema();
    for (bare, args) in [
        (
            &["ref", "text"][..],
            json!({"ref":"n1","text":"it's","submit":true,"settle":false}),
        ),
        (&["ref", "text"], json!({"selector":"#a","text":"-x"})),
        (&["ref", "files"], json!({"ref":"n1","files":["/a","/b"]})),
        (&["files"], json!({"files":["[1]","-x"]})),
        (&["files"], json!({"files":[]})),
        (
            &["dy"],
            json!({"dy":-3,"count":2,"viewport":{"width":3},"points":[{"x":1},{"x":2}]}),
        ),
        (&[], json!({"reset":["dark","mobile"]})),
        (&[], json!({"reset":true})),
        (&["text"], json!({"text":""})),
    ] {
        let shape = Shape {
            name: "type",
            schema: &schema,
            bare,
        };
        let Value::Object(map) = &args else {
            panic!("an object")
        };
        let words = spell(&shape, map);
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(read_with(bare, &words).expect("is read"), args, "{words:?}");
    }
}
