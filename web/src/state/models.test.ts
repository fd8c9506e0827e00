// The user's model is never replaced silently.

import { beforeEach, expect, test, vi } from "vitest";
import type { Model } from "../api/types.ts";
import { models } from "./models.svelte.ts";
import { prefer } from "./preferences.svelte.ts";

const answer = vi.hoisted(() => ({
  models: [] as Model[],
  agents: [] as { id: string; name: string }[],
  default_model: null as string | null,
}));
vi.mock("../api/calls.ts", () => ({ listModels: () => Promise.resolve(answer) }));

const model = (id: string, tour = false) =>
  ({ id, name: id, tour, listed: { abilities: id === "embedder" ? { chat: false } : {} } }) as Model;

async function load(ids: string[], usual: string | null, hasTour = true): Promise<void> {
  answer.models = [...ids.map((id) => model(id)), ...(hasTour ? [model("tour", true)] : [])];
  answer.default_model = usual;
  await models.load();
}

beforeEach(() => prefer({ model: null, lastModel: null }));

test("where nobody has chosen, the default answers", async () => {
  await load(["a", "b"], "b");
  expect(models.chosen?.id).toBe("b");
  expect(models.missing).toBeNull();
  await load([], "tour");
  expect(models.chosen?.id).toBe("tour");
});

test("models for something else than chats are not asked for answers", async () => {
  await load(["qwen3:8b", "embedder"], null);
  expect(models.answering.map(({ id }) => id)).toEqual(["qwen3:8b", "tour"]);
});

test("a chosen model that is away stays chosen, and sending is refused", async () => {
  prefer({ model: "a" });
  await load(["b"], "b");
  expect(models.chosen).toBeNull();
  expect(models.missing).toBe("a");
  expect(() => models.require(undefined)).toThrow("a");
  expect(() => models.require("b")).not.toThrow();
  await load(["a", "b"], "b");
  expect(models.chosen?.id).toBe("a");
  expect(() => models.require(undefined)).not.toThrow();
});

test("an agent that is gone is not replaced", async () => {
  prefer({ model: "glasshouse/writer" });
  await load(["b"], "b");
  expect(models.missing).toBe("glasshouse/writer");
  expect(models.nameOf(models.missing)).toBe("writer");
});

test("without a choice, the last model is not replaced either, and the default is offered", async () => {
  await load(["a", "b"], "a");
  models.noteUsed("a");
  await load(["b"], "b");
  expect(models.missing).toBe("a");
  expect(models.chosen).toBeNull();
  expect(models.offered?.id).toBe("b");
  models.acceptOffered();
  expect(models.chosen?.id).toBe("b");
  // The default is still followed.
  await load(["b", "c"], "c");
  expect(models.chosen?.id).toBe("c");
});

test("a chosen model is replaced by the offered one only if the user agrees", async () => {
  prefer({ model: "a" });
  await load(["b"], "b");
  models.acceptOffered();
  expect(models.chosen?.id).toBe("b");
  await load(["b", "c"], "c");
  expect(models.chosen?.id).toBe("b");
});

test("the tour takes the place of no model that was in use, and is not offered", async () => {
  await load(["a"], "a");
  models.noteUsed("a");
  await load([], "tour");
  expect(models.missing).toBe("a");
  expect(models.offered).toBeNull();
});

test("the tour is nobody's model", async () => {
  await load([], "tour");
  models.noteUsed("tour");
  await load([], "tour");
  expect(models.chosen?.id).toBe("tour");
});
