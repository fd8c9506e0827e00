/** The composer: sending immediately or once possible, drafts, `#collections`, completions, files. */
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import type { ListedCollection } from "../../api/knowledge.ts";
import type { Me } from "../../api/me.ts";
import type { Model, Part } from "../../api/types.ts";
import { attachments } from "../../state/attached.svelte.ts";
import { createOpenChat } from "../../state/chat.svelte.ts";
import { completion } from "../../state/completion.svelte.ts";
import { pageContext } from "../../state/context.ts";
import { Models } from "../../state/models.svelte.ts";
import { prefer } from "../../state/preferences.svelte.ts";
import { prefill } from "../../state/prefill.svelte.ts";
import { Session } from "../../state/session.svelte.ts";
import { noContent, ok, serve } from "../../test/server.ts";
import Composer from "./Composer.svelte";
import { textFile } from "./paste.ts";

const model = { id: "m1", name: "Model One", tour: false, listed: { context_tokens: null } } as Model;
const modelList = { models: [model], agents: [], default_model: "m1" };
const collections = ["Handbook", "My handbook", "Prices"].map(
  (name, at) => ({ id: `c${at}`, name, owner: "u1", documents: at + 1 }) as ListedCollection,
);
const answers = {
  "GET /api/v1/workspaces": () => ok({ workspaces: [] }),
  "GET /api/v1/models": () => ok(modelList),
  "GET /api/v1/knowledge": () => ok({ collections, file_bytes: 1000 }),
};

beforeEach(() => {
  attachments.clear();
  completion.stop();
  prefer({ model: null, lastModel: null, completions: true });
});

interface Setting {
  chat?: string | null;
  onsend?: (content: Part[]) => Promise<boolean>;
  me?: Partial<Me>;
  isLoaded?: boolean;
}

function show({ chat = null, onsend = () => Promise.resolve(true), me = {}, isLoaded = true }: Setting = {}) {
  const openChat = createOpenChat();
  openChat.state = chat === null ? "empty" : "ready";
  const models = new Models();
  if (isLoaded) Object.assign(models, { list: [model], defaultId: "m1", loaded: true });
  const session = new Session();
  session.me = me as Me;
  const sent = vi.fn(onsend);
  const shown = render(Composer, {
    props: { chat, onsend: sent },
    context: pageContext({ openChat, models, session }),
  });
  return { user: userEvent.setup(), openChat, models, sent, ...shown };
}

const field = () => screen.getByRole("textbox", { name: "Message" });
const send = () => screen.getByRole("button", { name: "Send" });
const text = (text: string): Part => ({ type: "text", text });

test("Enter sends the trimmed text and empties the field", async () => {
  serve(answers);
  const { user, sent } = show();
  expect(send()).toBeDisabled();
  await user.type(field(), " Hello{Shift>}{Enter}{/Shift}there ");
  expect(sent).not.toHaveBeenCalled();
  await user.keyboard("{Enter}");
  expect(sent).toHaveBeenCalledExactlyOnceWith([text("Hello\nthere")]);
  expect(field()).toHaveValue("");
});

test("the button sends, and blanks alone are nothing to send", async () => {
  serve(answers);
  const { user, sent } = show();
  await user.type(field(), "  ");
  expect(send()).toBeDisabled();
  await user.type(field(), "Hi");
  await user.click(send());
  expect(sent).toHaveBeenCalledExactlyOnceWith([text("Hi")]);
});

test("an Enter that the input method takes does not send", async () => {
  serve(answers);
  const { user, sent } = show();
  await user.type(field(), "nihao");
  await fireEvent.keyDown(field(), { key: "Enter", isComposing: true });
  await fireEvent.keyDown(field(), { key: "Enter", keyCode: 229 });
  expect(sent).not.toHaveBeenCalled();
  expect(field()).toHaveValue("nihao");
});

test("a message that does not go out is put back", async () => {
  serve(answers);
  let finish = (_: boolean) => {};
  const { user } = show({ onsend: () => new Promise((resolve) => (finish = resolve)) });
  await user.type(field(), "Hi{Enter}");
  expect(field()).toHaveValue("");
  finish(false);
  await waitFor(() => expect(field()).toHaveValue("Hi"));
});

test("each chat has its own draft, which outlives the component", async () => {
  serve(answers);
  const first = show({ chat: "a" });
  await first.user.type(field(), "for a");
  await first.rerender({ chat: "b" });
  expect(field()).toHaveValue("");
  await first.user.type(field(), "for b");
  await first.rerender({ chat: "a" });
  expect(field()).toHaveValue("for a");
  first.unmount();
  show({ chat: "b" });
  expect(field()).toHaveValue("for b");
});

test("a message waits for the models and is sent as they come", async () => {
  let arrive = (_: Response) => {};
  serve({ ...answers, "GET /api/v1/models": () => new Promise((resolve) => (arrive = resolve)) });
  const { user, models, sent } = show({ isLoaded: false });
  const loading = models.load();
  await user.type(field(), "Hi{Enter}");
  expect(screen.getByRole("button", { name: /^Sends in a moment/ })).toBeEnabled();
  expect(sent).not.toHaveBeenCalled();
  arrive(ok(modelList));
  await loading;
  await waitFor(() => expect(sent).toHaveBeenCalledExactlyOnceWith([text("Hi")]));
  expect(field()).toHaveValue("");
});

test("a message that waits is held back by the button, or by a change of its text", async () => {
  let arrive = (_: Response) => {};
  serve({ ...answers, "GET /api/v1/models": () => new Promise((resolve) => (arrive = resolve)) });
  const { user, models, sent } = show({ isLoaded: false });
  const loading = models.load();
  await user.type(field(), "Hi{Enter}");
  await user.click(screen.getByRole("button", { name: /^Sends in a moment/ }));
  expect(send()).toBeEnabled();
  await user.type(field(), "{Enter}");
  expect(screen.getByRole("button", { name: /^Sends in a moment/ })).toBeVisible();
  await user.type(field(), "!");
  expect(send()).toBeEnabled();
  arrive(ok(modelList));
  await loading;
  expect(sent).not.toHaveBeenCalled();
  expect(field()).toHaveValue("Hi!");
});

test("while the reader's model is away nothing is sent, and nothing lost", async () => {
  serve(answers);
  prefer({ model: "gone" });
  const { user, sent } = show();
  expect(screen.getByRole("status")).toHaveTextContent(
    "gone is no longer available to you. Choose another model.",
  );
  await user.type(field(), "Hi{Enter}");
  expect(sent).not.toHaveBeenCalled();
  expect(field()).toHaveValue("Hi");
  expect(send()).toBeDisabled();
  await user.click(screen.getByRole("button", { name: "Use Model One" }));
  expect(screen.queryByText(/no longer available/)).toBeNull();
  expect(field()).toHaveFocus();
  expect(sent).not.toHaveBeenCalled();
  await user.keyboard("{Enter}");
  expect(sent).toHaveBeenCalledExactlyOnceWith([text("Hi")]);
});

test("while an answer is written, the button stops it", async () => {
  const requests = serve({ ...answers, "POST /runs/run-1/cancel": noContent });
  const { user, openChat, sent } = show({ chat: "a" });
  openChat.messages = [
    { id: "1", parent: null, role: "assistant", content: [], created_at: 0, run: "run-1" },
  ];
  openChat.current = "1";
  const stop = await screen.findByRole("button", { name: "Stop" });
  expect(screen.queryByRole("button", { name: "Send" })).toBeNull();
  await user.type(field(), "Hi{Enter}");
  expect(sent).not.toHaveBeenCalled();
  await user.click(stop);
  expect(requests.at(-1)?.call).toBe("POST /runs/run-1/cancel");
});

test("a collection is chosen by key where # is typed, and goes along", async () => {
  serve(answers);
  const { user, sent } = show();
  await user.type(field(), "Ask #hand");
  const list = await screen.findByRole("listbox", { name: "Document collections" });
  const names = () => screen.getAllByRole("option").map((one) => one.textContent);
  expect(names()).toEqual([expect.stringContaining("Handbook"), expect.stringContaining("My handbook")]);
  const chosen = () => screen.getByRole("option", { selected: true });
  expect(chosen()).toHaveTextContent(/^Handbook/);
  expect(field()).toHaveAttribute("aria-controls", list.id);
  await user.keyboard("{ArrowDown}");
  expect(chosen()).toHaveTextContent(/^My handbook/);
  expect(field()).toHaveAttribute("aria-activedescendant", chosen().id);

  await user.keyboard("{Enter}");
  expect(sent).not.toHaveBeenCalled();
  expect(field()).toHaveValue("Ask ");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(screen.getByRole("list", { name: "Attachments" })).toHaveTextContent("My handbook");
  await user.keyboard("it{Enter}");
  expect(sent).toHaveBeenCalledExactlyOnceWith([
    text("Ask it"),
    { type: "collection", collection: "c1", name: "My handbook" },
  ]);
  expect(screen.queryByRole("list", { name: "Attachments" })).toBeNull();
});

test("Escape closes the list of collections, and the word stays", async () => {
  serve(answers);
  const { user, sent } = show();
  await user.type(field(), "#pri");
  await screen.findByRole("listbox");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(field()).toHaveValue("#pri");
  await user.keyboard("{Enter}");
  expect(sent).toHaveBeenCalledExactlyOnceWith([text("#pri")]);
});

/** A server that returns a completion. */
function completing(ghost: string) {
  const json = JSON.stringify({ choices: [{ delta: { content: JSON.stringify({ text: ghost }) } }] });
  const stream = () =>
    new Response(`data: ${json}\n\ndata: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  return serve({ ...answers, "POST /api/v1/tasks/auto/completions": stream });
}
const autocomplete = { me: { autocomplete: true, autocomplete_max_length: 200 } };

test("what could follow is taken by word and whole", async () => {
  const requests = completing(" is the capital");
  const { user } = show(autocomplete);
  await user.type(field(), "Which city");
  await screen.findByText("is the capital");
  expect(requests.at(-1)?.body).toMatchObject({ model: "m1", prompt: "Which city" });
  await user.keyboard("{ArrowRight}");
  expect(field()).toHaveValue("Which city is");
  await screen.findByText("the capital");
  await user.keyboard("{Tab}");
  expect(field()).toHaveValue("Which city is the capital");
  expect(field()).toHaveFocus();
});

test("what was typed before the models were loaded is completed, too", async () => {
  const requests = completing(" is the longest");
  const { user, models } = show({ ...autocomplete, isLoaded: false });
  await user.type(field(), "Which river");
  expect(screen.queryByText("is the longest")).toBeNull();
  Object.assign(models, { list: [model], defaultId: "m1", loaded: true });
  await screen.findByText("is the longest");
  const asked = requests.filter(({ call }) => call === "POST /api/v1/tasks/auto/completions");
  expect(asked.map(({ body }) => body)).toMatchObject([{ model: "m1", prompt: "Which river" }]);
});

test("Escape drops what could follow", async () => {
  completing(" is mine");
  const { user } = show(autocomplete);
  await user.type(field(), "What here");
  await screen.findByText("is mine");
  await user.keyboard("{Escape}");
  expect(screen.queryByText("is mine")).toBeNull();
  expect(field()).toHaveValue("What here");
  await user.keyboard("s");
  expect(screen.queryByText("is mine")).toBeNull();
});

test("where nobody completes texts, none is asked for", async () => {
  const requests = completing(" is mine");
  vi.useFakeTimers({ shouldAdvanceTime: true });
  try {
    show();
    await fireEvent.input(field(), { target: { value: "What here is" } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(requests.map(({ call }) => call)).not.toContain("POST /api/v1/tasks/auto/completions");
  } finally {
    vi.useRealTimers();
  }
});

test("a picture goes along and can be taken off", async () => {
  serve(answers);
  const { user, sent, container } = show();
  const chooser = container.querySelector<HTMLInputElement>("input[type=file]");
  if (!chooser) throw new Error("no file chooser");
  const files = ["a.png", "b.png"].map((name) => new File(["x"], name, { type: "image/png" }));
  await user.upload(chooser, files);
  expect(await screen.findByRole("img", { name: "b.png" })).toBeVisible();
  await user.click(screen.getAllByRole("button", { name: "Remove image" })[0] as HTMLElement);
  expect(screen.queryByRole("img", { name: "a.png" })).toBeNull();
  await user.click(send());
  expect(sent).toHaveBeenCalledExactlyOnceWith([{ type: "image", url: "data:image/png;base64,eA==" }]);
  expect(screen.queryByRole("img")).toBeNull();
});

test("words of another part of the page are put above what is typed", async () => {
  serve(answers);
  const { user } = show();
  await user.type(field(), "typed");
  prefill.put("Given");
  await waitFor(() => expect(field()).toHaveValue("Given\ntyped"));
  expect(field()).toHaveFocus();
});

const code = `if (a) {\r\n\treturn "ё";\r\n}\n${"x".repeat(4000)}`;
const chips = () => screen.queryAllByRole("listitem").map((item) => item.querySelector(".name")?.textContent);

test("text of 4,000 characters is pasted as text", async () => {
  serve(answers);
  const { user } = show();
  await user.click(field());
  await user.paste("y".repeat(4000));
  expect(chips()).toEqual([]);
  expect(field()).toHaveValue("y".repeat(4000));
});

test("longer text becomes files with exactly that text, and leaves the draft alone", async () => {
  const added = vi.spyOn(attachments, "addFile").mockResolvedValue(true);
  serve(answers);
  const { user } = show();
  await user.type(field(), "Explain");
  (field() as HTMLTextAreaElement).setSelectionRange(0, 7);
  await user.paste(code);
  const [file, kept] = added.mock.calls[0] ?? [];
  expect(file?.name).toBe("Pasted text.txt");
  expect(await file?.text()).toBe(code);
  expect(kept).toBe(code);
  expect(field()).toHaveValue("Explain");
  added.mockRestore();
});

test("several pasted texts are numbered", () => {
  expect(textFile("a", []).name).toBe("Pasted text.txt");
  expect(textFile("a", ["Pasted text.txt", "Pasted text 3.txt"]).name).toBe("Pasted text 2.txt");
});

const attached = { collection: "at1", document: "d1", isFile: true, sent: 1, problem: "" } as const;

test("a pasted text can be put into the message, at the caret", async () => {
  const requests = serve({ ...answers, "DELETE /api/v1/knowledge/at1": noContent });
  const { user } = show();
  await user.type(field(), "Before after");
  (field() as HTMLTextAreaElement).setSelectionRange(0, 7);
  attachments.putBack([{ ...attached, key: 900, name: "Pasted text.txt", state: "ready", text: "[code] " }]);
  await user.click(await screen.findByRole("button", { name: "Insert as text: Pasted text.txt" }));
  expect(field()).toHaveValue("Before [code] after");
  expect(field()).toHaveFocus();
  expect(chips()).toEqual([]);
  expect(requests.map(({ call }) => call)).toContain("DELETE /api/v1/knowledge/at1");
});

test("other attachments cannot be put into the message", async () => {
  serve(answers);
  show();
  attachments.putBack([{ ...attached, key: 901, name: "a.pdf", state: "ready" }]);
  await screen.findByText("a.pdf");
  expect(screen.queryByRole("button", { name: /as text/ })).toBeNull();
});

test("a pasted text that cannot be attached is pasted after all", async () => {
  const added = vi.spyOn(attachments, "addFile").mockResolvedValue(false);
  serve(answers);
  const { user } = show();
  await user.type(field(), "Explain: ");
  await user.paste("z".repeat(4001));
  await waitFor(() => expect(field()).toHaveValue(`Explain: ${"z".repeat(4001)}`));
  added.mockRestore();
});

test("a quote goes below the draft, with room for what is said about it", async () => {
  serve(answers);
  const { user } = show();
  await user.type(field(), "Is this right?");
  (field() as HTMLTextAreaElement).setSelectionRange(0, 2);
  prefill.append("> one\n> two");
  await waitFor(() => expect(field()).toHaveValue("Is this right?\n\n> one\n> two\n\n"));
  expect(field()).toHaveFocus();
  prefill.append("> three");
  await waitFor(() => expect(field()).toHaveValue("Is this right?\n\n> one\n> two\n\n> three\n\n"));
});

test("a quote is all of an empty draft", async () => {
  serve(answers);
  show();
  prefill.append("> one");
  await waitFor(() => expect(field()).toHaveValue("> one\n\n"));
});
