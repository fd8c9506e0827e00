/** The approval card: what would run, and each decision. */
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import type { ComponentProps } from "svelte";
import { expect, test } from "vitest";
import type { KnownCall } from "../../state/approval/known-calls.ts";
import type { ApprovalNode } from "../../state/nodes.ts";
import { closerOf } from "../../state/open-forms.ts";
import { noContent, ok, refused, serve, type Request } from "../../test/server.ts";
import ApprovalCard from "./ApprovalCard.svelte";
// The dialog is loaded on demand, which takes its time on a busy machine.
import "./RuleDialog.svelte";

const node: ApprovalNode = {
  kind: "approval",
  approval: "approval-1",
  call: "call-1",
  name: "post",
  arguments: { title: "Hello" },
  agent: null,
  decision: null,
  reason: null,
  edited: false,
  mayRemember: true,
  newAddress: false,
  info: [],
  expiresAt: null,
};

type Options = Partial<ComponentProps<typeof ApprovalCard>>;

function show(change: Partial<ApprovalNode> = {}, options: Options = {}) {
  // Drafts are kept by run and approval; each test has its own.
  run += 1;
  render(ApprovalCard, {
    run: `run-${run}`,
    node: { ...node, ...change },
    agentName: "The agent",
    chat: "chat-1",
    calls: () => [],
    ...options,
  });
  return userEvent.setup();
}

let run = 0;
const path = () => `POST /runs/run-${run}/approvals/approval-1`;
/** The decisions that are sent for the card shown next. */
function decisions(answer: () => Response | Promise<Response> = noContent): Request[] {
  return serve({ [`POST /runs/run-${run + 1}/approvals/approval-1`]: answer });
}
const button = (name: string | RegExp) => screen.getByRole("button", { name });
const field = (name: string) => screen.getByRole("textbox", { name });

/** Opens the menu as the browser does, which the test environment cannot. */
async function openMenu() {
  const menu = screen.getByRole("menu", { hidden: true });
  await fireEvent(menu, Object.assign(new Event("toggle"), { newState: "open" }));
}

async function choose(user: UserEvent, name: RegExp) {
  await openMenu();
  await user.click(screen.getByRole("menuitem", { name }));
}

test("the call is shown in words, with who asks and its arguments by their names", () => {
  show({
    name: "tickets__create_ticket",
    arguments: {
      title: "Login",
      due_date: "Friday",
      labels: ["bug", "ui"],
      place: { pageUrl: "/a" },
      draft: true,
    },
  });
  const card = screen.getByRole("region", {
    name: "Create a ticket in tickets The agent · tickets__create_ticket",
  });
  expect(card).toBeVisible();
  expect(screen.getByText("Due date")).toBeVisible();
  expect(screen.getByText("Friday")).toBeVisible();
  expect(screen.getAllByRole("listitem").map((item) => item.textContent?.trim())).toEqual(["bug", "ui"]);
  expect(screen.getByText("Page URL")).toBeVisible();
  expect(screen.getByText("Yes")).toBeVisible();
});

test("the tool's schema names the arguments, and offers the values that one can have", async () => {
  const asked = decisions();
  const user = show({
    arguments: { title: "Hello", level: "low" },
    info: [
      { name: "title", title: "Title of the post", description: "Shown in the list" },
      { name: "level", choices: ["low", "high"] },
    ],
  });
  expect(screen.getByText("Title of the post")).toHaveAttribute("title", "title: Shown in the list");
  await user.click(button("Edit"));
  await user.selectOptions(screen.getByRole("combobox", { name: "Level" }), "high");
  await user.click(button("Allow with changes"));
  const changed = { title: "Hello", level: "high" };
  expect(asked).toEqual([{ call: path(), body: { decision: "allow", arguments: changed } }]);
});

test("hidden characters and line breaks in a text are shown", () => {
  show({ arguments: { text: "one\ntwo \u202egnp.exe" } });
  expect(screen.getByText(/one/).textContent).toBe("one\ntwo ⟨U+202E⟩gnp.exe");
});

test("a program is shown as it is", () => {
  show({ name: "python", arguments: { code: "print('a')\nprint('b')", restart: true } });
  expect(screen.getByRole("heading", { name: "Run Python" })).toBeVisible();
  expect(screen.getByLabelText("Program").textContent).toBe("print('a')\nprint('b')");
  expect(screen.getByText("Start a new session")).toBeVisible();
});

const files = (path: string, text: string) => ({
  "GET /api/v1/chats/chat-1/files": () =>
    ok({ files: [{ path, size_bytes: text.length, version: 1 }], more: false, deleted: [] }),
  [`GET /api/v1/chats/chat-1/files/content?path=${encodeURIComponent(path)}`]: () => new Response(text),
});
const lines = (kind: string) =>
  [...document.querySelectorAll(`tr.${kind} .line`)].map((line) => line.textContent);

test("an edit is shown as a diff, with the lines around it in the file", async () => {
  serve(files("/report.md", "# Report\n\nDraft\n\nEnd\n"));
  show({
    name: "edit_file",
    arguments: { path: "/report.md", old_text: "Draft", new_text: "Final\nversion", replace_all: false },
  });
  expect(screen.getByRole("heading", { name: "Edit report.md" })).toBeVisible();
  expect(lines("removed")).toEqual(["Draft"]);
  expect(lines("added")).toEqual(["Final", "version"]);
  await waitFor(() => expect(lines("same")).toEqual(["# Report", "", "", "End"]));
  expect(document.querySelector("tr.removed .number")).toHaveTextContent("3");
});

test("an edit that does not fit the file is shown without it", async () => {
  const requests = serve(files("/report.md", "Draft and Draft"));
  show({
    name: "edit_file",
    arguments: { path: "/report.md", old_text: "Draft", new_text: "Final", replace_all: false },
  });
  await waitFor(() => expect(requests).toHaveLength(2));
  expect(lines("removed")).toEqual(["Draft"]);
  expect(document.querySelector("tr .number")).toBeNull();
});

test("a new file is shown with its text, and one that is replaced as a diff", async () => {
  serve(files("/other.md", ""));
  show({ name: "write_file", arguments: { path: "/notes.md", content: "Hello" } });
  expect(screen.getByRole("heading", { name: "Write notes.md" })).toBeVisible();
  expect(await screen.findByText("New file /notes.md")).toBeVisible();
  expect(screen.getByLabelText("Content").textContent).toBe("Hello");
  cleanup();

  serve(files("/notes.md", "Hi\nAda\n"));
  show({ name: "write_file", arguments: { path: "/notes.md", content: "Hello\nAda\n" } });
  expect(await screen.findByText("Replaces the file /notes.md")).toBeVisible();
  expect([lines("removed"), lines("added")]).toEqual([["Hi"], ["Hello"]]);
});

test("arguments that are no object are shown as they are", () => {
  show({ arguments: "broken {" });
  expect(screen.getByLabelText("Arguments", { selector: "pre" }).textContent).toBe("broken {");
});

test("allow once sends the decision alone, and only once", async () => {
  const requests = decisions(() => new Promise<Response>(() => undefined));
  const user = show();
  await user.click(button("Allow once"));
  expect(button("Allow once")).toBeDisabled();
  await user.click(button("Allow once"));
  expect(requests).toEqual([{ call: path(), body: { decision: "allow" } }]);
});

const ticket = { title: "Login", count: 2, draft: false, labels: ["bug"], place: { x: 1 } };

test("each argument is edited in a field of its type", async () => {
  const requests = decisions();
  const user = show({ name: "create_ticket", arguments: ticket });
  await user.click(button("Edit"));
  expect(field("Title")).toHaveFocus();
  await user.clear(field("Title"));
  await user.type(field("Title"), "Log in");
  await user.clear(field("Count"));
  await user.type(field("Count"), "two");
  expect(screen.getByRole("alert")).toHaveTextContent("Enter a number.");
  expect(field("Count")).toBeInvalid();
  expect(button("Allow with changes")).toBeDisabled();
  await user.clear(field("Count"));
  await user.type(field("Count"), "3");
  await user.click(screen.getByRole("checkbox", { name: "Draft" }));
  await user.type(field("Labels One item per line"), "{Enter}ui");
  await user.clear(field("Place JSON"));
  await user.type(field("Place JSON"), "[[1]");
  await user.click(button("Allow with changes"));
  const changed = { title: "Log in", count: 3, draft: true, labels: ["bug", "ui"], place: [1] };
  expect(requests).toEqual([{ call: path(), body: { decision: "allow", arguments: changed } }]);
});

test("arguments can be edited as JSON, and go back into the form", async () => {
  const requests = decisions();
  const user = show({ name: "create_ticket", arguments: ticket });
  await user.click(button("Edit"));
  await user.type(field("Title"), " page");
  await user.click(button("Edit as JSON"));
  const json = field("Arguments as JSON");
  expect(json).toHaveValue(JSON.stringify({ ...ticket, title: "Login page" }, null, 2));
  await user.clear(json);
  await user.type(json, "[[]");
  expect(screen.getByRole("alert")).toHaveTextContent("The arguments must be a JSON object.");
  expect(button("Allow with changes")).toBeDisabled();
  expect(button("Edit as a form")).toBeDisabled();
  await user.clear(json);
  await user.type(json, '{{"more": "b"}');
  await user.click(button("Edit as a form"));
  expect(field("More")).toHaveValue("b");
  await user.click(button("Allow with changes"));
  expect(requests).toEqual([{ call: path(), body: { decision: "allow", arguments: { more: "b" } } }]);
});

test("an edit that is closed is kept, and one that is reset is not", async () => {
  const user = show({ arguments: { title: "a" } });
  await user.click(button("Edit"));
  await user.type(field("Title"), "b");
  // Escape, which the page handles for the focused form.
  closerOf(field("Title"))?.();
  expect(await screen.findByText(/Your changes have not been sent/)).toBeVisible();
  expect(button("Allow without changes")).toBeEnabled();
  await user.click(button("Continue editing"));
  expect(field("Title")).toHaveValue("ab");
  await user.click(button("Reset"));
  expect(button("Allow once")).toBeEnabled();
  await user.click(button("Edit"));
  expect(field("Title")).toHaveValue("a");
  closerOf(field("Title"))?.();
  await waitFor(() => expect(button("Edit")).toHaveFocus());
  expect(screen.queryByText(/have not been sent/)).toBeNull();
});

test("an open edit is open again after the card was away", async () => {
  const user = show({ arguments: { title: "a" } });
  await user.click(button("Edit"));
  await user.type(field("Title"), "b");
  cleanup();
  run -= 1;
  show({ arguments: { title: "a" } });
  expect(field("Title")).toHaveValue("ab");
});

test("a denial takes a reason, and Enter sends it", async () => {
  const requests = decisions();
  const user = show();
  await user.click(button("Deny…"));
  expect(screen.queryByRole("button", { name: "Allow once" })).toBeNull();
  const reason = field("Tell the agent why (optional)");
  expect(reason).toHaveFocus();
  await user.type(reason, " Not there {Enter}");
  expect(requests).toEqual([{ call: path(), body: { decision: "deny", reason: "Not there" } }]);
});

test("a denial without a reason names none", async () => {
  const requests = decisions();
  const user = show();
  await user.click(button("Deny…"));
  await user.click(button("Deny"));
  expect(requests).toEqual([{ call: path(), body: { decision: "deny" } }]);
});

test("every call of the tool is allowed in the chat, or always", async () => {
  const requests = decisions();
  await choose(show(), /^Allow in this chat/);
  expect(requests).toEqual([{ call: path(), body: { decision: "allow", remember: "chat" } }]);
  cleanup();
  const others = decisions();
  await choose(show(), /^Always allow/);
  expect(others).toEqual([{ call: path(), body: { decision: "allow", remember: "always" } }]);
});

test("a custom rule shows which calls it matches", async () => {
  const requests = decisions();
  const calls = (): KnownCall[] => [
    { id: "1", state: "waiting", arguments: { path: "/notes/b.md", title: "b" } },
    { id: "2", state: "earlier", arguments: { path: "/secret.md", title: "c" } },
  ];
  const user = show({ arguments: { path: "/notes/a.md", title: "a*" } }, { calls });
  await choose(user, /^Custom rule/);
  await screen.findByRole("dialog", { name: "Custom rule for post" });
  expect(screen.getByText("Matching calls: 1 of 3")).toBeVisible();
  expect(field("Title")).toHaveValue("a\\*");
  await user.clear(field("Path"));
  await user.type(field("Path"), "/notes/*");
  await user.click(button("Title: Any value"));
  expect(screen.getByText("Matching calls: 2 of 3")).toBeVisible();
  await user.click(button("Allow matching calls"));
  const patterns = { path: "/notes/*", title: "*" };
  expect(requests).toEqual([
    { call: path(), body: { decision: "allow", remember: "chat", remember_arguments: patterns } },
  ]);
});

test("patterns of a rule are kept while its dialog is closed", async () => {
  const user = show({ arguments: { path: "/a", size: 3 } });
  await choose(user, /^Custom rule/);
  await screen.findByRole("dialog");
  await user.type(field("Path"), "*");
  await user.type(field("Size"), "*");
  expect(field("Size")).toHaveAccessibleDescription("Use the exact value, or * alone for any value.");
  expect(button("Allow matching calls")).toBeDisabled();
  await user.click(button("Cancel"));
  await choose(user, /^Custom rule/);
  expect(field("Path")).toHaveValue("/a*");
});

test("outside a chat nothing is allowed for a chat, and what cannot be remembered is not offered", async () => {
  show({}, { chat: null });
  await openMenu();
  const names = screen.getAllByRole("menuitem").map((item) => item.textContent?.trim());
  expect(names[0]).toMatch(/^Always allow/);
  cleanup();
  show({ mayRemember: false });
  expect(screen.queryByRole("button", { name: "More ways to allow" })).toBeNull();
  expect(button("Allow once")).toBeEnabled();
});

test("a decision that came too late is told, and another try is possible", async () => {
  decisions(() => refused(409, "conflict", "decided"));
  const user = show();
  await user.click(button("Allow once"));
  expect(await screen.findByRole("alert")).toHaveTextContent(
    "Already decided elsewhere, or the run has ended.",
  );
  expect(button("Allow once")).toBeEnabled();
});

test("the run can be stopped instead, where nothing else can stop it", async () => {
  const user = show({}, { canStop: true });
  const requests = serve({ [`POST /runs/run-${run}/cancel`]: noContent });
  await user.click(button("Stop run"));
  expect(requests).toEqual([{ call: `POST /runs/run-${run}/cancel`, body: undefined }]);
});

test("one that cannot be answered here says why and has no buttons but to fold it", async () => {
  const user = show({}, { unanswerable: "Only its owner can answer." });
  expect(screen.getByText("Only its owner can answer.")).toBeVisible();
  expect(screen.getAllByRole("button")).toEqual([button("Hide details")]);
  await user.click(button("Hide details"));
  expect(button("Show details")).toHaveAttribute("aria-expanded", "false");
});

test("the date of expiry has no year if it is this one", () => {
  const expiresAt = new Date(new Date().getFullYear(), 11, 3, 10, 47).getTime();
  show({ expiresAt });
  expect(screen.getByText(/Expires Dec 3, 10:47/)).toBeVisible();
});
