"""The `openai` package, unchanged, with models whose servers speak other formats: Responses from Claude, embeddings from Gemini."""

import unittest

import openai

from programs import Glasshouse, JsonServer

WEATHER = {
    "type": "function",
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
THOUGHT = {"type": "thinking", "thinking": "The weather is asked for.", "signature": "only-anthropic-reads-this"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris"}}
EMBED = "/v1/models/gemini-embedding-001:batchEmbedContents"


def parts(body, kind):
    """All parts of this type in a conversation."""
    contents = [message["content"] for message in body["messages"]]
    listed = [part for content in contents if isinstance(content, list) for part in content]
    return [part for part in listed if part["type"] == kind]


def message(body):
    """Calls a tool first, and answers once its result is there, if the thought came back as it was."""
    if not parts(body, "tool_result"):
        content, reason = [THOUGHT, {"type": "text", "text": "Let me see."}, CALL], "tool_use"
    else:
        words = "Sun." if parts(body, "thinking") == [THOUGHT] else "The thought is gone."
        content, reason = [{"type": "text", "text": words}], "end_turn"
    usage = {"input_tokens": 12, "output_tokens": 4, "cache_read_input_tokens": 8}
    about = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    return {**about, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def embed(body):
    texts = [request["content"]["parts"][0]["text"] for request in body["requests"]]
    return {"embeddings": [{"values": [0.5, len(text)]} for text in texts]}


class Translated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.claude = JsonServer(["claude-x"], {"/v1/messages": message})
        cls.gemini = JsonServer(["gemini-embedding-001"], {EMBED: embed})
        cls.glasshouse = Glasshouse()
        cls.glasshouse.connect("Claude", cls.claude.url, kind="anthropic")
        cls.glasshouse.connect("Gemini", cls.gemini.url, kind="gemini")
        cls.client = openai.OpenAI(base_url=cls.glasshouse.url + "/v1", api_key=cls.glasshouse.key, max_retries=0)

    @classmethod
    def tearDownClass(cls):
        for program in [cls.client, cls.glasshouse, cls.claude, cls.gemini]:
            program.close()

    def test_responses_with_tools_and_thoughts(self):
        asked = {"model": "claude-x", "tools": [WEATHER], "store": False, "include": ["reasoning.encrypted_content"]}
        said = [{"role": "user", "content": "How is the weather in Paris?"}]
        first = self.client.responses.create(**asked, input=said)
        thought, words, call = first.output
        self.assertEqual(thought.summary[0].text, THOUGHT["thinking"])
        self.assertTrue(thought.encrypted_content)
        self.assertEqual((words.content[0].text, call.name, call.arguments), ("Let me see.", "weather", '{"city":"Paris"}'))
        self.assertEqual(first.usage.input_tokens_details.cached_tokens, 8)
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "Sun"}
        with self.client.responses.stream(**asked, input=[*said, *first.output, result]) as stream:
            last = stream.get_final_response()
        self.assertEqual((last.output_text, last.status), ("Sun.", "completed"))

    def test_embeddings(self):
        # Without a format the package asks for base64 and unpacks it.
        for options in [{}, {"encoding_format": "float"}]:
            answer = self.client.embeddings.create(model="gemini-embedding-001", input=["a", "four"], **options)
            self.assertEqual([item.embedding for item in answer.data], [[0.5, 1], [0.5, 4]])
        with self.assertRaisesRegex(openai.BadRequestError, "cannot create embeddings"):
            self.client.embeddings.create(model="claude-x", input="a")

    def test_a_misspelt_model(self):
        with self.assertRaisesRegex(openai.NotFoundError, "Did you mean “claude-x”"):
            self.client.responses.create(model="claude-y", input="Hi")


if __name__ == "__main__":
    unittest.main()
