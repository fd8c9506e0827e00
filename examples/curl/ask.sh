#!/bin/sh
# Asks an agent and prints its events as they come: ask.sh "Which files are there?" [MODEL]
set -eu
: "${GLASSHOUSE_URL:=http://127.0.0.1:8000}"
: "${GLASSHOUSE_KEY:?create one with: glasshouse key create --user you@example.org}"

# The message goes into JSON, so its quotes and backslashes are escaped.
message=$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')

curl --no-buffer --silent --show-error --fail-with-body "$GLASSHOUSE_URL/chat/stream" \
  --header "Authorization: Bearer $GLASSHOUSE_KEY" \
  --header "Content-Type: application/json" \
  --data "{\"model\": \"${2:-tour}\", \"messages\": [{\"role\": \"user\", \"content\": \"$message\"}]}"
