/** Going on after a stop or a limit. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { ChatMessage, Model, RunSummary } from "../../api/types.ts";
import { createOpenChat } from "../../state/chat.svelte.ts";
import { pageContext } from "../../state/context.ts";
import { Models } from "../../state/models.svelte.ts";
import { Session } from "../../state/session.svelte.ts";
import Outcome from "./Outcome.svelte";

const model = { id: "m1", name: "Model One", tour: false } as Model;

function show(outcome: RunSummary["outcome"], { isLast = true, isReader = false } = {}) {
  const openChat = createOpenChat();
  if (isReader) openChat.owner = { name: "Ada", email: "ada@example.org" };
  const send = vi.spyOn(openChat, "send").mockResolvedValue("c1");
  const models = Object.assign(new Models(), { list: [model], defaultId: "m1", loaded: true });
  const summary = { outcome, problem: null } as RunSummary;
  render(Outcome, {
    props: { message: { id: "a" } as ChatMessage, summary, isLast, hasAnswer: true },
    context: pageContext({ openChat, models, session: new Session() }),
  });
  return { user: userEvent.setup(), send };
}

const button = () => screen.queryByRole("button", { name: "Continue" });

test.each(["cancelled", "limited"] as const)(
  "an answer that is %s is continued by a message",
  async (how) => {
    const { user, send } = show(how);
    await user.click(button() as HTMLElement);
    expect(send).toHaveBeenCalledExactlyOnceWith([{ type: "text", text: "Continue." }], "m1");
  },
);

test("only the last answer can be continued, and not by readers", () => {
  show("cancelled", { isLast: false });
  show("cancelled", { isReader: true });
  show("failed");
  show("completed");
  expect(button()).toBeNull();
});
