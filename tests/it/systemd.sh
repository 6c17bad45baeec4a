# Runs as the first process of its own mount and process namespaces: a real user manager with the real units.
# Arguments: the tabd binary, the units' directory, an empty directory to be HOME. When this ends, all ends.
set -eu
tabd=$1 units=$2 home=$3

fail() {
  echo "systemd: $*" >&2
  systemctl --user --no-pager status tabd.socket tabd.service >&2 || true
  exit 1
}
get() { systemctl --user show --value -p "$1" tabd.service; }
is() { [ "$(get "$1")" = "$2" ]; }
gone() { is ActiveState inactive; }
ask() { printf '%s\n' "$1" | timeout 30 nc -N -U "$XDG_RUNTIME_DIR/tabd.sock"; }
answers() {
  reply=$(ask "$1") || fail "nc could not talk to the socket"
  case $reply in
    *'"ok":true'*) ;;
    *) fail "asked $1, got: $reply" ;;
  esac
}

. "$(dirname "$0")/user-manager.sh"
printf '[Service]\nEnvironment=TABD_IDLE_SECS=1\n' >"$HOME/.config/systemd/user/tabd.service.d/idle.conf"
systemctl --user daemon-reload

systemctl --user start tabd.socket
[ "$(stat -c %a "$XDG_RUNTIME_DIR/tabd.sock")" = 600 ] || fail "the socket is not 0600"
gone || fail "the daemon runs before anybody asked"

# The first client starts the daemon and is answered.
answers '{"id":"first","tool":"ping"}'
case $reply in *'"id":"first"'*) ;; *) fail "not the answer to the question: $reply" ;; esac
is ActiveState active || fail "the daemon answered, but the unit is $(get ActiveState)"
first=$(get MainPID)

# Idle for a second, it closes, says so as a success, and leaves the socket to systemd.
within 20 gone
is Result success || fail "the idle exit counts as $(get Result)"
is NRestarts 0 || fail "the idle exit was taken for a failure"
systemctl --user is-active --quiet tabd.socket || fail "the socket unit ended with the daemon"
[ -S "$XDG_RUNTIME_DIR/tabd.sock" ] || fail "the daemon removed systemd's socket"

# The next client starts another, which opens a page.
answers '{"tool":"ping"}'
second=$(get MainPID)
[ "$second" != "$first" ] && [ "$second" != 0 ] || fail "no second daemon: $first, then $second"
answers '{"tool":"open","args":{"url":"data:text/html,<title>Hello</title><button>Wave</button>"}}'
case $reply in *'"Wave"'*) ;; *) fail "the page was not read: $reply" ;; esac
second=$(get MainPID)

# Killed, it is started again; its browser is gone with it.
kill -KILL "$second"
within 20 is NRestarts 1
answers '{"tool":"ping"}'
within 20 gone

# Everything but the user manager and this script has ended; `ps` itself and its pipe are apart.
within 10 sh -c '! ps -eo args= | grep -v grep | grep -q -e "--remote-debugging-pipe"'
systemctl --user stop tabd.socket
echo "systemd: passed"
