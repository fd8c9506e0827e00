/** Which options of a picker are chosen, by name and by pattern. */
import { expect, test } from "vitest";
import {
  byPattern,
  coverOf,
  exact,
  filtered,
  isChosen,
  stateOf,
  toggled,
  toggledGroup,
  unlisted,
  type OptionGroup,
} from "./options.ts";

const option = (value: string, hint = "") => ({ value, label: value.replaceAll("_", " "), hint });
const files: OptionGroup = { name: "files", label: "Files", options: [option("ls"), option("read_file")] };
const tickets: OptionGroup = {
  name: "tickets__",
  label: "tickets",
  options: [option("tickets__open", "Opens a ticket."), option("tickets__close")],
  pattern: "tickets__*",
};

test("a pattern stands for all names that begin with it, where patterns are possible", () => {
  expect(isChosen(["tickets__*"], "tickets__open", byPattern)).toBe(true);
  expect(isChosen(["tickets__*"], "tickets__open", exact)).toBe(false);
  expect(isChosen(["*"], "ls", byPattern)).toBe(true);
  expect(isChosen(["l"], "ls", byPattern)).toBe(false);
  expect(coverOf(["ls", "l*"], "ls", byPattern)).toBe("l*");
  expect(coverOf(["tickets__*"], "tickets__*", byPattern)).toBeUndefined();
  expect(toggled(toggled(["ls"], "glob"), "ls")).toEqual(["glob"]);
});

test("a group is chosen whole: by its names, or by its pattern", () => {
  expect(stateOf(files, ["ls"], byPattern)).toBe("some");
  expect(toggledGroup(files, ["ls", "task"], byPattern)).toEqual(["task", "ls", "read_file"]);
  expect(stateOf(files, ["ls", "read_file"], byPattern)).toBe("all");
  expect(toggledGroup(files, ["ls", "read_file", "task"], byPattern)).toEqual(["task"]);

  // All names of now are not all of a server: it may get more.
  expect(stateOf(tickets, ["tickets__open", "tickets__close"], byPattern)).toBe("some");
  expect(toggledGroup(tickets, ["ls", "tickets__open"], byPattern)).toEqual(["ls", "tickets__*"]);
  expect(stateOf(tickets, ["tickets__*"], byPattern)).toBe("all");
  expect(toggledGroup(tickets, ["tickets__*"], byPattern)).toEqual([]);
  expect(stateOf({ ...tickets, options: [] }, [], byPattern)).toBe("none");
});

test("the filter looks at names, labels, descriptions and headings", () => {
  const values = (words: string) =>
    filtered([files, tickets], words).map(({ options }) => options.map(({ value }) => value));
  expect(values(" READ f")).toEqual([["read_file"]]);
  expect(values("opens a")).toEqual([["tickets__open"]]);
  expect(values("tickets")).toEqual([["tickets__open", "tickets__close"]]);
  expect(values("")).toHaveLength(2);
  expect(values("telepathy")).toEqual([]);
});

test("names without an option are told apart", () => {
  expect(unlisted([files, tickets], ["ls", "telepathy", "tickets__*", "mem*"])).toEqual([
    "telepathy",
    "mem*",
  ]);
});
