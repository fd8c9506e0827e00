/** What is said of a source's synchronizations, and the offered intervals. */
import { expect, test } from "vitest";
import type { DocumentSource, Sync } from "../../api/schema.ts";
import { changeWords, intervalChoices, nextWords, syncWords } from "./source-words.ts";

const now = 1_800_000_000_000;
const minutes = (count: number) => count * 60_000;

const sync = (change: Partial<Sync> = {}): Sync => ({
  id: "sync_1",
  source: "src_1",
  state: "done",
  problem: null,
  missing: 0,
  unchanged: 0,
  added: 0,
  updated: 0,
  unlisted: 0,
  deleted: 0,
  failed: 0,
  started_at: now - minutes(6),
  updated_at: now - minutes(5),
  ended_at: now - minutes(5),
  ...change,
});

test.each([
  [{ added: 3, deleted: 1 }, "Synchronized 5 min. ago · 3 new · 1 deleted"],
  [{}, "Synchronized 5 min. ago · no changes"],
  [{ updated: 2, failed: 1 }, "Synchronized 5 min. ago · 2 changed · 1 failed"],
  [{ state: "running", ended_at: null }, "Running: looking for changes"],
  [
    { state: "running", ended_at: null, missing: 28, added: 9, updated: 2, failed: 1 },
    "Running: 12 of 40 documents",
  ],
  [{ state: "waiting", ended_at: null, unlisted: 23 }, "Waiting for you: 23 documents would be deleted"],
  [{ state: "waiting", ended_at: null, unlisted: 1 }, "Waiting for you: 1 document would be deleted"],
  [
    { state: "failed", problem: { message: "The source was not found." } },
    "Failed 5 min. ago: The source was not found.",
  ],
  [{ state: "cancelled" }, "Stopped 5 min. ago"],
  [
    { state: "kept", unlisted: 11, updated: 1 },
    "Nothing deleted: you kept 11 documents that are no longer in the source (5 min. ago) · 1 changed",
  ],
  [{ state: "cancelled", added: 4 }, "Stopped 5 min. ago · 4 new"],
] as [Partial<Sync>, string][])("a synchronization with %j: %s", (change, words) => {
  expect(syncWords(sync(change), now)).toBe(words);
});

test("documents that are only missing or gone from the source have not changed yet", () => {
  expect(changeWords(sync({ missing: 4, unlisted: 2, unchanged: 9 }))).toBe("");
});

test("the next time is said, unless it is synchronized now or by a program", () => {
  const source: DocumentSource = {
    id: "src_1",
    name: "Wiki",
    settings: { from: { kind: "notion" }, include: [], exclude: [] },
    has_secret: true,
    every_minutes: 60,
    next_at: now + minutes(55),
    created_at: now,
    documents: 3,
    latest: sync(),
  };
  expect(nextWords(source, now)).toBe("Next: in 55 min.");
  expect(nextWords({ ...source, next_at: now - minutes(1) }, now)).toBe("Next: now");
  expect(nextWords({ ...source, next_at: null }, now)).toBe("Only by hand");
  expect(nextWords({ ...source, latest: sync({ state: "running" }) }, now)).toBe("");
  expect(nextWords({ ...source, settings: null, next_at: null }, now)).toBe("");
});

test("an interval that was set through the API is offered, too", () => {
  const offered = [15, 60, 360, 1440, 10_080, null];
  expect(intervalChoices(60).map((choice) => choice.minutes)).toEqual(offered);
  expect(intervalChoices(null).map((choice) => choice.minutes)).toEqual(offered);
  expect(intervalChoices(45).map((choice) => choice.minutes)).toEqual([45, ...offered]);
  expect(intervalChoices(45)[0]?.words).toBe("Every 45 min");
});
