#!/bin/sh
# Follows a run from an event on, also after a lost connection or when it is over: follow.sh RUN_ID [LAST_EVENT_ID]
set -eu
: "${GLASSHOUSE_URL:=http://127.0.0.1:8000}"
: "${GLASSHOUSE_KEY:?create one with: glasshouse key create --user you@example.org}"

curl --no-buffer --silent --show-error --fail-with-body "$GLASSHOUSE_URL/runs/$1/events?format=chat" \
  --header "Authorization: Bearer $GLASSHOUSE_KEY" \
  --header "Last-Event-ID: ${2:-0}"
