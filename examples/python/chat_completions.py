"""Asks an agent through the `openai` package: chat_completions.py "Which files are there?" [MODEL]"""

import os
import sys

from openai import OpenAI

client = OpenAI(
    base_url=os.environ.get("GLASSHOUSE_URL", "http://127.0.0.1:8000") + "/v1",
    api_key=os.environ["GLASSHOUSE_KEY"],
)

# `glasshouse/agent` is the built-in agent with the default model; a model's own id is that model without tools.
stream = client.chat.completions.create(
    model=sys.argv[2] if len(sys.argv) > 2 else "glasshouse/agent",
    messages=[{"role": "user", "content": sys.argv[1]}],
    stream=True,
)
for chunk in stream:
    if chunk.choices and chunk.choices[0].delta.content:
        print(chunk.choices[0].delta.content, end="", flush=True)
print()
