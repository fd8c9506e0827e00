"""
title: Glasshouse
author: Glasshouse
description: Talk to a Glasshouse agent and watch it work: status line, tool results as citations, sub-agents, questions.
version: 0.3.0
license: MIT OR Apache-2.0
requirements: httpx
"""

import asyncio
import base64
import contextlib
import json
from typing import Any, AsyncIterator, Awaitable, Callable, Literal, Optional
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, Field

Emitter = Callable[[dict], Awaitable[None]]
Caller = Callable[[dict], Awaitable[Any]]

PREVIEW_CHARS = 500
CONNECT_TIMEOUT_S = 10
# What a tool returned is kept in Open WebUI's message, so larger ones are not.
MAX_PICTURE_BYTES = 2_000_000
MAX_EMBED_BYTES = 500_000
MAX_PICTURES = 16
# Open WebUI takes a dialog away after four minutes; then it comes again, for about an hour.
DIALOG_MS = 240_000
DIALOGS = 15


class Failure(Exception):
    """Something went wrong; the words are for the person in the chat."""


class Pipe:
    """A model of Open WebUI that is an agent of a Glasshouse server."""

    class Valves(BaseModel):
        """What an administrator sets."""

        DEEP_AGENT_URL: str = Field(default="http://localhost:8000", description="Where the Glasshouse server is")
        API_KEY: str = Field(
            default="",
            description="A Glasshouse API key (gh_…); empty where the server runs with --auth none",
            json_schema_extra={"input": {"type": "password"}},
        )
        SHOW_TOOL_CITATIONS: bool = Field(default=True, description="Show each tool result as a citation")
        SHOW_SUBAGENT_STATUS: bool = Field(default=True, description="Show what sub-agents do in the status line")
        REQUEST_TIMEOUT: int = Field(
            default=300, gt=0, description="Longest silence between two events, seconds; an agent may think for minutes"
        )
        MODE: Literal["chat", "research", "deep"] = Field(default="chat", description="What kind of work is wanted")
        MODEL: str = Field(default="", description="The Glasshouse model; its default model where empty")

    def __init__(self) -> None:
        self.valves = self.Valves()

    def pipes(self) -> list[dict]:
        """The models this adds to Open WebUI's list."""
        return [{"id": "glasshouse", "name": "Glasshouse"}]

    async def pipe(
        self,
        body: dict,
        __event_emitter__: Optional[Emitter] = None,
        __event_call__: Optional[Caller] = None,
        __metadata__: Optional[dict] = None,
        __task__: Optional[str] = None,
    ) -> AsyncIterator[Any]:
        """Answers one request: yields the answer's text, and tells the page about everything else."""
        metadata = __metadata__ or {}
        if __task__ or metadata.get("task"):
            # A title, tags, follow-ups: nobody wants an agent for these. Open WebUI takes its defaults instead.
            return
        turn = Turn(self.valves, __event_emitter__, __event_call__)
        request = request_of(body, self.valves, metadata)
        try:
            # Closed here and not some time later: closing is what stops the run.
            async with contextlib.aclosing(turn.run(request)) as answer:
                async for text in answer:
                    yield text
        except Failure as failure:
            await turn.status("Failed", done=True)
            # Yielded and not raised: an exception would take the text written so far out of the stored chat.
            yield {"error": {"message": str(failure)}}


def request_of(body: dict, valves: Pipe.Valves, metadata: dict) -> dict:
    """The body for Glasshouse: the conversation, and which chat it belongs to."""
    request = {"messages": body.get("messages", []), "stream": True, "mode": valves.MODE}
    if valves.MODEL:
        request["model"] = valves.MODEL
    if metadata.get("chat_id"):
        request["chat_id"] = str(metadata["chat_id"])
    # Not its tool_ids and features: those are of Open WebUI's own tools.
    brought = {name: metadata[name] for name in ("files", "variables") if metadata.get(name)}
    if brought:
        request["metadata"] = brought
    return request


class Turn:
    """One run, from the request to its last event."""

    def __init__(self, valves: Pipe.Valves, emitter: Optional[Emitter], caller: Optional[Caller]) -> None:
        self.valves = valves
        self.emitter = emitter
        self.caller = caller
        self.questions: set[asyncio.Task] = set()
        self.run_id: Optional[str] = None
        self.done = False
        key = valves.API_KEY.strip()
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.url = valves.DEEP_AGENT_URL.rstrip("/")
        self.agents: dict[str, str] = {}
        self.wrote = False
        self.worked_since = False
        self.line: Optional[str] = None
        self.line_of = ""
        self.answer = ""
        self.pictures: dict[str, dict] = {}
        self.embeds: list[str] = []

    async def run(self, request: dict) -> AsyncIterator[str]:
        """Yields the answer's text; raises Failure where there is none or it breaks off."""
        # Servers send a comment every 15 seconds, so silence is counted between events, not between bytes.
        timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=None)
        try:
            async with httpx.AsyncClient(timeout=timeout, headers=self.headers) as client:
                async with client.stream("POST", f"{self.url}/chat/stream", json=request) as response:
                    self.run_id = response.headers.get("x-run-id")
                    if response.status_code != 200:
                        raise Failure(refusal(response.status_code, await response.aread()))
                    async for event in self.events(response):
                        text = await self.show(event)
                        if text:
                            yield text
        except httpx.HTTPError as error:
            raise Failure(f"The connection to Glasshouse at {self.url} failed: {str(error) or type(error).__name__}.") from error
        finally:
            for question in self.questions:
                question.cancel()
            # Also where the reader was stopped: whoever presses Stop wants the agent to stop.
            if not self.done:
                await asyncio.shield(self.cancel())
        if not self.done:
            raise Failure("The connection to Glasshouse ended in the middle of the answer.")

    async def events(self, response: httpx.Response) -> AsyncIterator[dict]:
        """The events as they come; raises Failure where none comes for too long."""
        lines = response.aiter_lines().__aiter__()
        while True:
            try:
                # A person who is asked may think for longer than any tool works.
                seconds = None if self.questions else self.valves.REQUEST_TIMEOUT
                async with asyncio.timeout(seconds):
                    line = await next_data(lines)
            except TimeoutError:
                seconds = self.valves.REQUEST_TIMEOUT
                raise Failure(
                    f"Glasshouse was silent for {seconds} seconds, so the run was stopped. "
                    "Set REQUEST_TIMEOUT higher where tools take longer."
                ) from None
            if line is None:
                return
            try:
                yield json.loads(line)
            except ValueError:
                raise Failure("Glasshouse sent something that is not JSON. Is DEEP_AGENT_URL right?") from None

    async def show(self, event: dict) -> Optional[str]:
        """Shows one event; returns the text to append to the answer, if it has any."""
        kind, data = event.get("type"), event.get("data") or {}
        depth = data.get("agent_depth", data.get("depth", 0))
        if kind == "token":
            # What a sub-agent writes is not the answer; its result comes with its tool call.
            text = self.paragraph(data.get("content") or "") if depth == 0 else None
            self.answer += text or ""
            return text
        if kind == "error":
            raise Failure(data.get("message") or "The run failed.")
        if kind == "done":
            self.done = True
            await self.show_pictures()
            await self.status(ENDINGS.get(data.get("outcome"), "Complete"), done=True)
        elif kind == "sources":
            for source in data.get("sources", []):
                await self.source(source)
        elif kind == "tool_end":
            await self.citation(data)
            await self.take_files(data.get("files") or [])
        else:
            await self.progress(kind, data, depth)
        return None

    def paragraph(self, text: str) -> str:
        """The text, which is a paragraph of its own where tools were at work since the last one."""
        begins = self.wrote and self.worked_since and text
        self.wrote, self.worked_since = self.wrote or bool(text), self.worked_since and not text
        return f"\n\n{text}" if begins else text

    async def progress(self, kind: Optional[str], data: dict, depth: int) -> None:
        """Turns everything that is under way into the status line."""
        if kind == "agent_start":
            self.agents[str(data.get("agent_id"))] = str(data.get("name"))
        if depth > 0 and not self.valves.SHOW_SUBAGENT_STATUS:
            return
        name = data.get("name", "")
        if kind == "status":
            await self.activity(data, depth)
        elif kind == "tool_start":
            self.worked_since = True
            await self.status(f"{self.prefix(data, depth)}🔧 {name}...")
        elif kind == "agent_start":
            await self.status(f"🤖 Sub-agent: {name}...")
        elif kind == "agent_end":
            # Not done: the main agent goes on, and so does the shimmer.
            finished = self.agents.pop(str(data.get("agent_id")), "")
            await self.status(f"🤖 Sub-agent: {finished} completed")
        elif kind == "approval":
            await self.status(f"⏸ {name} waits for consent in Glasshouse (approval {data.get('approval_id')})")
        elif kind == "question":
            await self.status(f"❓ {data.get('question', '')} (it can also be answered in Glasshouse)")
            self.ask(data)

    async def activity(self, data: dict, depth: int) -> None:
        """Shows an agent's own status, or takes it away."""
        agent, words = str(data.get("agent_id") or ""), str(data.get("description") or "").strip()
        if not data.get("hidden"):
            if words:
                await self.status(self.prefix(data, depth) + words)
                self.line_of = agent
        elif depth == 0:
            await self.hide()
        elif self.line_of == agent:
            # It works on, without saying at what.
            await self.status(f"🤖 Sub-agent: {self.agents.get(agent, '')}...")

    def ask(self, data: dict) -> None:
        """Shows the question as a form of the page, while the run goes on being shown."""
        if self.caller and self.run_id and data.get("question_id"):
            task = asyncio.create_task(Question(self, data).ask())
            self.questions.add(task)
            task.add_done_callback(self.questions.discard)

    def prefix(self, data: dict, depth: int) -> str:
        """Says whose activity it is, where it is not the main agent's."""
        if depth == 0:
            return ""
        name = self.agents.get(str(data.get("agent_id")))
        return f"🤖 Sub-agent: {name} › " if name else "🤖 Sub-agent: "

    async def status(self, description: str, done: bool = False) -> None:
        self.line, self.line_of = description, ""
        await self.emit("status", {"description": description, "done": done, "hidden": False})

    async def hide(self) -> None:
        """Takes the line away, in its own words: the page keeps them in the history of the answer."""
        if self.line:
            line, self.line = self.line, None
            await self.emit("status", {"description": line, "done": True, "hidden": True})

    async def citation(self, data: dict) -> None:
        """A tool's result as a citation: the beginning to read at once, all of it behind."""
        if not self.valves.SHOW_TOOL_CITATIONS:
            return
        name, result = f"🔧 {data.get('name', '')}", str(data.get("result", ""))
        if data.get("error"):
            name = f"{name} ✕"
        preview = result[:PREVIEW_CHARS] + ("..." if len(result) > PREVIEW_CHARS else "")
        await self.emit(
            "source",
            {
                "source": {"name": name, "id": str(data.get("tool_id", ""))},
                "document": [preview or "✓ completed"],
                "metadata": [
                    {"source": f"{name} ({data.get('tool_id', '')})", "name": name, "full_result": result}
                ],
            },
        )

    async def take_files(self, files: list[dict]) -> None:
        """Fetches the pictures and HTML that a tool produced: Open WebUI's page shows both only by their content here."""
        for file in files:
            url, kind, size = file.get("url"), str(file.get("media_type", "")), int(file.get("size_bytes") or 0)
            if not url:
                continue
            if file.get("embed") and size <= MAX_EMBED_BYTES:
                html = await self.fetch(url)
                if html is not None:
                    self.embeds.append(html.decode("utf-8", "replace"))
                    await self.emit("embeds", {"embeds": self.embeds, "replace": True})
            elif kind.startswith("image/") and size <= MAX_PICTURE_BYTES and len(self.pictures) < MAX_PICTURES:
                self.pictures[url] = {"type": kind, "name": str(file.get("name", ""))}

    async def show_pictures(self) -> None:
        """Shows the pictures of tools that are not in the answer; once, since Open WebUI adds up what comes."""
        shown = []
        for url, picture in self.pictures.items():
            content = None if url in self.answer else await self.fetch(url)
            if content is not None:
                data = base64.b64encode(content).decode()
                shown.append({"type": "image", "url": f"data:{picture['type']};base64,{data}", "name": picture["name"]})
        if shown:
            await self.emit("files", {"files": shown})

    async def fetch(self, url: str) -> Optional[bytes]:
        """A file at its signed address, asked for where this pipe reaches the server."""
        try:
            async with httpx.AsyncClient(timeout=CONNECT_TIMEOUT_S * 4) as client:
                response = await client.get(f"{self.url}{urlsplit(url).path}")
            return response.content if response.status_code == 200 else None
        except httpx.HTTPError:
            return None

    async def source(self, source: dict) -> None:
        """A page that the agent cites."""
        title, url = source.get("title") or source.get("url", ""), source.get("url", "")
        await self.emit(
            "source",
            {
                "source": {"name": title, "url": url},
                "document": [source.get("quote") or title],
                "metadata": [{"source": url, "name": title}],
            },
        )

    async def emit(self, kind: str, data: dict) -> None:
        if self.emitter:
            await self.emitter({"type": kind, "data": data})

    async def cancel(self) -> None:
        """Stops the run, so that nothing works on for nobody."""
        if not self.run_id:
            return
        try:
            async with httpx.AsyncClient(timeout=CONNECT_TIMEOUT_S, headers=self.headers) as client:
                await client.post(f"{self.url}/runs/{self.run_id}/cancel")
        except httpx.HTTPError:
            # It cannot be reached, which is why we stop.
            pass


class Question:
    """A question of an agent, asked with Open WebUI's form for MCP servers: its schema is the same as ours."""

    def __init__(self, turn: Turn, data: dict) -> None:
        self.turn = turn
        self.words = str(data.get("question", ""))
        self.address = f"{turn.url}/runs/{turn.run_id}/questions/{data['question_id']}"
        self.schema = data.get("schema")
        self.options = [str(option) for option in data.get("options") or []]

    async def ask(self) -> None:
        """Asks until there is an answer, or nobody wants one any more."""
        fault = ""
        for _ in range(DIALOGS):
            reply = await self.show(fault)
            if not isinstance(reply, dict) or reply.get("action") == "cancel":
                # It waits in Glasshouse.
                return
            if reply.get("error"):
                if "timed out" in str(reply["error"]):
                    continue
                return
            fault = await self.send(self.answer(reply))
            if not fault:
                return

    async def show(self, fault: str) -> Any:
        """The page's form, with what was wrong with the last answer above it."""
        message = f"{fault}\n\n{self.words}" if fault else self.words
        data = {"mode": "form", "server_name": "Glasshouse", "message": message, "timeout_ms": DIALOG_MS}
        return await self.turn.caller(
            {"type": "request:elicitation", "data": {**data, "requestedSchema": self.schema or self.own_schema()}}
        )

    def own_schema(self) -> dict:
        """A form for an answer in words, with what is suggested."""
        answer = {"type": "string", "title": "Answer"}
        if not self.options:
            return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        choice = {"type": "string", "title": "Choice", "enum": self.options}
        return {"type": "object", "properties": {"choice": choice, "answer": {**answer, "title": "Another answer"}}}

    def answer(self, reply: dict) -> dict:
        """The body for Glasshouse."""
        content = reply.get("content")
        if reply.get("action") != "accept":
            return {"decline": True}
        values = content if isinstance(content, dict) else {}
        if self.schema:
            return {"values": values}
        words = str(values.get("answer") or values.get("choice") or "")
        return {"answer": words} if words.strip() else {"decline": True}

    async def send(self, body: dict) -> str:
        """Brings the answer; returns what does not fit, in words. Somebody else may have been quicker."""
        try:
            async with httpx.AsyncClient(timeout=CONNECT_TIMEOUT_S * 4, headers=self.turn.headers) as client:
                response = await client.post(self.address, json=body)
            return response.json()["error"]["message"] if response.status_code == 422 else ""
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            await self.turn.status(f"❓ {self.words} (the answer could not be sent; answer it in Glasshouse)")
            return ""


ENDINGS = {"cancelled": "Stopped", "limited": "Stopped at a limit", "failed": "Failed"}


async def next_data(lines: AsyncIterator[str]) -> Optional[str]:
    """The next line with data, past comments and ids; nothing at the end."""
    async for line in lines:
        if line.startswith("data:"):
            return line[5:].strip()
    return None


def refusal(status: int, body: bytes) -> str:
    """What the server says is wrong, in words."""
    try:
        message = json.loads(body)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = f"it answered {status}"
    hint = " Set API_KEY in the function's valves." if status == 401 else ""
    return f"Glasshouse refused the request: {message}{hint}"
