//! The daemon's flags: from argv, else from `TABD_…`, into its options. Starts nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PathBufValueParser};
use clap::{Arg, ArgAction, Command};

use serde_json::Value;

use crate::error::{Code, Error, Result};
use crate::wire::ill_typed;

/// What `tabd daemon` was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Where to listen; `None` for systemd's socket or the runtime directory's.
    pub socket: Option<PathBuf>,
    /// How long to stay without work; zero for ever.
    pub idle: Duration,
    /// With a window.
    pub headed: bool,
    /// The browser's executable.
    pub browser: Option<PathBuf>,
    /// Without Chromium's sandbox.
    pub no_sandbox: bool,
    /// The persistent profile of the default session.
    pub profile: Option<PathBuf>,
    /// URL schemes open beyond the harmless ones.
    pub allow_scheme: Vec<String>,
    /// Further arguments for the browser.
    pub browser_arg: Vec<String>,
    /// Lead a session of its own, keep no inherited file, stand in `/`.
    pub detached: bool,
    /// End when stdin does, and remove the socket's directory.
    pub with_parent: bool,
}

/// Seconds a daemon stays without work.
const IDLE_SECS: &str = "300";

/// Flags that the contract has and this version does not.
const LATER: &[&str] = &[
    "attach",
    "allow-host",
    "block-host",
    "block-private",
    "allow-uid",
    "allow-path",
    "deny-tool",
    "causal-window-ms",
    "views",
];

/// Every flag. Those of later versions are hidden, so that they are refused by name.
pub fn command() -> Command {
    let one = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .action(ArgAction::SetTrue)
    };
    let many = |name: &'static str, value: &'static str, help: &'static str| {
        one(name, value, help).action(ArgAction::Append)
    };
    let later = LATER.iter().map(|name| match *name {
        "block-private" => switch(name, "").hide(true),
        _ => many(name, "VALUE", "").hide(true),
    });
    Command::new("tabd daemon")
        .about("Own a browser and serve it on a Unix socket, in the foreground")
        .after_help(
            "Every flag is also a variable: --idle-secs is TABD_IDLE_SECS. Repeatable ones are split \
             at commas there, switches take 1/true/yes and 0/false/no.",
        )
        .disable_version_flag(true)
        .args_override_self(false)
        .arg(
            one("socket", "PATH", "Listen here instead of systemd's socket or $XDG_RUNTIME_DIR/tabd.sock")
                .value_parser(PathBufValueParser::new()),
        )
        .arg(
            one("idle-secs", "N", "Exit after this many seconds without work; 0 never does")
                .default_value(IDLE_SECS)
                .value_parser(idle),
        )
        .arg(switch("headless", "Without a window (the default)").conflicts_with("headed"))
        .arg(switch("headed", "With a window"))
        .arg(
            one("browser", "PATH", "The browser to start instead of the one found in PATH")
                .value_parser(PathBufValueParser::new()),
        )
        .arg(switch("no-sandbox", "Start Chromium without its sandbox, which root cannot use"))
        .arg(
            one("profile", "DIR", "Keep the default session's cookies and storage here")
                .value_parser(PathBufValueParser::new()),
        )
        .arg(
            many("allow-scheme", "SCHEME", "Open this URL scheme too, such as file; may be repeated")
                .value_parser(NonEmptyStringValueParser::new()),
        )
        .arg(
            many("browser-arg", "ARG", "Hand this argument to the browser; may be repeated")
                .allow_hyphen_values(true)
                .value_parser(NonEmptyStringValueParser::new()),
        )
        .args(later)
        .arg(switch("detached", "").hide(true))
        .arg(switch("with-parent", "").hide(true))
}

/// Whether the daemon has the flag `--name`, and if it takes a value.
pub fn takes_value(name: &str) -> Option<bool> {
    let command = command();
    let arg = command
        .get_arguments()
        .find(|a| a.get_long() == Some(name))?;
    Some(arg.get_action().takes_values())
}

/// The variable of a flag.
pub fn variable(flag: &str) -> String {
    format!("TABD_{}", flag.replace('-', "_").to_uppercase())
}

/// Reads flags and, for those that are not given, their variables. Relative paths are taken from `here`.
///
/// `Err(Ok(text))` is help that was asked for.
pub fn parse(
    words: &[String],
    variable_of: impl Fn(&str) -> Option<String>,
    here: &Path,
) -> Result<Flags, Result<String, Error>> {
    let given = matches(words)?;
    let was_given =
        |name: &str| given.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
    let mut all = words.to_vec();
    for arg in command().get_arguments() {
        let Some(flag) = arg
            .get_long()
            .filter(|f| !["help", "detached", "with-parent"].contains(f))
        else {
            continue;
        };
        let window = ["headless", "headed"];
        if was_given(flag) || (window.contains(&flag) && window.iter().any(|f| was_given(f))) {
            continue;
        }
        let variable = variable(flag);
        let Some(text) = variable_of(&variable).filter(|t| !t.is_empty()) else {
            continue;
        };
        let spelled: Vec<String> = match arg.get_action() {
            ArgAction::SetTrue => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => vec![format!("--{flag}")],
                "0" | "false" | "no" | "off" => Vec::new(),
                _ => {
                    let got = Value::from(text);
                    return Err(Err(ill_typed(&variable, "1/true/yes or 0/false/no", &got)));
                }
            },
            ArgAction::Append => {
                let parts = text.split(',').map(str::trim).filter(|t| !t.is_empty());
                parts.map(|v| format!("--{flag}={v}")).collect()
            }
            _ => vec![format!("--{flag}={text}")],
        };
        if let Err(Err(error)) = matches(&spelled) {
            return Err(Err(error.context(variable)));
        }
        all.extend(spelled);
    }
    let found = matches(&all)?;
    let on = |name: &str| found.get_one::<bool>(name) == Some(&true);
    for name in LATER {
        let asked = match *name {
            "block-private" => on(name),
            _ => found.contains_id(name),
        };
        if asked {
            return Err(Err(Code::BadRequest
                .because(format!("--{name} is not supported yet"))
                .hint(format!("leave it out, and {} unset", variable(name)))));
        }
    }
    let path = |name: &str| found.get_one::<PathBuf>(name).map(|p| here.join(p));
    let list = |name: &str| {
        found
            .get_many::<String>(name)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    };
    Ok(Flags {
        socket: path("socket"),
        idle: found
            .get_one::<Duration>("idle-secs")
            .copied()
            .unwrap_or_default(),
        headed: on("headed"),
        // A bare name is looked up in PATH.
        browser: found.get_one::<PathBuf>("browser").map(|p| {
            if p.components().count() > 1 {
                here.join(p)
            } else {
                p.clone()
            }
        }),
        no_sandbox: on("no-sandbox"),
        profile: path("profile"),
        allow_scheme: list("allow-scheme"),
        browser_arg: list("browser-arg"),
        detached: on("detached"),
        with_parent: on("with-parent"),
    })
}

fn matches(words: &[String]) -> Result<clap::ArgMatches, Result<String, Error>> {
    let argv = std::iter::once("tabd daemon").chain(words.iter().map(String::as_str));
    command().try_get_matches_from(argv).map_err(|error| {
        let text = error.render().to_string();
        if !error.use_stderr() {
            return Ok(text);
        }
        // Clap's first paragraph says what is wrong, its `tip:` what was meant.
        let tip = text.lines().find_map(|l| l.trim().strip_prefix("tip: "));
        let what = text.split("\n\n").next().unwrap_or_default();
        let what = what.trim().trim_start_matches("error: ").replace("\n", " ");
        Err(Code::BadRequest
            .because(what.split_whitespace().collect::<Vec<_>>().join(" "))
            .hint(tip.unwrap_or("see `tabd daemon --help`")))
    })
}

/// `--idle-secs`: seconds, fractions too, up to a year.
fn idle(word: &str) -> Result<Duration, String> {
    let seconds: f64 = word.parse().map_err(|_| "not a number of seconds")?;
    if seconds > 31_536_000.0 {
        return Err("longer than a year; 0 never ends".to_owned());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| "not a number of seconds".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], variables: &[(&str, &str)]) -> Result<Flags, Result<String, Error>> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let lookup = |name: &str| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, v)| (*v).to_owned())
        };
        parse(&words, lookup, Path::new("/here"))
    }

    fn refused(words: &[&str], variables: &[(&str, &str)]) -> Error {
        read(words, variables)
            .expect_err("must be refused")
            .expect_err("is no help")
    }

    #[test]
    fn flags_win_over_variables_and_these_over_defaults() {
        let flags = read(&[], &[]).unwrap();
        assert_eq!(flags.idle, Duration::from_secs(300));
        let vars = [
            ("TABD_IDLE_SECS", "0"),
            ("TABD_SOCKET", "s.sock"),
            ("TABD_BROWSER_ARG", "--a, --b=1"),
            ("TABD_ALLOW_SCHEME", "file"),
            ("TABD_NO_SANDBOX", "yes"),
            ("TABD_HEADED", "1"),
            ("TABD_PROFILE", ""),
        ];
        let flags = read(&[], &vars).unwrap();
        assert_eq!(flags.idle, Duration::ZERO);
        assert_eq!(flags.socket.as_deref(), Some(Path::new("/here/s.sock")));
        assert_eq!(flags.browser_arg, ["--a", "--b=1"]);
        assert!(flags.no_sandbox && flags.headed && flags.profile.is_none());
        let flags = read(
            &["--idle-secs", "7", "--headless", "--allow-scheme", "chrome"],
            &vars,
        )
        .unwrap();
        assert_eq!(flags.idle, Duration::from_secs(7));
        assert_eq!(flags.allow_scheme, ["chrome"]);
        assert!(!flags.headed);
    }

    #[test]
    fn switches_can_be_off() {
        for off in ["0", "false", "no"] {
            assert!(!read(&[], &[("TABD_NO_SANDBOX", off)]).unwrap().no_sandbox);
        }
        assert!(
            refused(&[], &[("TABD_HEADED", "perhaps")])
                .message()
                .starts_with("TABD_HEADED must")
        );
        assert!(
            refused(&["--headed", "--headless"], &[])
                .message()
                .contains("--headed")
        );
    }

    #[test]
    fn flags_of_later_versions_are_refused_by_name() {
        for name in LATER {
            let word = match *name {
                "block-private" => "--block-private".to_owned(),
                name => format!("--{name}=1"),
            };
            let want = format!("--{name} is not supported yet");
            assert_eq!(refused(&[&word], &[]).message(), want);
            assert_eq!(refused(&[], &[(&variable(name), "1")]).message(), want);
        }
        assert!(read(&[], &[("TABD_BLOCK_PRIVATE", "0")]).is_ok());
    }

    #[test]
    fn a_typo_names_its_neighbour() {
        let error = refused(&["--no-sandbx"], &[]);
        assert!(error.message().contains("--no-sandbx"), "{error}");
        assert!(
            error.next_step().unwrap().contains("--no-sandbox"),
            "{error:?}"
        );
        for bad in ["x", "NaN", "inf", "1e9"] {
            let error = refused(&["--idle-secs", bad], &[]);
            assert!(error.message().contains("idle-secs"), "{bad}: {error}");
        }
    }

    #[test]
    fn an_argument_for_the_browser_may_begin_with_a_dash() {
        let flags = read(
            &["--browser-arg", "--mute-audio", "--browser-arg=--x=1,2"],
            &[],
        )
        .unwrap();
        assert_eq!(flags.browser_arg, ["--mute-audio", "--x=1,2"]);
    }

    #[test]
    fn help_is_not_an_error() {
        let text = read(&["--help"], &[]).expect_err("help").expect("help");
        assert!(text.contains("--idle-secs") && !text.contains("--attach"));
    }
}
