#!/bin/sh
# The HTTP API with curl: sh http_api.sh 'http://127.0.0.1:8080/#token=…'
set -eu

base=${1%%/#*}
token=${1#*token=}
box=$base/v1/sandboxes/local

call() { # METHOD [JSON]: call a method of the sandbox, print its result
    curl -sS --fail-with-body -H "Authorization: Bearer $token" -H "Content-Type: application/json" \
        -d "${2:-{\}}" "$box/$1"
    echo
}

echo "a command:"
call exec '{"command": "echo hello; echo problem >&2; exit 3"}'

echo "a command with input (the body is its stdin; the query holds the parameters {\"argv\":[\"sort\"]}):"
printf 'b\na\n' | curl -sS -H "Authorization: Bearer $token" -H "Content-Type: application/octet-stream" \
    --data-binary @- "$box/exec?params=%7B%22argv%22%3A%5B%22sort%22%5D%7D" && echo

echo "a file, written and read again:"
printf 'some text\n' | curl -sS -H "Authorization: Bearer $token" -T - "$box/files/http/note.txt" && echo
curl -sS -H "Authorization: Bearer $token" "$box/files/http/note.txt"

echo "output as it is printed (server-sent events):"
curl -sSN -H "Authorization: Bearer $token" -H "Accept: text/event-stream" -H "Content-Type: application/json" \
    -d '{"command": "for n in 1 2 3; do echo $n; sleep 0.1; done"}' "$box/exec"

echo "an error has a code, and retryable is true if a retry is safe:"
call file.stat '{"path": "/nothing-here"}' 2>/dev/null || true
