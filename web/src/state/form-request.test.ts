/** A form knows which of its requests is under way, and how the last one ended. */
import { expect, test } from "vitest";
import { ApiError } from "../api/http.ts";
import { FormRequest } from "./form-request.svelte.ts";

test("a request is under way until it ends, and then tells its result", async () => {
  const request = new FormRequest<"test" | "save">();
  const run = request.run("test", async () => ({ isOk: true, text: "Works" }));
  expect([request.current, request.busy]).toEqual(["test", true]);
  await run;
  expect([request.busy, request.result?.text, request.problem]).toEqual([false, "Works", ""]);
  await request.run("save", async () => {});
  expect(request.result).toBeNull();
});

test("a refusal is told with its field", async () => {
  const request = new FormRequest();
  await request.run("save", () => {
    throw new ApiError(400, "invalid_request", "No.", "url");
  });
  expect([request.busy, request.problem, request.result?.field]).toEqual([false, "No.", "url"]);
});
