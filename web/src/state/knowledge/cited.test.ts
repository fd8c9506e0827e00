/** What a link to a document opens: the current text, the cited one, or an error. */
import { expect, test } from "vitest";
import { ok, refused, serve } from "../../test/server.ts";
import { openDocument } from "./cited.ts";

const address = "/api/v1/knowledge/c/documents/d";
const current = { id: "d", name: "a.md", text: "now", version: 5 };
const earlier = { name: "a.md", text: "then", replaced_at: 1 };
const missing = () => refused(404, "not_found", "There is no such document.");

test("a link without a version opens the document", async () => {
  serve({ [`GET ${address}`]: () => ok(current) });
  expect(await openDocument("c", "d", null)).toEqual({ document: current, copy: null });
});

test("a link to the current version needs no copy", async () => {
  const requests = serve({ [`GET ${address}`]: () => ok(current) });
  expect(await openDocument("c", "d", 5)).toEqual({ document: current, copy: null });
  expect(requests.length).toBe(1);
});

test("a link to an earlier version opens it, also if the document was deleted", async () => {
  const copy = { [`GET ${address}/copy?version=3`]: () => ok(earlier) };
  serve({ [`GET ${address}`]: () => ok(current), ...copy });
  expect(await openDocument("c", "d", 3)).toEqual({ document: current, copy: earlier });
  serve({ [`GET ${address}`]: missing, ...copy });
  expect(await openDocument("c", "d", 3)).toEqual({ document: null, copy: earlier });
});

test("without the earlier version, the document opens, or the error says that it is missing", async () => {
  serve({ [`GET ${address}`]: () => ok(current), [`GET ${address}/copy?version=3`]: missing });
  expect(await openDocument("c", "d", 3)).toEqual({ document: current, copy: null });
  serve({ [`GET ${address}`]: missing, [`GET ${address}/copy?version=3`]: missing });
  await expect(openDocument("c", "d", 3)).rejects.toThrow("There is no such document.");
});

test("another error is not taken for a missing document", async () => {
  serve({ [`GET ${address}`]: () => refused(500, "internal", "Broken.") });
  await expect(openDocument("c", "d", 3)).rejects.toThrow("Broken.");
});
