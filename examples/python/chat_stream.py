"""Watches an agent at work through /chat/stream, with httpx alone: chat_stream.py "Which files are there?" [MODEL]

Tool calls are printed as they start and end, a request for approval is asked at the terminal, and a lost connection is
resumed at the event after the last one that was read.
"""

import json
import os
import sys

import httpx

client = httpx.Client(
    base_url=os.environ.get("GLASSHOUSE_URL", "http://127.0.0.1:8000"),
    headers={"Authorization": "Bearer " + os.environ["GLASSHOUSE_KEY"]},
    # The server sends a comment after 15 seconds of silence.
    timeout=httpx.Timeout(10, read=30),
)


def frames(response):
    """The events of a stream: each one's id, if it has one, and its data."""
    event_id = None
    for line in response.iter_lines():
        if line.startswith("id: "):
            event_id = line[4:]
        elif line.startswith("data: "):
            yield event_id, json.loads(line[6:])
            event_id = None


def watch(message, model):
    """Yields the frames of a run to its end, over as many connections as that takes."""
    body = {"messages": [{"role": "user", "content": message}], "model": model}
    request = client.build_request("POST", "/chat/stream", json=body)
    run = last_id = None
    while True:
        try:
            response = client.send(request, stream=True)
            if response.is_error:
                response.read()
                sys.exit(f"{response.status_code}: {response.text}")
            run = run or response.headers["x-run-id"]
            for event_id, frame in frames(response):
                last_id = event_id or last_id
                yield run, frame
                if frame["type"] == "done":
                    return
        except httpx.TransportError:
            # Without a run nobody knows whether the message has arrived.
            if run is None:
                raise
        headers = {"Last-Event-ID": last_id or "0"}
        request = client.build_request("GET", f"/runs/{run}/events", params={"format": "chat"}, headers=headers)


def show(run, kind, data):
    """Prints a frame and answers what it asks."""
    if kind == "token" and data["agent_depth"] == 0:
        print(data["content"], end="", flush=True)
    elif kind == "tool_start":
        print(f"→ {data['name']}({json.dumps(data.get('args', {}), ensure_ascii=False)})")
    elif kind == "tool_end":
        print(f"{'✗' if data['error'] else '✓'} {data['name']}: {data['result'][:100]}")
    elif kind == "approval":
        answer = input(f"Allow {data['name']} with {json.dumps(data['args'], ensure_ascii=False)}? [y/N] ")
        decision = "allow" if answer.strip().lower() == "y" else "deny"
        client.post(f"/runs/{run}/approvals/{data['approval_id']}", json={"decision": decision}).raise_for_status()
    elif kind == "error":
        print(f"failed: {data['message']}", file=sys.stderr)
    elif kind == "done":
        usage = data["usage"]
        print(f"\n{data['outcome']}, {usage['input_tokens']} + {usage['output_tokens']} tokens")


for run, frame in watch(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "tour"):
    show(run, frame["type"], frame["data"])
