/** Model parameters as form input: each a text, empty if unset. */
import { efforts, type ModelParameters, type Parameter, type ReasoningEffort } from "../api/model-types.ts";

export type Written = Record<keyof ModelParameters, string>;

/** The order of the fields. */
export const parameterNames: Parameter[] = [
  "temperature",
  "top_p",
  "max_output_tokens",
  "reasoning_effort",
  "seed",
  "stop",
];

export const unset: ModelParameters = {
  system_prompt: null,
  temperature: null,
  top_p: null,
  max_output_tokens: null,
  stop: null,
  seed: null,
  reasoning_effort: null,
};

/** Reasoning effort levels of a model, from its server's list; all if unknown. `none` is always available. */
export function effortsOf(listed: readonly string[] = []): ReasoningEffort[] {
  // The highest level has two names.
  const has = (effort: ReasoningEffort) =>
    listed.includes(effort) || (effort === "xhigh" && listed.includes("max"));
  if (!efforts.some(has)) return [...efforts];
  return efforts.filter((effort) => effort === "none" || has(effort));
}

const maxPromptBytes = 50_000;
const maxStop = 16;
const maxStopBytes = 256;

const bytes = (text: string) => new TextEncoder().encode(text).length;
/** Many locales use a comma as the decimal separator. */
const numberOf = (text: string) => Number(text.trim().replace(",", "."));

/** One stop sequence per line; a line break within one is written as `\n`. */
const stopOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/\\([n\\])/g, (_, letter) => (letter === "n" ? "\n" : "\\")));
const linesOf = (stop: string[]) =>
  stop.map((text) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")).join("\n");

/** Parameters as form input. */
export function writtenOf(set: Partial<ModelParameters>): Written {
  const text = (value: string | number | null | undefined) => String(value ?? "");
  return {
    system_prompt: text(set.system_prompt),
    temperature: text(set.temperature),
    top_p: text(set.top_p),
    max_output_tokens: text(set.max_output_tokens),
    stop: linesOf(set.stop ?? []),
    seed: text(set.seed),
    reasoning_effort: text(set.reasoning_effort),
  };
}

/** Whether the input is invalid. */
export function isBad(name: keyof ModelParameters, written: Written): boolean {
  const text = written[name];
  if (text.trim() === "") return false;
  const number = numberOf(text);
  switch (name) {
    case "system_prompt":
      return bytes(text) > maxPromptBytes;
    case "temperature":
      return !(number >= 0 && number <= 2);
    case "top_p":
      return !(number >= 0 && number <= 1);
    case "max_output_tokens":
      return !(Number.isSafeInteger(number) && number > 0 && number <= 100_000_000);
    case "seed":
      return !Number.isSafeInteger(number);
    case "stop":
      return stopOf(text).length > maxStop || stopOf(text).some((stop) => bytes(stop) > maxStopBytes);
    case "reasoning_effort":
      return !efforts.includes(text as ReasoningEffort);
  }
}

export const anyBad = (written: Written) =>
  (Object.keys(unset) as (keyof ModelParameters)[]).some((name) => isBad(name, written));

/** Form input as parameters. */
export function parametersOf(written: Written): ModelParameters {
  const number = (text: string) => (text.trim() === "" ? null : numberOf(text));
  const stop = stopOf(written.stop);
  return {
    system_prompt: written.system_prompt.trim() === "" ? null : written.system_prompt,
    temperature: number(written.temperature),
    top_p: number(written.top_p),
    max_output_tokens: number(written.max_output_tokens),
    stop: stop.length === 0 ? null : stop,
    seed: number(written.seed),
    reasoning_effort: written.reasoning_effort === "" ? null : (written.reasoning_effort as ReasoningEffort),
  };
}

/** Only the parameters that are set. */
export function setOnes(parameters: Partial<ModelParameters>): Partial<ModelParameters> {
  return Object.fromEntries(
    Object.entries(parameters).filter(([, value]) => value !== null),
  ) as Partial<ModelParameters>;
}

export const isAnySet = (parameters: Partial<ModelParameters>) => Object.keys(setOnes(parameters)).length > 0;
