/** File names from titles. */
import { expect, test } from "vitest";
import { fileNameOf } from "./name.ts";

test("a file is called by the words of its title", () => {
  expect(fileNameOf("🌱 How Plants Grow", "chat")).toBe("how-plants-grow");
  expect(fileNameOf("Что такое маяк?", "chat")).toBe("что-такое-маяк");
  expect(fileNameOf("../../etc", "chat")).toBe("etc");
  expect(fileNameOf("🌱", "chat")).toBe("chat");
  expect(fileNameOf("a".repeat(99), "chat")).toHaveLength(60);
});
