"""Drives the pipe as Open WebUI does, against the real server with the tour and a scripted model."""

import asyncio
import functools
import json
import unittest
import unittest.mock
from typing import Any

import httpx

import document_000
import glasshouse_pipe
from glasshouse_pipe import Pipe
from programs import Glasshouse, calls, text, turn

LONG = "line of a long file\n" * 100
PAUSE = {"type": "pause", "ms": 200}


def upstream(data: dict, event: bool = False) -> dict:
    """What a gateway says that it is doing, bare or as Open WebUI passes it on."""
    status = {"type": "status", "data": data}
    return {"type": "event", "data": json.dumps({"event": status} if event else status)}


UPSTREAM = [
    upstream({"description": "Turn 1 - Searching…", "done": False}),
    PAUSE,
    upstream({"description": "Turn 1 - Crawling…"}, event=True),
    PAUSE,
    upstream({"done": True, "hidden": True}),
    PAUSE,
]
CASES = [
    {"contains": "Look into it", "turns": [turn(text("SECRET WORDS OF A SUB-AGENT"))]},
    {
        "contains": "Work",
        "turns": [
            turn(text("I write first. "), calls(("write_file", {"path": "/long.txt", "content": LONG}))),
            turn(calls(("read_file", {"path": "/long.txt"}), ("read_file", {"path": "/nowhere.txt"}))),
            turn(calls(("task", {"description": "Look into it", "subagent_type": "explore"}))),
            turn(text("All of it is done.")),
        ],
    },
    {
        "contains": "Plan a trip",
        "turns": [
            turn(
                calls(
                    (
                        "ask_user",
                        {
                            "question": "Where to?",
                            "fields": [
                                {"name": "city", "label": "City", "type": "text", "required": True},
                                {"name": "seats", "type": "integer", "min": 1, "max": 9, "default": 2},
                            ],
                        },
                    )
                )
            ),
            turn(text("Off we go.")),
        ],
    },
    {
        "contains": "Which colour",
        "turns": [
            turn(calls(("ask_user", {"question": "Which colour?", "options": ["red", "blue"]}))),
            turn(text("Thank you.")),
        ],
    },
    {
        "contains": "Read it",
        "turns": [turn(calls(("read_file", {"path": "/attachments/plan.md"}))), turn(text("Read."))],
    },
    {"contains": "Gateway", "turns": [turn(*UPSTREAM, text("It is known."))]},
    {"contains": "Count", "turns": [turn(text("word " * 3000, 30))]},
    {"contains": "Break", "turns": [{"steps": [text("Half a sentence"), {"type": "pause", "ms": 200}, {"type": "cut"}]}]},
    {"contains": "Fall silent", "turns": [{"steps": [text("And then "), {"type": "silence"}]}]},
    {
        "contains": "Slowly",
        "turns": [turn(*[step for n in range(6) for step in (text(f"w{n} "), {"type": "pause", "ms": 400})])],
    },
]


class Page:
    """What Open WebUI shows of an answer."""

    def __init__(self) -> None:
        self.text = ""
        self.error = None
        self.events: list[dict] = []
        self.asked: list[dict] = []
        self.replies: list[Any] = []

    async def answer(self, event: dict) -> Any:
        """What the person does with each dialog, in order."""
        self.asked.append(event)
        return self.replies.pop(0) if self.replies else await asyncio.Event().wait()

    async def emit(self, event: dict) -> None:
        self.events.append(event)

    def statuses(self) -> list[dict]:
        return [event["data"] for event in self.events if event["type"] == "status"]

    def sources(self) -> list[dict]:
        return [event["data"] for event in self.events if event["type"] == "source"]

    async def show(self, pipe: Pipe, words: str, **more) -> "Page":
        body = {"stream": True, "model": "glasshouse", "messages": [{"role": "user", "content": words}]}
        metadata = {"chat_id": "6a3f5a0e-0000-4000-8000-000000000001", **more.pop("metadata", {})}
        calls = {"__event_emitter__": self.emit, "__event_call__": self.answer}
        async for piece in pipe.pipe(body, **calls, __metadata__=metadata, **more):
            if isinstance(piece, dict):
                self.error = piece["error"]["message"]
            else:
                self.text += piece
        return self


class PipeTest(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.server = Glasshouse(CASES)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.stop()

    def pipe(self, **valves) -> Pipe:
        pipe = Pipe()
        settings = {"DEEP_AGENT_URL": self.server.url, "API_KEY": self.server.key, "MODEL": "scripted", **valves}
        pipe.valves = Pipe.Valves(**settings)
        return pipe

    async def live_runs(self) -> int:
        """How many runs are going: each is one of the first events of the activity stream."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.server.key}"}) as client:
            async with client.stream("GET", f"{self.server.url}/api/v1/activity") as response:
                try:
                    async with asyncio.timeout(0.5):
                        return len([1 async for line in response.aiter_lines() if '"state":"running"' in line])
                except TimeoutError:
                    return 0

    async def outcome(self, run: str) -> str:
        """How a run ended; waits for it."""
        headers = {"Authorization": f"Bearer {self.server.key}"}
        async with httpx.AsyncClient(headers=headers, timeout=30) as client:
            async with client.stream("GET", f"{self.server.url}/runs/{run}/events?format=chat") as response:
                async for _ in response.aiter_lines():
                    pass
            summary = (await client.get(f"{self.server.url}/runs/{run}")).json()["summary"]
        return summary["outcome"]

    async def test_the_defaults_are_the_documented_ones(self) -> None:
        valves = Pipe().valves.model_dump()
        expected = {
            "DEEP_AGENT_URL": "http://localhost:8000",
            "API_KEY": "",
            "SHOW_TOOL_CITATIONS": True,
            "SHOW_SUBAGENT_STATUS": True,
            "REQUEST_TIMEOUT": 300,
            "MODE": "chat",
            "MODEL": "",
        }
        self.assertEqual(valves, expected)
        self.assertRaises(ValueError, Pipe.Valves, MODE="fast")
        self.assertRaises(ValueError, Pipe.Valves, REQUEST_TIMEOUT=0)

    async def test_everything_has_its_place(self) -> None:
        page = await Page().show(self.pipe(), "Work")
        self.assertIsNone(page.error)
        self.assertEqual(page.text, "I write first. \n\nAll of it is done.")
        lines = [status["description"] for status in page.statuses()]
        for line in ("🔧 write_file...", "🔧 read_file...", "🔧 task..."):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith("🤖 Sub-agent: ") and line.endswith("...") for line in lines), lines)
        self.assertIn("🤖 Sub-agent: Look into it › Thinking…", lines, "statuses name their sub-agent, as tools do")
        self.assertEqual(page.statuses()[-1], {"description": "Complete", "done": True, "hidden": False})
        early = [status for status in page.statuses()[:-1] if status["done"] and not status["hidden"]]
        self.assertEqual(early, [], "nothing stops the shimmer early")
        self.assertTrue(all(line.strip() for line in lines), "no line is empty")

    async def test_document_003_statuses_of_an_upstream_are_shown_replaced_and_cleared(self) -> None:
        page = await Page().show(self.pipe(), "Gateway")
        self.assertEqual((page.text, page.error), ("It is known.", None))
        shown = [(status["description"], status["done"], status["hidden"]) for status in page.statuses()]
        expected = [
            ("Thinking…", False, False),
            ("Turn 1 - Searching…", False, False),
            ("Turn 1 - Crawling…", False, False),
            ("Turn 1 - Crawling…", True, True),
            ("Complete", True, False),
        ]
        self.assertEqual(shown, expected)

    async def test_document_000_its_own_pipe_never_shows_an_empty_line(self) -> None:
        pipe = document_000.Pipe()
        pipe.valves.DEEP_AGENT_URL = self.server.url
        # It knows no keys.
        headers = {"Authorization": f"Bearer {self.server.key}"}
        client = functools.partial(httpx.AsyncClient, headers=headers, timeout=60)
        for words, answer in (("Work", "All of it is done."), ("Gateway", "It is known.")):
            page = Page()
            body = {"stream": True, "model": "scripted", "messages": [{"role": "user", "content": words}]}
            with unittest.mock.patch.object(document_000.httpx, "AsyncClient", client):
                text = "".join([piece async for piece in pipe.pipe(body, page.emit)])
            self.assertTrue(text.endswith(answer), text)
            lines = [status["description"] for status in page.statuses()]
            self.assertTrue(all(line.strip() for line in lines), lines)
            self.assertEqual(lines[-1], "Complete")
        self.assertIn("Turn 1 - Searching…", lines)

    async def test_results_are_citations(self) -> None:
        page = await Page().show(self.pipe(), "Work")
        by_name = {source["source"]["name"]: source for source in page.sources()}
        read = by_name["🔧 read_file"]
        full = read["metadata"][0]["full_result"]
        self.assertGreater(len(full), 1500)
        self.assertEqual(read["document"], [full[:500] + "..."])
        self.assertIn("🔧 read_file ✕", by_name)
        self.assertIn("SECRET WORDS", by_name["🔧 task"]["document"][0])
        places = [source["metadata"][0]["source"] for source in page.sources()]
        self.assertEqual(len(places), len(set(places)), "Open WebUI puts together what has the same source")
        for source in page.sources():
            self.assertEqual(len(source["document"]), len(source["metadata"]))

    async def test_document_000_the_pipe_of_the_document_works_as_it_is_written(self) -> None:
        page, pipe = Page(), document_000.Pipe()
        pipe.valves.DEEP_AGENT_URL = self.server.url
        # The document knows no keys; what stands between would add one.
        keyed = functools.partial(httpx.AsyncClient, headers={"Authorization": f"Bearer {self.server.key}"}, timeout=60)
        body = {"stream": True, "messages": [{"role": "user", "content": "Work"}]}
        with unittest.mock.patch.object(document_000.httpx, "AsyncClient", keyed):
            pieces = [piece async for piece in pipe.pipe(body, __event_emitter__=page.emit)]
        words = "".join(pieces)
        for part in ("I write first. ", "SECRET WORDS OF A SUB-AGENT", "All of it is done."):
            self.assertIn(part, words, "all tokens, those of sub-agents too, as it does not look at their depth")
        lines = [status["description"] for status in page.statuses()]
        for line in ("🔧 write_file...", "🔧 read_file...", "🔧 task...", "Sub-agent completed"):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith("🤖 Sub-agent: ") for line in lines), lines)
        self.assertEqual(page.statuses()[-1], {"description": "Complete", "done": True})
        names = [source["source"]["name"] for source in page.sources()]
        self.assertEqual(sorted(names), ["🔧 read_file", "🔧 read_file", "🔧 task", "🔧 write_file"])
        longest = max(page.sources(), key=lambda source: len(source["metadata"][0]["full_result"]))
        self.assertGreater(len(longest["metadata"][0]["full_result"]), 1500)
        self.assertEqual(longest["document"], [longest["metadata"][0]["full_result"][:500]])

    async def test_document_000_the_lines_of_sub_agents_are_worded_as_in_the_document(self) -> None:
        page = await Page().show(self.pipe(), "Work")
        of_agents = [status for status in page.statuses() if status["description"].startswith("🤖 Sub-agent: ")]
        begins, ends = of_agents[0], of_agents[-1]
        self.assertEqual((begins["description"], begins["done"]), ("🤖 Sub-agent: Look into it...", False))
        # It names the one that has ended, and is not done: the main agent goes on.
        self.assertEqual((ends["description"], ends["done"]), ("🤖 Sub-agent: Look into it completed", False))

    async def test_what_is_switched_off_is_not_shown(self) -> None:
        pipe = self.pipe(SHOW_TOOL_CITATIONS=False, SHOW_SUBAGENT_STATUS=False)
        page = await Page().show(pipe, "Work")
        self.assertEqual(page.sources(), [])
        self.assertFalse([status for status in page.statuses() if "🤖" in status["description"]])
        self.assertEqual(page.text, "I write first. \n\nAll of it is done.")

    async def answered(self, page: Page, words: str) -> dict:
        """What the run heard of its question."""
        turns: list[glasshouse_pipe.Turn] = []

        class Watched(glasshouse_pipe.Turn):
            def __init__(self, *arguments) -> None:
                super().__init__(*arguments)
                turns.append(self)

        with unittest.mock.patch.object(glasshouse_pipe, "Turn", Watched):
            await page.show(self.pipe(), words)
        self.assertIsNone(page.error)
        headers = {"Authorization": f"Bearer {self.server.key}"}
        async with httpx.AsyncClient(headers=headers, timeout=30, base_url=self.server.url) as client:
            log = (await client.get(f"/runs/{turns[0].run_id}/events")).text
        bodies = [json.loads(line[6:])["body"] for line in log.splitlines() if line.startswith("data: ")]
        return next(body for body in bodies if body["type"] == "question_answered")

    async def test_a_form_is_asked_in_the_page(self) -> None:
        page = Page()
        gone = {"error": "Event call timed out. The browser tab may be inactive or closed."}
        wrong = {"action": "accept", "content": {"city": "Rome", "seats": 10}}
        page.replies = [gone, wrong, {"action": "accept", "content": {"city": "Rome", "seats": 3}}]
        heard = await self.answered(page, "Plan a trip")
        self.assertEqual(heard["values"], {"city": "Rome", "seats": 3})
        self.assertEqual(page.text, "Off we go.")
        self.assertEqual([event["type"] for event in page.asked], ["request:elicitation"] * 3)
        asked = page.asked[0]["data"]
        self.assertEqual((asked["mode"], asked["message"]), ("form", "Where to?"))
        self.assertEqual(list(asked["requestedSchema"]["properties"]), ["city", "seats"])
        self.assertEqual(page.asked[2]["data"]["message"], "“seats” must be a whole number, 1 to 9.\n\nWhere to?")

    async def test_a_question_is_asked_in_the_page(self) -> None:
        page = Page()
        page.replies = [{"action": "accept", "content": {"choice": "red", "answer": "green"}}]
        self.assertEqual((await self.answered(page, "Which colour")).get("answer"), "green")
        self.assertEqual(page.asked[0]["data"]["requestedSchema"]["properties"]["choice"]["enum"], ["red", "blue"])
        page = Page()
        page.replies = [{"action": "decline"}]
        self.assertTrue((await self.answered(page, "Which colour")).get("declined"))

    async def test_the_tour_with_two_sub_agents(self) -> None:
        page, pipe = Page(), self.pipe(MODEL="tour")
        showing = asyncio.create_task(page.show(pipe, "Show me around"))
        # The tour waits for consent once; the page says so, and Stop ends it.
        while not any("consent" in status["description"] for status in page.statuses()):
            await asyncio.sleep(0.05)
            self.assertFalse(showing.done(), page.error)
        lines = [status["description"] for status in page.statuses()]
        self.assertGreaterEqual(sum(line.startswith("🤖 Sub-agent: ") and "›" in line for line in lines), 2, lines)
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)
        self.assertEqual(await self.live_runs(), 0)

    async def test_stop_stops_the_run(self) -> None:
        page, pipe = Page(), self.pipe()
        runs = await self.runs_of(pipe)
        showing = asyncio.create_task(page.show(pipe, "Count"))
        while len(page.text) < 50:
            await asyncio.sleep(0.02)
        showing.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await showing
        self.assertEqual(await self.outcome(runs[-1]), "cancelled")
        self.assertGreaterEqual(len(page.text), 50, "what was written stands")

    async def test_closing_the_generator_stops_the_run(self) -> None:
        pipe = self.pipe()
        runs = await self.runs_of(pipe)
        body = {"messages": [{"role": "user", "content": "Count"}]}
        answer = pipe.pipe(body, __event_emitter__=Page().emit)
        await answer.__anext__()
        await answer.aclose()
        self.assertEqual(await self.outcome(runs[-1]), "cancelled")

    async def runs_of(self, pipe: Pipe) -> list[str]:
        """The runs this pipe will start, noted as the server names them."""
        runs: list[str] = []
        send = httpx.AsyncClient.send

        async def noting(client, request, **more):
            response = await send(client, request, **more)
            if "x-run-id" in response.headers:
                runs.append(response.headers["x-run-id"])
            return response

        httpx.AsyncClient.send = noting
        self.addCleanup(setattr, httpx.AsyncClient, "send", send)
        return runs

    async def test_an_error_keeps_the_partial_text(self) -> None:
        page = await Page().show(self.pipe(), "Break")
        self.assertEqual(page.text, "Half a sentence")
        self.assertIn("model server", page.error)
        self.assertEqual(page.statuses()[-1]["done"], True, "the shimmer ends")

    async def test_silence_ends_the_turn_but_a_slow_answer_does_not(self) -> None:
        pipe = self.pipe(REQUEST_TIMEOUT=1)
        page = await Page().show(pipe, "Slowly")
        self.assertIsNone(page.error, "2.4 seconds in all, but never more than one between two events")
        self.assertEqual(page.text, "w0 w1 w2 w3 w4 w5 ")
        runs = await self.runs_of(pipe)
        page = await Page().show(pipe, "Fall silent")
        self.assertEqual(page.text, "And then ")
        self.assertIn("silent for 1 seconds", page.error)
        self.assertEqual(await self.outcome(runs[-1]), "cancelled")

    async def test_attached_files_reach_the_agent(self) -> None:
        attached = {"type": "file", "id": "7", "name": "plan.md", "file": {"data": {"content": "First, rest."}}}
        metadata = {"files": [attached], "variables": {"{{USER_NAME}}": "Ann"}, "tool_ids": ["theirs"]}
        page = await Page().show(self.pipe(), "Read it", metadata=metadata)
        self.assertEqual((page.text, page.error), ("Read.", None))
        [source] = page.sources()
        self.assertIn("First, rest.", source["metadata"][0]["full_result"])

    async def test_background_tasks_start_nothing(self) -> None:
        runs = await self.runs_of(self.pipe())
        for more in ({"__task__": "title_generation"}, {"metadata": {"task": "tags_generation"}}):
            page = await Page().show(self.pipe(), "Work", **more)
            self.assertEqual((page.text, page.error, page.events), ("", None, []))
        self.assertEqual(runs, [])

    async def test_what_is_wrong_is_said_in_words(self) -> None:
        for valves, words in (
            ({"API_KEY": "gh_wrong"}, "API_KEY"),
            ({"API_KEY": ""}, "Sign in first"),
            ({"MODEL": "none-such"}, "none-such"),
            ({"MODE": "deep"}, "nothing to research in"),
            ({"DEEP_AGENT_URL": "http://127.0.0.1:9"}, "http://127.0.0.1:9"),
        ):
            page = await Page().show(self.pipe(**valves), "Work")
            self.assertEqual(page.text, "")
            self.assertIn(words, page.error, valves)
            self.assertEqual(page.statuses()[-1]["done"], True)

    async def test_it_works_without_an_emitter(self) -> None:
        body = {"messages": [{"role": "user", "content": "Work"}]}
        pieces = [piece async for piece in self.pipe().pipe(body)]
        self.assertEqual("".join(pieces), "I write first. \n\nAll of it is done.")


if __name__ == "__main__":
    unittest.main()
