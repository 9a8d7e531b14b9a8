#!/usr/bin/env bash
# The HTTP API with curl: create a session, run a command, upload a file, stream output, download a file, end.
#   VIV_SERVER and VIV_API_KEY select the server and the key. Without them, it uses a server on this machine.
set -euo pipefail
server=${VIV_SERVER:-http://127.0.0.1:8000}
key=${VIV_API_KEY:-$(cat "${VIV_HOME:-$HOME/.vivarium}/credentials")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

call() { curl --silent --show-error --header "X-API-Key: $key" "$@"; }
post() { call --header 'Content-Type: application/json' --data "$2" "$server$1"; }
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# 201 for a new session. 409 with the same fields for an existing session.
session=$(post /create_session '{"user_id":"alice","thread_id":"curl-example"}' | field session_id)
echo "session $session"

post /execute "{\"session_id\":\"$session\",\"command\":\"echo hello > hello.txt; cat hello.txt\"}"
echo

printf 'one\ntwo\nthree\n' > "$scratch/words.txt"
call --form "session_id=$session" --form "file=@$scratch/words.txt" "$server/upload_file"
echo

# --no-buffer: the lines appear while the command runs.
call --no-buffer --header 'Accept: application/x-ndjson' --header 'Content-Type: application/json' \
    --data "{\"session_id\":\"$session\",\"command\":\"sort words.txt | tee sorted.txt\",\"timeout\":10}" "$server/execute"

post /download_file "{\"session_id\":\"$session\",\"filename\":\"sorted.txt\"}"
call "$server/list_files?session_id=$session"
echo

post /cleanup "{\"session_id\":\"$session\"}"
echo
