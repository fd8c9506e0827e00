/** `@ag-ui/client` 1.0.0 and 0.0.59, unchanged, against the real program. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import * as current from "@ag-ui/client";
import * as old from "@ag-ui/client-0x";

import { startWithModel } from "../node/glasshouse.mjs";
import { CASES, DOT, PAINT } from "./scripts.mjs";

let glasshouse;
before(async () => {
  glasshouse = await startWithModel(CASES);
});
after(() => glasshouse?.stop());

let threads = 0;

/** A conversation with everything that came of it. */
class Talk {
  constructor({ HttpAgent }, agent = "scripted", query = "") {
    this.events = [];
    this.agent = new HttpAgent({
      url: `${glasshouse.url}/ag-ui/${agent}${query}`,
      headers: { Authorization: `Bearer ${glasshouse.key}` },
      threadId: `thread-${++threads}`,
    });
  }

  say(content) {
    this.agent.addMessage({ id: `u${this.agent.messages.length}-${threads}`, role: "user", content });
    return this.run();
  }

  async run(parameters = {}) {
    this.events = [];
    const failures = [];
    await this.agent.runAgent(parameters, {
      onEvent: ({ event }) => void this.events.push(event),
      onRunFailed: ({ error }) => void failures.push(error),
    });
    assert.deepEqual(failures, []);
    return this;
  }

  of(type) {
    return this.events.filter((event) => event.type === type);
  }

  get end() {
    return this.events.at(-1);
  }

  get interrupts() {
    assert.equal(this.end.outcome?.type, "interrupt", JSON.stringify(this.end));
    return this.end.outcome.interrupts;
  }

  texts(role = "assistant") {
    return this.agent.messages.filter((m) => m.role === role && !m.subagentRunId && m.content).map((m) => m.content);
  }
}

const resolved = (interrupt, payload) => ({ resume: [{ interruptId: interrupt.id, status: "resolved", payload }] });

for (const [name, client] of Object.entries({ "1.0.0": current, "0.0.59": old })) {
  const isOld = client === old;

  describe(`@ag-ui/client ${name}`, { concurrency: 4 }, () => {
    test("text and reasoning, as they are written", async () => {
      const talk = await new Talk(client).say("Say hello");
      assert.deepEqual(talk.texts(), ["Hello **there**, ёж 🦔."]);
      assert.deepEqual(talk.texts("reasoning"), ["A greeting."]);
      assert.ok(talk.of("TEXT_MESSAGE_CONTENT").length > 1, "streamed");
      assert.equal(talk.of("RUN_STARTED")[0].protocolVersion, "1.0");
      assert.equal(talk.end.usage?.[0].totalTokens, isOld ? undefined : 160);
      await talk.say("Say hello again");
      assert.equal(talk.texts().length, 2);
    });

    test("our tools, with arguments, failures and shared state", async () => {
      const talk = new Talk(client);
      talk.agent.setState({ theme: "dark" });
      await talk.say("Use tools");
      const results = talk.agent.messages.filter((m) => m.role === "tool").map((m) => m.content);
      assert.equal(results.length, 4);
      assert.ok(results.some((result) => result.startsWith("Error: There is no file /nowhere.md")));
      const [first] = talk.agent.messages.filter((m) => m.toolCalls);
      assert.equal(first.content, "I look.");
      assert.deepEqual(first.toolCalls.map((call) => call.function.name), ["write_todos", "write_file"]);
      assert.equal(JSON.parse(first.toolCalls[1].function.arguments).content, "Hello.");
      assert.deepEqual(talk.agent.state.todos, [{ content: "Write", status: "completed" }]);
      assert.equal(talk.agent.state.files["/notes/a~b.md"].version, 1);
      assert.equal(talk.agent.state.theme, "dark");
      // Each result stands behind its call, as model servers want it in the next turn.
      await talk.say("Say hello");
      assert.equal(talk.end.type, "RUN_FINISHED");
    });

    test("a tool of the page", async () => {
      const talk = await new Talk(client).say("Paint it");
      assert.equal(talk.end.type, "RUN_FINISHED", "the page does not offer the tool, so the agent goes on");
      const page = new Talk(client);
      page.agent.addMessage({ id: "u", role: "user", content: "Paint it" });
      await page.run({ tools: [PAINT] });
      const message = page.agent.messages.at(-1);
      assert.deepEqual(JSON.parse(message.toolCalls[0].function.arguments), { colour: "red" });
      const pending = page.end.outcome?.pendingToolCallIds;
      assert.deepEqual(pending, isOld ? undefined : [message.toolCalls[0].id]);
      page.agent.addMessage({ id: "r", role: "tool", toolCallId: message.toolCalls[0].id, content: "painted" });
      await page.run({ tools: [PAINT] });
      assert.deepEqual(page.texts(), ["I paint.", "It is red."]);
    });

    test("a question interrupts, and its answer goes on", async () => {
      const talk = await new Talk(client).say("Ask me");
      const [question] = talk.interrupts;
      assert.equal(question.reason, "input_required");
      assert.equal(question.message, "Which?");
      await assert.rejects(talk.run(), "the client itself wants an answer first");
      await talk.run(resolved(question, { answer: "b" }));
      const results = talk.agent.messages.filter((m) => m.role === "tool");
      assert.equal(results.filter((m) => m.toolCallId === question.toolCallId)[0].content, "b");
      assert.equal(results.length, 2);
      assert.deepEqual(talk.texts(), ["Thank you."]);
    });

    test("sub-agents, one of which asks", async () => {
      const alone = await new Talk(client).say("Delegate alone");
      assert.deepEqual(alone.texts(), ["All done."]);
      assert.equal(alone.of("SUBAGENT_FINISHED").length, isOld ? 0 : 2);
      const talk = await new Talk(client).say("Delegate and ask");
      const [question] = talk.interrupts;
      assert.ok(question.subagentRunId);
      await talk.run(resolved(question, "yes"));
      // The first may still have been at work when the second asked.
      while (talk.end.outcome?.type === "interrupt") await talk.run(resolved(talk.interrupts[0], "yes"));
      assert.deepEqual(talk.texts(), ["All done."]);
      const own = talk.agent.messages.filter((m) => m.subagentRunId && m.content && m.role === "assistant");
      assert.deepEqual(own.map((m) => m.content).sort(), ["One is done.", "Two is done."]);
      const twice = await talk.say("Say hello");
      assert.equal(twice.end.type, "RUN_FINISHED");
    });

    test("an approval with edited arguments", { timeout: 120_000 }, async () => {
      const talk = await new Talk(client, "tour").say("Show me around");
      const [approval] = talk.interrupts;
      assert.equal(approval.reason, "tool_call");
      const before = talk.agent.messages.length;
      const editedArgs = { ...approval.metadata.arguments, new_text: "Edited in the page." };
      await talk.run(resolved(approval, { approved: true, editedArgs }));
      assert.ok(talk.agent.messages.length > before);
      const calls = talk.agent.messages.flatMap((m) => m.toolCalls ?? []).filter((c) => c.id === approval.toolCallId);
      assert.equal(calls.length, 1);
      assert.doesNotThrow(() => JSON.parse(calls[0].function.arguments), "the arguments are there once");
      assert.equal(talk.end.outcome, undefined);
    });

    test("pictures and what cannot be used", async () => {
      const source = { type: "data", value: DOT, mimeType: "image/png" };
      const talk = await new Talk(client).say([
        { type: "text", text: "What is in the picture?" },
        { type: "image", source },
        { type: "document", source: { type: "data", value: "AAAA", mimeType: "application/pdf" } },
      ]);
      assert.deepEqual(talk.texts(), ["A dot."]);
    });

    test("a failing model server is an error with what was written", async () => {
      const talk = new Talk(client);
      await talk.say("Break down").catch(() => {});
      assert.equal(talk.end.type, "RUN_ERROR");
      assert.match(talk.end.code, /^model_/);
      assert.deepEqual(talk.texts(), ["Half a sent"]);
    });

    test("abort stops the run", async () => {
      const talk = new Talk(client);
      const running = talk.say("Go slowly").catch(() => {});
      while (talk.of("TEXT_MESSAGE_CONTENT").length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
      talk.agent.abortRun();
      await running;
      const { chats } = await glasshouse.get("/api/v1/chats?query=Go slowly");
      for (let tries = 0; ; tries += 1) {
        const states = (await glasshouse.get("/api/v1/chats?query=Go slowly")).chats.map((chat) => chat.state);
        if (states.every((state) => state === "idle")) break;
        assert.ok(tries < 100, `still ${states} of ${chats.length}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });

    test("bad input is refused", async () => {
      const talk = new Talk(client, "none-such");
      await assert.rejects(talk.say("Say hello"), /404/);
    });
  });
}
