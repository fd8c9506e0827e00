"""The `anthropic` package, unchanged, against the real program: agents and plain models of another format."""

import asyncio
import json
import unittest

import anthropic

from programs import Glasshouse, Recorder, ScriptedModel, calls, refusal, text, turn

AGENT = "glasshouse/agent"
PLAIN = "scripted"
WEATHER = {
    "name": "weather",
    "description": "Tells the weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "cache_control": {"type": "ephemeral"},
}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
CASES = [
    {"contains": "think", "turns": [turn({"type": "reasoning", "text": "Hm, well."}, text("Done thinking."))]},
    {"contains": "as JSON", "turns": [turn(text('{"city": "Paris"}'))]},
    {"contains": "refuse 422", "turns": [refusal(422, "unfit")]},
    {"contains": "refuse 429", "turns": [refusal(429, "slow", **{"retry-after": "0"})]},
    {"contains": "refuse 401", "turns": [refusal(401, "key")]},
    {"contains": "break off", "turns": [{"steps": [text("Once upon"), {"type": "error", "message": "out of memory"}]}]},
    {
        "contains": "weather",
        "turns": [
            turn(text("Let me see."), calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"}))),
            turn(calls(("weather", {"city": "Oslo"}))),
            turn(text("Sun, rain and snow.")),
        ],
    },
    {"contains": "what is it", "turns": [turn(text("A dot."))]},
    {"contains": "cut", "turns": [{"steps": [text("Once"), {"type": "finish", "reason": "length"}]}]},
    {"turns": [turn(text("Hello."))]},
]


def said(content):
    return [{"role": "user", "content": content}]


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ScriptedModel(CASES)
        cls.recorder = Recorder(cls.model.url)
        cls.glasshouse = Glasshouse()
        cls.glasshouse.connect("Scripted", cls.recorder.url)
        cls.client = anthropic.Anthropic(base_url=cls.glasshouse.url, api_key=cls.glasshouse.key, max_retries=0)
        cls.messages = cls.client.messages

    @classmethod
    def tearDownClass(cls):
        for program in [cls.client, cls.glasshouse, cls.recorder, cls.model]:
            program.close()

    def create(self, model, content, **options):
        return self.messages.create(model=model, max_tokens=500, messages=said(content), **options)

    # Whole answers and streams

    def test_an_answer_at_once(self):
        system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
        for model in [AGENT, PLAIN]:
            answer = self.create(model, "Hi", system=system, metadata={"user_id": "u1"}, stop_sequences=["END"])
            self.assertEqual((answer.content[0].text, answer.stop_reason, answer.model), ("Hello.", "end_turn", model))
            self.assertEqual((answer.usage.input_tokens, answer.usage.output_tokens), (12, 4))
            self.assertRegex(answer._request_id, "^req_")
        sent = self.recorder.bodies[-1]
        self.assertEqual(sent["messages"], [{"role": "system", "content": "Be brief."}, *said("Hi")])
        self.assertEqual((sent["stop"], sent["max_tokens"]), (["END"], 500))
        self.assertNotIn("cache_control", json.dumps(sent))

    def test_thinking_streams(self):
        thinking = {"type": "enabled", "budget_tokens": 1024}
        for model in [AGENT, PLAIN]:
            options = {"max_tokens": 2000, "messages": said("think"), "thinking": thinking}
            with self.messages.stream(model=model, **options) as stream:
                kinds = {event.type for event in stream}
                final = stream.get_final_message()
            self.assertLessEqual({"thinking", "text", "content_block_stop", "message_stop"}, kinds)
            self.assertEqual([block.type for block in final.content], ["thinking", "text"])
            self.assertEqual((final.content[0].thinking, final.content[1].text), ("Hm, well.", "Done thinking."))
            self.assertEqual(final.usage.output_tokens, 4)

    def test_a_picture(self):
        content = [PICTURE, {"type": "text", "text": "what is it"}]
        for model in [AGENT, PLAIN]:
            self.assertEqual(self.create(model, content).content[0].text, "A dot.")
        image = self.recorder.bodies[-1]["messages"][0]["content"][0]["image_url"]["url"]
        self.assertEqual(image, "data:image/png;base64,iVBORw0KGgo=")

    def test_an_answer_that_is_cut(self):
        answer = self.create(PLAIN, "cut")
        self.assertEqual((answer.content[0].text, answer.stop_reason), ("Once", "max_tokens"))

    def test_structured_output(self):
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        for model in [AGENT, PLAIN]:
            config = {"format": {"type": "json_schema", "schema": schema}}
            answer = self.create(model, "as JSON", output_config=config)
            self.assertEqual(json.loads(answer.content[-1].text), {"city": "Paris"})
        self.assertEqual(self.recorder.bodies[-1]["response_format"]["json_schema"]["schema"], schema)

    # Tools

    def test_tools_over_several_turns(self):
        for model in [AGENT, PLAIN]:
            messages, asked = said("weather"), []
            for _ in range(5):
                options = {"max_tokens": 500, "messages": messages, "tools": [WEATHER]}
                with self.messages.stream(model=model, **options) as stream:
                    answer = stream.get_final_message()
                wanted = [block for block in answer.content if block.type == "tool_use"]
                self.assertEqual(answer.stop_reason, "tool_use" if wanted else "end_turn")
                if not wanted:
                    break
                asked += wanted
                messages = [
                    *messages,
                    {"role": "assistant", "content": answer.content},
                    {"role": "user", "content": [self.result(call) for call in wanted]},
                ]
            self.assertEqual([call.input["city"] for call in asked], ["Paris", "Rome", "Oslo"])
            self.assertEqual(len({call.id for call in asked}), 3, "no id is given twice")
            self.assertEqual(answer.content[-1].text, "Sun, rain and snow.")
        sent = self.recorder.bodies[-1]["messages"]
        results = {message["tool_call_id"]: message["content"] for message in sent if message["role"] == "tool"}
        self.assertEqual([results[call.id] for call in asked][:2], ["Paris: fine", ""])
        self.assertEqual(sent[1]["content"], "Let me see.")

    @staticmethod
    def result(call):
        block = {"type": "tool_result", "tool_use_id": call.id}
        if call.input["city"] == "Rome":
            return block
        if call.input["city"] == "Oslo":
            return {**block, "content": [{"type": "text", "text": "No such place."}], "is_error": True}
        return {**block, "content": "Paris: fine", "cache_control": {"type": "ephemeral"}}

    def test_a_tool_that_has_to_be_used(self):
        self.create(PLAIN, "Hi", tools=[WEATHER], tool_choice={"type": "tool", "name": "weather"})
        choice = {"type": "function", "function": {"name": "weather"}}
        self.assertEqual(self.recorder.bodies[-1]["tool_choice"], choice)

    # Betas, counting and models

    def test_betas_are_taken(self):
        answer = self.client.beta.messages.create(
            model=PLAIN,
            max_tokens=500,
            messages=said("Hi"),
            betas=["context-management-2025-06-27"],
            context_management={"edits": [{"type": "clear_tool_uses_20250919"}]},
        )
        self.assertEqual(answer.content[0].text, "Hello.")
        self.assertNotIn("context_management", self.recorder.bodies[-1])

    def test_tokens_are_counted(self):
        for model in [AGENT, PLAIN]:
            short = self.messages.count_tokens(model=model, messages=said("Hi"))
            longer = self.messages.count_tokens(model=model, messages=said("Hi, " * 200), tools=[WEATHER])
            self.assertGreater(longer.input_tokens, short.input_tokens + 100)

    def test_models(self):
        ids = [AGENT, "glasshouse/research", "glasshouse/deep", "tour", PLAIN]
        self.assertEqual([model.id for model in self.client.models.list()], ids)
        pages = [model.id for model in self.client.models.list(limit=2)]
        self.assertEqual(pages, ids, "the package turns the pages itself")
        one = self.client.models.retrieve(AGENT)
        self.assertEqual((one.type, one.display_name, one.created_at.year), ("model", AGENT, 1970))

    # Errors

    def test_errors_are_typed(self):
        def fails(error, kind, call):
            with self.assertRaises(error) as caught:
                call()
            self.assertEqual(caught.exception.body["error"]["type"], kind)
            self.assertRegex(caught.exception.request_id, "^req_")

        for model in [AGENT, PLAIN]:
            fails(anthropic.RateLimitError, "rate_limit_error", lambda: self.create(model, "refuse 429"))
            fails(anthropic.BadRequestError, "invalid_request_error", lambda: self.create(model, "refuse 422"))
            # The caller's own key was good.
            fails(anthropic.InternalServerError, "api_error", lambda: self.create(model, "refuse 401"))
        fails(anthropic.NotFoundError, "not_found_error", lambda: self.create("none-such", "Hi"))
        fails(anthropic.BadRequestError, "invalid_request_error", lambda: self.create(PLAIN, "Hi", tool_choice={"type": "tool"}))
        fails(anthropic.NotFoundError, "not_found_error", lambda: self.client.models.retrieve("none-such"))
        fails(anthropic.NotFoundError, "not_found_error", lambda: self.messages.batches.list())
        stranger = self.client.with_options(api_key="gh_wrong")
        fails(anthropic.AuthenticationError, "authentication_error", lambda: stranger.models.list())
        create = stranger.messages.create
        options = {"model": PLAIN, "max_tokens": 5, "messages": said("Hi")}
        fails(anthropic.AuthenticationError, "authentication_error", lambda: create(**options))

    def test_it_tries_again_where_that_may_help(self):
        def requests(words):
            before = len(self.recorder.bodies)
            with self.assertRaises(anthropic.APIStatusError):
                options = {"model": PLAIN, "max_tokens": 5, "messages": said(words)}
                self.client.with_options(max_retries=1).messages.create(**options)
            return len(self.recorder.bodies) - before

        # We try once more ourselves as well.
        self.assertGreater(requests("refuse 429"), 1)
        self.assertEqual(requests("refuse 422"), 1)

    def test_a_failure_in_a_stream_is_thrown(self):
        for model in [AGENT, PLAIN]:
            with self.assertRaisesRegex(anthropic.APIStatusError, "out of memory"):
                with self.messages.stream(model=model, max_tokens=50, messages=said("break off")) as stream:
                    stream.until_done()

    # The other client, and the other header

    def test_asynchronously_and_with_a_bearer_token(self):
        async def ask():
            async with anthropic.AsyncAnthropic(
                base_url=self.glasshouse.url, auth_token=self.glasshouse.key, max_retries=0
            ) as client:
                options = {"model": AGENT, "max_tokens": 50, "messages": said("Hi")}
                async with client.messages.stream(**options) as stream:
                    words = "".join([piece async for piece in stream.text_stream])
                return words, (await client.messages.create(**options)).content[0].text

        self.assertEqual(asyncio.run(ask()), ("Hello.", "Hello."))


if __name__ == "__main__":
    unittest.main()
