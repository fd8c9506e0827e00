"""The `openai` package, unchanged, against the real program: plain models and agents."""

import unittest

import openai
from pydantic import BaseModel

from programs import Glasshouse, JsonServer, ScriptedModel, calls, refusal, text, turn, whole

AGENT = "glasshouse/agent"
PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
ASK_WEATHER = calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"}))
CASES = [
    {"contains": "stream plainly", "turns": [turn({"type": "reasoning", "text": "Hm."}, text("Plain words."))]},
    {"contains": "answer whole", "turns": [whole({"content": "All at once."})]},
    {"contains": "as JSON", "turns": [whole({"content": '{"city": "Paris", "degrees": 21}'})]},
    {"contains": "refuse 400", "turns": [refusal(400, "bad")]},
    {"contains": "refuse 422", "turns": [refusal(422, "unfit")]},
    {"contains": "refuse 429", "turns": [refusal(429, "slow", **{"retry-after": "3"})]},
    {"contains": "refuse 401", "turns": [refusal(401, "key")]},
    {"contains": "refuse 500", "turns": [refusal(500, "down")]},
    {"contains": "break off", "turns": [{"steps": [text("Once upon"), {"type": "error", "message": "out of memory"}]}]},
    {"contains": "weather", "turns": [turn(text("Let me see."), ASK_WEATHER), turn(text("Sun and rain."))]},
    {"contains": "what is it", "turns": [turn(text("A dot."))]},
    {"contains": "list files", "turns": [turn(calls(("ls", {"path": "/"}))), turn(text("There are none."))]},
    {"turns": [turn(text("Hello."))]},
]


def embed(body):
    """An embedding for each input."""
    data = [{"object": "embedding", "index": at, "embedding": [0.5, at]} for at, _ in enumerate(body["input"])]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"prompt_tokens": 2, "total_tokens": 2}}


def said(words):
    return [{"role": "user", "content": words}]


class OpenAiPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ScriptedModel(CASES)
        cls.embedder = JsonServer(["embedder"], {"/v1/embeddings": embed})
        cls.glasshouse = Glasshouse()
        cls.glasshouse.connect("Scripted", cls.model.url)
        cls.glasshouse.connect("Embedder", cls.embedder.url)
        cls.client = cls.client_with(cls.glasshouse.key)

    @classmethod
    def tearDownClass(cls):
        for program in [cls.client, cls.glasshouse, cls.embedder, cls.model]:
            program.close()

    @classmethod
    def client_with(cls, key):
        return openai.OpenAI(base_url=cls.glasshouse.url + "/v1", api_key=key, max_retries=0)

    def complete(self, model, messages, **options):
        return self.client.chat.completions.create(model=model, messages=messages, **options)

    # Plain models

    def test_a_plain_model_streams(self):
        options = {"stream_options": {"include_usage": True}}
        chunks = list(self.complete("scripted", said("stream plainly"), stream=True, **options))
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        self.assertEqual("".join(delta.content or "" for delta in deltas), "Plain words.")
        self.assertEqual("".join(getattr(delta, "reasoning_content", "") for delta in deltas), "Hm.")
        self.assertEqual([chunk.usage.total_tokens for chunk in chunks if chunk.usage], [16])

    def test_a_plain_model_answers_whole(self):
        answer = self.complete("scripted", said("answer whole"))
        self.assertEqual(answer.choices[0].message.content, "All at once.")
        self.assertEqual(answer.usage.prompt_tokens, 12)

    def test_structured_output_of_a_plain_model_and_of_an_agent(self):
        class Weather(BaseModel):
            city: str
            degrees: int

        for model in ("scripted", AGENT):
            answer = self.client.chat.completions.parse(
                model=model, messages=said("as JSON"), response_format=Weather
            )
            self.assertEqual(answer.choices[0].message.parsed, Weather(city="Paris", degrees=21))

    def test_parallel_calls_of_a_plain_model(self):
        with self.client.chat.completions.stream(
            model="scripted", messages=said("weather"), tools=[WEATHER]
        ) as stream:
            message = stream.get_final_completion().choices[0].message
        self.assertEqual([call.function.name for call in message.tool_calls], ["weather", "weather"])
        self.assertEqual(message.tool_calls[1].function.arguments, '{"city":"Rome"}')

    def test_embeddings(self):
        # Without a format the package asks for base64 and takes a list too.
        for options in [{}, {"encoding_format": "float"}]:
            answer = self.client.embeddings.create(model="embedder", input=["a", "b"], **options)
            self.assertEqual([item.embedding for item in answer.data], [[0.5, 0], [0.5, 1]])

    # Agents

    def test_an_agent_streams(self):
        options = {"stream_options": {"include_usage": True}}
        chunks = list(self.complete(AGENT, said("list files"), stream=True, **options))
        words = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        self.assertEqual("".join(words), "There are none.")
        self.assertEqual({chunk.model for chunk in chunks}, {AGENT})
        self.assertEqual(chunks[-1].usage.prompt_tokens, 24, "of both model calls")
        reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
        self.assertEqual([reason for reason in reasons if reason], ["stop"])

    def test_an_agent_shows_its_work_to_who_asks(self):
        options = {"stream_options": {"include_status": True}}
        chunks = list(self.complete(AGENT, said("list files"), stream=True, **options))
        extras = [chunk.model_extra for chunk in chunks if not chunk.choices]
        rows = [extra["item"] for extra in extras if extra.get("type") == "response.output_item.done"]
        self.assertEqual([row["type"] for row in rows], ["function_call", "function_call_output"])
        statuses = [extra["data"] for extra in extras if extra.get("type") == "status"]
        self.assertEqual(statuses[-1]["done"], True)

    def test_an_agent_answers_whole(self):
        raw = self.client.chat.completions.with_raw_response.create(model=AGENT, messages=said("list files"))
        answer = raw.parse()
        self.assertEqual(answer.choices[0].message.content, "There are none.")
        run = self.glasshouse.get("/runs/" + raw.headers["x-run-id"])
        self.assertEqual((run["state"], run["summary"]["tools"]), ("finished", 1))

    def test_an_agent_hands_over_the_callers_tools(self):
        for stream in [False, True]:
            messages = said("weather")
            message = self.first_answer(messages, stream)
            self.assertEqual(message.content, "Let me see.")
            calls = message.tool_calls
            self.assertEqual([call.function.name for call in calls], ["weather", "weather"])
            self.assertEqual(len({call.id for call in calls}), 2)
            messages.append(message)
            for call in calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "fine"})
            answer = self.complete(AGENT, messages, tools=[WEATHER])
            self.assertEqual(answer.choices[0].finish_reason, "stop")
            self.assertEqual(answer.choices[0].message.content, "Sun and rain.")

    def first_answer(self, messages, stream):
        if not stream:
            choice = self.complete(AGENT, messages, tools=[WEATHER]).choices[0]
        else:
            with self.client.chat.completions.stream(model=AGENT, messages=messages, tools=[WEATHER]) as events:
                choice = events.get_final_completion().choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        return choice.message

    def test_an_agent_sees_pictures(self):
        content = [
            {"type": "text", "text": "what is it"},
            {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
        ]
        answer = self.complete(AGENT, [{"role": "user", "content": content}])
        self.assertEqual(answer.choices[0].message.content, "A dot.")

    def test_a_failure_in_a_stream_is_raised(self):
        for model in ["scripted", AGENT]:
            heard = ""
            with self.assertRaisesRegex(openai.APIError, "out of memory"):
                for chunk in self.complete(model, said("break off"), stream=True):
                    heard += chunk.choices[0].delta.content or ""
            self.assertEqual(heard, "Once upon", model)

    # Models and errors

    def test_models(self):
        ids = [model.id for model in self.client.models.list()]
        ours = [AGENT, "glasshouse/research", "glasshouse/deep", "tour"]
        self.assertEqual(ids, [*ours, "scripted", "embedder"])
        self.assertEqual(self.client.models.retrieve(AGENT).owned_by, "glasshouse")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("none-such")

    def test_errors_are_typed(self):
        for model, words, error, code in [
            ("scripted", "refuse 400", openai.BadRequestError, "bad"),
            ("scripted", "refuse 422", openai.UnprocessableEntityError, "unfit"),
            ("scripted", "refuse 429", openai.RateLimitError, "slow"),
            # The caller's own key was good.
            ("scripted", "refuse 401", openai.InternalServerError, "model_unauthorized"),
            ("scripted", "refuse 500", openai.InternalServerError, "model_failed"),
            ("none-such", "Hi", openai.NotFoundError, "model_not_found"),
            (AGENT, " ", openai.BadRequestError, "invalid_request"),
            (AGENT, "refuse 422", openai.UnprocessableEntityError, "model_rejected"),
        ]:
            with self.subTest(model=model, words=words), self.assertRaises(error) as caught:
                self.complete(model, said(words))
            self.assertEqual(caught.exception.code, code)
            self.assertGreater(len(caught.exception.message), 10)

    def test_a_bad_key(self):
        for key in ["gh_not_one_of_ours", "sk-something"]:
            with self.client_with(key) as client, self.assertRaises(openai.AuthenticationError) as caught:
                client.models.list()
            self.assertEqual(caught.exception.type, "authentication_error")

    def test_too_much(self):
        with self.assertRaises(openai.APIStatusError) as caught:
            self.complete("scripted", said("x" * 12_000_000))
        self.assertEqual((caught.exception.status_code, caught.exception.code), (413, "too_large"))

    def test_one_answer_only(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.complete(AGENT, said("Hi"), n=2)
        self.assertEqual(caught.exception.param, "n")
        self.assertIn("one answer", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
