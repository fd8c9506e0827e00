/** The approval card: what would run, and each decision. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { ApprovalNode } from "../../state/nodes.ts";
import { closerOf } from "../../state/open-forms.ts";
import { noContent, refused, serve } from "../../test/server.ts";
import ApprovalCard from "./ApprovalCard.svelte";

const path = "POST /runs/run-1/approvals/approval-1";

const node: ApprovalNode = {
  kind: "approval",
  approval: "approval-1",
  call: "call-1",
  name: "write_file",
  arguments: { path: "/notes.md", content: "Hello" },
  agent: null,
  decision: null,
  reason: null,
  edited: false,
  mayRemember: true,
  newAddress: false,
  expiresAt: null,
};

function show(change: Partial<ApprovalNode> = {}, props: { hasChat?: boolean; unanswerable?: string } = {}) {
  render(ApprovalCard, {
    run: "run-1",
    node: { ...node, ...change },
    agentName: "The agent",
    hasChat: true,
    ...props,
  });
  return userEvent.setup();
}

const button = (name: string) => screen.getByRole("button", { name });

test("the call is shown with who asks and its arguments", () => {
  show();
  expect(screen.getByRole("region", { name: "The agent wants to run write_file" })).toBeVisible();
  expect(screen.getByLabelText("Arguments")).toHaveTextContent('"path": "/notes.md"');
});

test("a program is shown as it is, not as JSON", () => {
  show({ name: "run_python", arguments: { code: "print('a')\nprint('b')" } });
  expect(screen.getByLabelText("Arguments").textContent).toBe("print('a')\nprint('b')");
});

test("allow once sends the decision alone, and only once", async () => {
  const requests = serve({ [path]: () => new Promise(() => undefined) });
  const user = show();
  await user.click(button("Allow once"));
  expect(button("Allow once")).toBeDisabled();
  await user.click(button("Allow once"));
  expect(requests).toEqual([{ call: path, body: { decision: "allow" } }]);
});

test("edited arguments are checked while they are typed, then sent", async () => {
  const requests = serve({ [path]: noContent });
  const user = show();
  await user.click(button("Edit"));
  const field = screen.getByRole("textbox", { name: "Arguments as JSON" });
  expect(field).toHaveFocus();

  await user.clear(field);
  await user.type(field, "[[]");
  expect(screen.getByRole("alert")).toHaveTextContent("The arguments must be a JSON object.");
  expect(field).toBeInvalid();
  expect(field).toHaveAccessibleDescription("The arguments must be a JSON object.");
  expect(button("Allow with changes")).toBeDisabled();

  await user.clear(field);
  await user.type(field, '{{"path": "/b.md"}');
  expect(screen.queryByRole("alert")).toBeNull();
  await user.click(button("Allow with changes"));
  expect(requests).toEqual([{ call: path, body: { decision: "allow", arguments: { path: "/b.md" } } }]);
});

test("an edit that is closed is kept, and one that is undone is not", async () => {
  const user = show();
  const textbox = () => screen.getByRole("textbox", { name: "Arguments as JSON" });
  await user.click(button("Edit"));
  await user.clear(textbox());
  await user.type(textbox(), "{{}");
  // Escape, which the page handles for the focused form.
  closerOf(textbox())?.();
  await user.click(await screen.findByRole("button", { name: "Edit" }));
  expect(textbox()).toHaveValue("{}");

  await user.click(button("Undo the changes"));
  await user.click(button("Edit"));
  expect(textbox()).toHaveValue(JSON.stringify(node.arguments, null, 2));
});

test("a denial takes a reason, and Enter sends it", async () => {
  const requests = serve({ [path]: noContent });
  const user = show();
  await user.click(button("Deny…"));
  expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull();
  const reason = screen.getByRole("textbox", { name: "Why not? The agent reads this." });
  expect(reason).toHaveFocus();
  await user.type(reason, " Not there {Enter}");
  expect(requests).toEqual([{ call: path, body: { decision: "deny", reason: "Not there" } }]);
});

test("a denial without a reason names none", async () => {
  const requests = serve({ [path]: noContent });
  const user = show();
  await user.click(button("Deny…"));
  await user.click(button("Deny"));
  expect(requests).toEqual([{ call: path, body: { decision: "deny" } }]);
});

test("calls like this one are allowed in the chat from now on", async () => {
  const requests = serve({ [path]: noContent });
  const user = show();
  await user.click(button("Always…"));
  const pattern = screen.getByRole("textbox", { name: "path" });
  expect(pattern).toHaveValue("/notes.md");
  await user.clear(pattern);
  await user.type(pattern, "/notes/*");
  await user.click(button("Allow from now on"));
  expect(requests).toEqual([
    {
      call: path,
      body: {
        decision: "allow",
        remember: "chat",
        remember_arguments: { path: "/notes/*", content: "Hello" },
      },
    },
  ]);
});

test("every call of the tool is allowed in all chats", async () => {
  const requests = serve({ [path]: noContent });
  const user = show();
  await user.click(button("Always…"));
  await user.click(screen.getByRole("radio", { name: "In all my chats" }));
  await user.click(screen.getByRole("radio", { name: "Every call of write_file" }));
  expect(screen.queryByRole("textbox", { name: "path" })).toBeNull();
  await user.click(button("Allow from now on"));
  expect(requests).toEqual([{ call: path, body: { decision: "allow", remember: "always" } }]);
});

test("outside a chat there is no choice of where, and what cannot be remembered is not offered", async () => {
  const user = show({}, { hasChat: false });
  await user.click(button("Always…"));
  expect(screen.queryByRole("radio", { name: "In this chat" })).toBeNull();
  expect(screen.getByRole("radio", { name: "Every call of write_file" })).toBeVisible();
});

test("what may not be remembered is allowed only once", () => {
  show({ mayRemember: false });
  expect(screen.queryByRole("button", { name: "Always…" })).toBeNull();
  expect(button("Allow once")).toBeEnabled();
});

test("a decision that came too late is told, and another try is possible", async () => {
  serve({ [path]: () => refused(409, "conflict", "decided") });
  const user = show();
  await user.click(button("Allow once"));
  expect(await screen.findByRole("alert")).toHaveTextContent(
    "This was decided elsewhere, or the run has ended.",
  );
  expect(button("Allow once")).toBeEnabled();
});

test("the run can be stopped instead", async () => {
  const requests = serve({ "POST /runs/run-1/cancel": noContent });
  const user = show();
  await user.click(button("Stop run"));
  expect(requests).toEqual([{ call: "POST /runs/run-1/cancel", body: undefined }]);
});

test("one that cannot be answered here says why and has no buttons", () => {
  show({}, { unanswerable: "Only its owner can answer." });
  expect(screen.getByText("Only its owner can answer.")).toBeVisible();
  expect(screen.queryByRole("button")).toBeNull();
});
