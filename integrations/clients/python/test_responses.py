"""The `openai` package's Responses, unchanged, against the real program: agents and plain models."""

import json
import unittest

import openai
from pydantic import BaseModel

from programs import Glasshouse, ScriptedModel, calls, refusal, text, turn

AGENT = "glasshouse/agent"
PLAIN = "scripted"
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "Tells the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
FOR_EVER = {"steps": [{"type": "text", "text": "On and on and on", "tokens_per_second": 20}, {"type": "silence"}]}
A_WHILE = turn({"type": "text", "text": "One word comes after the other until all is said.", "tokens_per_second": 40})
CASES = [
    {"contains": "think", "turns": [turn({"type": "reasoning", "text": "Hm, well."}, text("Done thinking."))]},
    {"contains": "as JSON", "turns": [turn(text('{"city": "Paris", "degrees": 21}'))]},
    {"contains": "refuse 422", "turns": [refusal(422, "unfit")]},
    {"contains": "refuse 429", "turns": [refusal(429, "slow", **{"retry-after": "3600"})]},
    {"contains": "refuse 401", "turns": [refusal(401, "key")]},
    {"contains": "break off", "turns": [{"steps": [text("Once upon"), {"type": "error", "message": "out of memory"}]}]},
    {
        "contains": "weather",
        "turns": [
            turn(text("Let me see."), calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"}))),
            turn(text("Sun and rain.")),
        ],
    },
    {"contains": "what is it", "turns": [turn(text("A dot."))]},
    {"contains": "cut", "turns": [{"steps": [text("Once"), {"type": "finish", "reason": "length"}]}]},
    {"contains": "for ever", "turns": [FOR_EVER]},
    {"contains": "a while", "turns": [A_WHILE]},
    {"contains": "list files", "turns": [turn(calls(("ls", {"path": "/"}))), turn(text("There are none."))]},
    {"turns": [turn(text("Hello."))]},
]


class Responses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ScriptedModel(CASES)
        cls.glasshouse = Glasshouse()
        cls.glasshouse.connect("Scripted", cls.model.url)
        cls.client = openai.OpenAI(base_url=cls.glasshouse.url + "/v1", api_key=cls.glasshouse.key, max_retries=0)
        cls.responses = cls.client.responses

    @classmethod
    def tearDownClass(cls):
        for program in [cls.client, cls.glasshouse, cls.model]:
            program.close()

    # Whole answers and streams

    def test_an_answer_at_once(self):
        for model in [AGENT, PLAIN]:
            answer = self.responses.create(
                model=model, input="Hi", instructions="Be brief.", metadata={"a": "b"}, temperature=0.5
            )
            self.assertEqual((answer.output_text, answer.status, answer.model), ("Hello.", "completed", model))
            self.assertEqual((answer.metadata, answer.instructions), ({"a": "b"}, "Be brief."))
            self.assertEqual((answer.usage.total_tokens, answer.error), (16, None))

    def test_events_arrive_as_they_are_typed(self):
        events = list(self.responses.create(model=PLAIN, input="think", stream=True))
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        self.assertEqual(
            [event.type for event in events if not event.type.endswith("delta")],
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
                "response.output_item.done",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.completed",
            ],
        )
        for event in events:
            # Strictly: everything there and of the right type.
            type(event).model_validate_json(event.model_dump_json(warnings="error"), strict=True)
        deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
        self.assertEqual("".join(deltas), "Done thinking.")
        reasoning, message = events[-1].response.output
        self.assertEqual((reasoning.type, reasoning.summary[0].text), ("reasoning", "Hm, well."))
        self.assertEqual((message.type, message.phase), ("message", "final_answer"))

    def test_the_work_of_an_agent_shows_as_the_servers(self):
        with self.responses.stream(model=AGENT, input="list files") as stream:
            seen = [event for event in stream]
            final = stream.get_final_response()
        self.assertEqual(final.output_text, "There are none.")
        call = final.output[0]
        self.assertEqual((call.type, call.name, call.status), ("mcp_call", "ls", "completed"))
        self.assertEqual(json.loads(call.arguments), {"path": "/"})
        kinds = [event.type for event in seen if "mcp_call" in event.type]
        self.assertEqual(
            kinds,
            [
                "response.mcp_call.in_progress",
                "response.mcp_call_arguments.delta",
                "response.mcp_call_arguments.done",
                "response.mcp_call.completed",
            ],
        )
        for event in seen:
            if event.type != "response.completed":
                type(event).model_validate_json(event.model_dump_json(warnings=False))

    def test_a_picture(self):
        content = [{"type": "input_text", "text": "what is it"}, {"type": "input_image", "image_url": PICTURE}]
        answer = self.responses.create(model=AGENT, input=[{"role": "user", "content": content}])
        self.assertEqual(answer.output_text, "A dot.")

    def test_an_answer_that_is_cut(self):
        answer = self.responses.create(model=PLAIN, input="cut", max_output_tokens=16)
        self.assertEqual((answer.status, answer.output_text), ("incomplete", "Once"))
        self.assertEqual(answer.incomplete_details.reason, "max_output_tokens")

    # Kept responses

    def test_a_conversation_goes_on(self):
        first = self.responses.create(model=AGENT, input="list files")
        second = self.responses.create(model=AGENT, input="Thanks", previous_response_id=first.id)
        self.assertEqual((second.output_text, second.previous_response_id), ("Hello.", first.id))
        again = self.responses.retrieve(second.id)
        self.assertEqual(again.to_dict(), second.to_dict())
        items = list(self.responses.input_items.list(second.id))
        self.assertEqual([item.content[0].text for item in items], ["Thanks"])
        # The conversation sent whole, as the package prints it.
        whole = [{"role": "user", "content": "list files"}, *first.output, {"role": "user", "content": "Thanks"}]
        self.assertEqual(self.responses.create(model=PLAIN, input=whole).output_text, "Hello.")

    def test_in_the_background(self):
        begun = self.responses.create(model=AGENT, input="for ever", background=True)
        self.assertIn(begun.status, ["queued", "in_progress"])
        self.assertEqual(self.responses.retrieve(begun.id).status, "in_progress")
        self.assertEqual(self.responses.cancel(begun.id).status, "cancelled")
        self.assertEqual(self.responses.retrieve(begun.id).status, "cancelled")
        self.responses.delete(begun.id)
        with self.assertRaises(openai.NotFoundError):
            self.responses.retrieve(begun.id)

    def test_a_stream_goes_on_where_it_was_cut(self):
        seen = []
        with self.responses.create(model=AGENT, input="a while", background=True, stream=True) as stream:
            for event in stream:
                seen.append(event)
                if event.type == "response.output_text.delta":
                    break
        id, after = seen[0].response.id, seen[-1].sequence_number
        rest = list(self.responses.retrieve(id, stream=True, starting_after=after))
        self.assertEqual(rest[0].sequence_number, after + 1)
        self.assertEqual(rest[-1].type, "response.completed")
        deltas = [event.delta for event in seen + rest if event.type == "response.output_text.delta"]
        self.assertEqual("".join(deltas), "One word comes after the other until all is said.")
        # The same once it is over, and with the package's own helper.
        again = list(self.responses.retrieve(id, stream=True, starting_after=after))
        self.assertEqual([event.to_dict() for event in again], [event.to_dict() for event in rest])
        with self.responses.stream(response_id=id, starting_after=after) as stream:
            self.assertEqual(stream.get_final_response().output_text, "".join(deltas))

    def test_what_is_not_kept(self):
        answer = self.responses.create(model=AGENT, input="Hi", store=False)
        with self.assertRaises(openai.NotFoundError):
            self.responses.retrieve(answer.id)

    # The caller's own tools

    def test_the_callers_tools(self):
        for model in [AGENT, PLAIN]:
            first = self.responses.create(model=model, input="weather", tools=[WEATHER])
            asked = [item for item in first.output if item.type == "function_call"]
            self.assertEqual([json.loads(call.arguments)["city"] for call in asked], ["Paris", "Rome"])
            outputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "fine"} for call in asked]
            by_id = self.responses.create(
                model=model, input=outputs, previous_response_id=first.id, tools=[WEATHER]
            )
            self.assertEqual(by_id.output_text, "Sun and rain.")
            items = [{"role": "user", "content": "weather"}, *first.output, *outputs]
            whole = self.responses.create(model=model, input=items, store=False, tools=[WEATHER])
            self.assertEqual(whole.output_text, "Sun and rain.")
            with self.assertRaises(openai.BadRequestError) as caught:
                self.responses.create(model=model, input="And?", previous_response_id=first.id)
            self.assertEqual(caught.exception.param, "input")

    def test_the_callers_tools_in_a_stream(self):
        with self.responses.stream(model=AGENT, input="weather", tools=[WEATHER]) as stream:
            deltas = "".join(event.delta for event in stream if "function_call_arguments.delta" in event.type)
            final = stream.get_final_response()
        self.assertEqual(deltas.count("city"), 2)
        parsed = [item.parsed_arguments for item in final.output if item.type == "function_call"]
        self.assertEqual(parsed, [{"city": "Paris"}, {"city": "Rome"}])

    # Structured output

    def test_structured_output(self):
        class Weather(BaseModel):
            city: str
            degrees: int

        for model in (PLAIN, AGENT):
            answer = self.responses.parse(model=model, input="as JSON", text_format=Weather)
            self.assertEqual(answer.output_parsed, Weather(city="Paris", degrees=21))
            with self.responses.stream(model=model, input="as JSON", text_format=Weather) as stream:
                stream.until_done()
                self.assertEqual(stream.get_final_response().output_parsed.city, "Paris")

    # Errors

    def test_errors_are_typed(self):
        def fails(error, code, param=None, **request):
            request = {"model": AGENT, "input": "Hi", **request}
            with self.subTest(request=request), self.assertRaises(error) as caught:
                self.responses.create(**request)
            self.assertEqual((caught.exception.code, caught.exception.param), (code, param))
            self.assertGreater(len(caught.exception.message), 10)

        fails(openai.NotFoundError, "model_not_found", "model", model="none-such")
        fails(openai.BadRequestError, "invalid_request", "input", input=" ")
        fails(openai.BadRequestError, "invalid_request", "temperature", temperature="hot")
        fails(openai.BadRequestError, "invalid_request", "tools[0].type", tools=[{"type": "web_search"}])
        elsewhere = {"type": "json_schema", "name": "n", "schema": {"$ref": "https://example.com/a.json"}}
        fails(openai.BadRequestError, "invalid_request", "text.format.schema", text={"format": elsewhere})
        fails(openai.NotFoundError, "not_found", "previous_response_id", previous_response_id="resp_none")
        fails(openai.UnprocessableEntityError, "model_rejected", input="refuse 422")
        fails(openai.RateLimitError, "model_rate_limited", input="refuse 429")
        # The caller's own key was good.
        fails(openai.InternalServerError, "model_unauthorized", input="refuse 401", model=PLAIN)
        fails(openai.InternalServerError, "model_failed", input="break off")

    def test_a_failure_in_a_stream_is_told(self):
        events = list(self.responses.create(model=AGENT, input="break off", stream=True))
        self.assertEqual(events[-1].type, "response.failed")
        self.assertIn("out of memory", events[-1].response.error.message)
        self.assertEqual(self.responses.retrieve(events[-1].response.id).status, "failed")


if __name__ == "__main__":
    unittest.main()
