"""The pipe of document 000, word for word but for the frame of a class, which the document leaves out."""

import json

import httpx


class Valves:
    DEEP_AGENT_URL = "http://localhost:8000"


class Pipe:
    valves = Valves()

    async def pipe(self, body: dict, __event_emitter__=None):
        async with httpx.AsyncClient() as client:
            async with client.stream("POST", f"{self.valves.DEEP_AGENT_URL}/chat/stream", json=body) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: "):
                        continue

                    event = json.loads(line[6:])
                    event_type = event.get("type")
                    data = event.get("data", {})

                    if event_type == "status":
                        await __event_emitter__({
                            "type": "status",
                            "data": {"description": data["description"], "done": False}
                        })

                    elif event_type == "tool_start":
                        await __event_emitter__({
                            "type": "status",
                            "data": {"description": f"🔧 {data['name']}...", "done": False}
                        })

                    elif event_type == "tool_end":
                        # Emit as citation for preview
                        await __event_emitter__({
                            "type": "source",
                            "data": {
                                "source": {"name": f"🔧 {data['name']}"},
                                "document": [data["result"][:500]],
                                "metadata": [{"full_result": data["result"]}]
                            }
                        })

                    elif event_type == "token":
                        yield data["content"]

                    elif event_type == "agent_start":
                        await __event_emitter__({
                            "type": "status",
                            "data": {"description": f"🤖 Sub-agent: {data['name']}...", "done": False}
                        })

                    elif event_type == "agent_end":
                        await __event_emitter__({
                            "type": "status",
                            "data": {"description": "Sub-agent completed", "done": True}
                        })

                    elif event_type == "done":
                        await __event_emitter__({
                            "type": "status",
                            "data": {"description": "Complete", "done": True}
                        })
