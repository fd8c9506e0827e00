/** Form fields by kind of connection. */
import { expect, test } from "vitest";
import { fieldsOf, isComplete, other, presets, writtenSettings, type ConnectionField } from "./providers.ts";

const none: Record<ConnectionField, string> = {
  kind: "",
  base_url: "",
  api_key: "",
  name: "",
  region: "",
  profile: "",
  api_version: "",
  project: "",
  location: "",
};
const preset = (id: string) => presets.find((one) => one.id === id) ?? other;

test("the usual providers want a key and nothing else", () => {
  for (const id of ["openai", "anthropic", "gemini", "openrouter", "deepseek", "mistral", "groq"]) {
    const one = preset(id);
    expect(fieldsOf(one, one.kind).main).toEqual(["api_key"]);
    const filled = { ...none, base_url: one.baseUrl };
    expect(isComplete(one, one.kind, filled)).toBe(false);
    expect(isComplete(one, one.kind, { ...filled, api_key: "k" })).toBe(true);
    expect(one.keyUrl).toMatch(/^https:/);
  }
});

test("each kind is asked for what it needs", () => {
  const bedrock = preset("bedrock");
  expect(fieldsOf(bedrock, "bedrock").main).toEqual(["region", "api_key"]);
  expect(isComplete(bedrock, "bedrock", { ...none, api_key: "k" })).toBe(false);
  expect(isComplete(bedrock, "bedrock", { ...none, region: "eu-central-1" })).toBe(true);
  expect(isComplete(preset("azure"), "azure", { ...none, api_key: "k" })).toBe(false);
  expect(fieldsOf(other, "vertex").main).toEqual([
    "kind",
    "base_url",
    "project",
    "location",
    "api_key",
    "name",
  ]);
  expect(isComplete(other, "openai", none)).toBe(false);
  expect(isComplete(other, "anthropic", none)).toBe(true);
  expect(isComplete(preset("ollama"), "openai", { ...none, base_url: "http://localhost:11434" })).toBe(true);
});

test("settings of another kind are left out", () => {
  const values = { ...none, region: " eu-central-1 ", project: "p" };
  expect(writtenSettings("bedrock", values)).toEqual({ region: "eu-central-1" });
  expect(writtenSettings("openai", values)).toEqual({});
});
