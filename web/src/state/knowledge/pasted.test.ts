/** Pasted text as a file. */
import { expect, test } from "vitest";
import { named } from "./pasted.ts";

test("it is called by its title, or by its first words", async () => {
  const note = named(" Leave 2026 ", "Five days.");
  expect(note?.name).toBe("Leave 2026.md");
  expect(await note?.file.text()).toBe("Five days.");
  expect(named("", "\n Договор аренды\nот мая")?.name).toBe("Договор аренды от мая.md");
  expect(named("notes.md", "x")?.name).toBe("notes.md");
});

test("whatever is typed is a name that can be kept", () => {
  expect(named("a/b\\c\u0000d", "x")?.name).toBe("a b c d.md");
  expect(named("..", "x")?.name).toBe("text.md");
  expect(new TextEncoder().encode(named("😀".repeat(100), "x")?.name).length).toBeLessThanOrEqual(255);
  expect(named("title", " \n")).toBeNull();
});
