#!/bin/sh
# On one rank Sago cannot be loaded (its files are missing on a node): nobody waits for it there, all ranks do as without
# Sago, files that are not that rank's are served, and the user is told once.
set -eu

. "$SAGO_SOURCE/tests/dropin/lib.sh"
here=$SAGO_SOURCE/tests/dropin/tools
mkdir "$tmp/alone"
cp "$preload" "$tmp/alone/"

# Each rank's own library; $absent is the rank without a core.
cat >"$tmp/start" <<'END'
#!/bin/sh
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
[ "$rank" = "$absent" ] && own=$lone || own=$whole
LD_PRELOAD="$own $yield" exec "$@"
END
chmod +x "$tmp/start"
export absent lone="$tmp/alone/libsago-mpiio.so" whole="$preload" yield

"$SAGO_MPICC" "$here/absent.c" -o "$tmp/program"
"$SAGO_MPICC" -shared -fPIC "$here/tool.c" -o "$tmp/tool.so"

try() { # settings...
    launch 3 env "$@" "$tmp/start" "$tmp/program" >"$tmp/said" 2>&1 || { cat "$tmp/said"; fail "rank $absent: exit code $?"; }
    [ "$(grep -c "^sago: .*libsago-mpiio-core.so" "$tmp/said")" -eq 1 ] || { cat "$tmp/said"; fail "rank $absent: not told once"; }
}
for absent in 0 1 2; do
    echo "== rank $absent"
    try SAGO_STATS=
    echo "== rank $absent, with a report"
    try SAGO_STATS=json:stats.json
    [ ! -e "$run/stats.json" ] || fail "a report of some ranks"
    try SAGO_STATS= SAGO_REPORT=run.html SAGO_TRACE=trace.json
    echo "== rank $absent, with a tool behind"
    yield="$tmp/tool.so $yield"
    try SAGO_STATS=
    yield=${yield#"$tmp/tool.so "}
done
