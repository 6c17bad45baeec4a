# Sourced by the first process of mount and process namespaces of its own (unshare -m -p -f --mount-proc):
# starts a real user manager that knows the real units. Wants $tabd, $units and $home; leaves HOME and
# XDG_RUNTIME_DIR set. The manager and all it starts end with that process.

# within SECONDS COMMAND…: until the command succeeds.
within() {
  end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { echo "not within time: $*" >&2; exit 1; }
    sleep 0.05
  done
}

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system
mkdir -p -m 700 /run/user/0
export XDG_RUNTIME_DIR=/run/user/0 HOME=$home
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME DBUS_SESSION_BUS_ADDRESS NOTIFY_SOCKET

mkdir -p "$HOME/.config/systemd/user/tabd.service.d"
cp "$units/tabd.socket" "$HOME/.config/systemd/user/"
sed "s|^ExecStart=tabd|ExecStart=$tabd|" "$units/tabd.service" >"$HOME/.config/systemd/user/tabd.service"
printf '[Service]\nEnvironment=TABD_NO_SANDBOX=1\n' \
  >"$HOME/.config/systemd/user/tabd.service.d/root.conf"

/usr/lib/systemd/systemd --user --unit=basic.target >"$HOME/manager.log" 2>&1 &
within 20 systemctl --user is-active basic.target
