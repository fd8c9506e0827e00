/** Example prompts are added, moved, removed and restored; the page of a new chat has them at once. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import type { ServerSetting } from "../../../api/configuration.ts";
import type { Me } from "../../../api/me.ts";
import { session } from "../../../state/session.svelte.ts";
import { toasts } from "../../../state/toasts.svelte.ts";
import { unsaved } from "../../../state/unsaved.svelte.ts";
import { ok, serve } from "../../../test/server.ts";
import StartPrompts from "../StartPrompts.svelte";

afterEach(() => {
  session.me = null;
});

async function show(value: string[], from: ServerSetting["from"] = "web_app") {
  const configuration = () => {
    const setting = { name: "start_prompts", variable: "GLASSHOUSE_START_PROMPTS", value, from };
    return ok({ settings: [setting], file: "config.toml", file_read: false });
  };
  const me = () => ({ user: { role: "admin" }, start_prompts: value }) as unknown as Me;
  const requests = serve({
    "GET /api/v1/me": () => ok(me()),
    "GET /api/v1/settings": configuration,
    "PATCH /api/v1/settings": (body) => {
      value = (body as { values: { start_prompts: string[] | null } }).values.start_prompts ?? [];
      return configuration();
    },
  });
  session.me = me();
  window.addEventListener("input", unsaved.typed);
  window.addEventListener("submit", unsaved.sent);
  render(StartPrompts);
  await screen.findByRole("form");
  const sent = () => requests.filter(({ call }) => call.startsWith("PATCH")).map(({ body }) => body);
  return { user: userEvent.setup(), sent };
}

const button = (name: string) => screen.getByRole("button", { name });
const prompts = () =>
  screen.getAllByRole<HTMLTextAreaElement>("textbox", { name: "Prompt" }).map((field) => field.value);

test("the first example is added in place of the built-in ones", async () => {
  const { user, sent } = await show([], "default");
  expect(screen.getByText(/show the built-in examples/)).toBeVisible();
  await user.click(button("Add example"));
  expect(screen.getByRole("textbox", { name: "Title (optional)" })).toHaveFocus();
  await user.keyboard("Report");
  expect(button("Save")).toBeEnabled();
  await user.click(button("Save"));
  expect(screen.getByText("Enter the prompt.")).toBeVisible();
  expect(screen.getByRole("textbox", { name: "Prompt" })).toHaveFocus();
  await user.keyboard("Write a report");
  expect(unsaved.hasForm).toBe(true);
  await user.click(button("Save"));
  expect(sent()).toEqual([{ values: { start_prompts: ["Report\nWrite a report"] } }]);
  await expect.poll(() => session.startPrompts).toEqual(["Report\nWrite a report"]);
  expect(unsaved.hasForm).toBe(false);
  expect(button("Save")).toBeDisabled();
});

test("examples are moved, removed and restored, with the focus on what was moved", async () => {
  const { user } = await show(["One", "Two", "Three"]);
  expect(button("Move example 1 up")).toBeDisabled();
  await user.click(button("Move example 1 down"));
  expect(prompts()).toEqual(["Two", "One", "Three"]);
  expect(button("Move example 2 down")).toHaveFocus();
  expect(unsaved.hasForm).toBe(true);
  await user.keyboard("{Enter}");
  expect(prompts()).toEqual(["Two", "Three", "One"]);
  await user.click(button("Remove example 1"));
  expect(prompts()).toEqual(["Three", "One"]);
  expect(button("Remove example 1")).toHaveFocus();
  await toasts.list.find(({ text }) => text === "Example removed")?.action?.run();
  await expect.poll(prompts).toEqual(["Two", "Three", "One"]);
});

test("there are at most six, of a length that the server accepts", async () => {
  const { user } = await show(["1", "2", "3", "4", "5"]);
  await user.click(button("Add example"));
  expect(button("Add example")).toBeDisabled();
  await user.click(screen.getAllByRole("textbox", { name: "Prompt" })[5] as HTMLElement);
  await user.paste("ж".repeat(2001));
  expect(screen.getByText("Use at most 2,000 characters, including the title.")).toBeVisible();
});

test("the built-in examples return, and can be taken back", async () => {
  const { user, sent } = await show(["One"]);
  await user.click(button("Use the built-in examples"));
  expect(await screen.findByText(/show the built-in examples/)).toBeVisible();
  expect(session.startPrompts).toEqual([]);
  await toasts.list.at(-1)?.action?.run();
  expect(sent()).toEqual([{ values: { start_prompts: null } }, { values: { start_prompts: ["One"] } }]);
  await expect.poll(prompts).toEqual(["One"]);
});

test("examples of the configuration are shown with where they are set", async () => {
  await show(["Report\nWrite it"], "file");
  expect(screen.getByText(/^Set in/)).toBeVisible();
  expect(screen.getByRole("textbox", { name: "Prompt" })).toBeDisabled();
  expect(screen.queryByRole("button")).toBeNull();
});
