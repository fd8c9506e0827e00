/** Conversion of form input to parameters; empty fields are not sent. */
import { expect, test } from "vitest";
import type { ModelParameters } from "../api/model-types.ts";
import { anyBad, effortsOf, isAnySet, isBad, parametersOf, setOnes, unset, writtenOf } from "./parameters.ts";

const all: ModelParameters = {
  system_prompt: "Be brief.\n",
  temperature: 0,
  top_p: 0.25,
  max_output_tokens: 500,
  stop: ["\n\n", "C:\\new", " "],
  seed: -7,
  reasoning_effort: "none",
};

test("what is set comes back as it was", () => {
  expect(parametersOf(writtenOf(all))).toEqual(all);
  expect(writtenOf(all).stop).toBe("\\n\\n\nC:\\\\new\n ");
  expect(parametersOf(writtenOf({}))).toEqual(unset);
  expect(setOnes({ ...unset, temperature: 0 })).toEqual({ temperature: 0 });
  expect([isAnySet(unset), isAnySet({ ...unset, temperature: 0 })]).toEqual([false, true]);
});

test.each([
  ["temperature", ["", "0", "2", "0,7", " 1 "], ["-0.1", "2.1", "hot", "1,2,3"]],
  ["top_p", ["0", "1"], ["1.01", "x"]],
  ["max_output_tokens", ["1", "100000000"], ["0", "-1", "1.5", "100000001"]],
  ["seed", ["0", "-5"], ["0.5", "9007199254740993", "x"]],
  ["stop", ["a\nb", "x".repeat(256)], ["x".repeat(257), "я".repeat(129), "a\n".repeat(17)]],
  ["system_prompt", ["я".repeat(25_000)], ["я".repeat(25_001)]],
  ["reasoning_effort", ["", "xhigh"], ["max"]],
] as const)("%s is held to its bounds", (name, good, bad) => {
  const of = (text: string) => ({ ...writtenOf({}), [name]: text });
  for (const text of good) expect(isBad(name, of(text)), text).toBe(false);
  for (const text of bad) expect(anyBad(of(text)), text).toBe(true);
});

test.each([
  [
    ["low", "high"],
    ["none", "low", "high"],
  ],
  [
    ["low", "medium", "high", "max"],
    ["none", "low", "medium", "high", "xhigh"],
  ],
  [
    ["none", "minimal"],
    ["none", "minimal"],
  ],
  [["deep"], ["none", "minimal", "low", "medium", "high", "xhigh"]],
  [[], ["none", "minimal", "low", "medium", "high", "xhigh"]],
])("of the levels %j of a server are offered %j", (listed, offered) => {
  expect(effortsOf(listed)).toEqual(offered);
});
