/** Lazy components: rendered once the chunk has loaded, with an error and a retry button on failure. */
import { render, screen } from "@testing-library/svelte";
import type { Component, ComponentProps } from "svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { refused, serve } from "../../test/server.ts";
import Field from "./Field.svelte";
import Lazy from "./Lazy.svelte";

const chunk = { default: Field };

function show(load: () => Promise<typeof chunk>) {
  // The type that a template infers from `load`.
  const OfField = Lazy as Component<ComponentProps<typeof Field> & { load: typeof load }>;
  render(OfField, { load, label: "Name", value: "" });
}

test("a status stands in its place until it has come", async () => {
  let arrive = (_: typeof chunk) => {};
  show(() => new Promise((resolve) => (arrive = resolve)));
  expect(screen.getByRole("status")).toHaveTextContent("Loading…");
  arrive(chunk);
  expect(await screen.findByRole("textbox", { name: "Name" })).toBeVisible();
  expect(screen.queryByRole("status")).toBeNull();
});

test("one that fails is told, and is asked for again", async () => {
  // Without a server the page cannot be reloaded.
  serve({ "GET /api/v1/me": () => refused(503, "unavailable", "") });
  const load = vi.fn<() => Promise<typeof chunk>>();
  load.mockRejectedValueOnce(new TypeError("failed to fetch"));
  load.mockRejectedValueOnce(new TypeError("failed to fetch"));
  show(load);
  expect(await screen.findByRole("alert")).toHaveTextContent("Part of the page failed to load.");
  await userEvent.click(screen.getByRole("button", { name: "Retry" }));
  expect(load).toHaveBeenCalledTimes(2);
  expect(await screen.findByRole("button", { name: "Retry" })).toBeVisible();
});

test("the page is loaded anew if the retry fails too: the browser may remember the failure", async () => {
  let isAway = true;
  serve({ "GET /api/v1/me": () => (isAway ? refused(503, "unavailable", "") : Response.json({})) });
  const reload = vi.spyOn(location, "reload").mockImplementation(() => {});
  show(() => Promise.reject(new TypeError("failed to fetch")));
  const retry = await screen.findByRole("button", { name: "Retry" });
  expect(reload).not.toHaveBeenCalled();
  isAway = false;
  await userEvent.click(retry);
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce());
});

test("it is shown once the retry succeeds", async () => {
  serve({ "GET /api/v1/me": () => refused(503, "unavailable", "") });
  const load = vi.fn<() => Promise<typeof chunk>>().mockResolvedValue(chunk);
  load.mockRejectedValueOnce(new TypeError("failed to fetch"));
  show(load);
  await userEvent.click(await screen.findByRole("button", { name: "Retry" }));
  expect(await screen.findByRole("textbox", { name: "Name" })).toBeVisible();
  expect(screen.queryByRole("alert")).toBeNull();
});
