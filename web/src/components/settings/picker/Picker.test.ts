/** The picker: all or selected names, patterns, and names that are not listed. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import Picker from "./Picker.svelte";

const option = (value: string) => ({ value, label: value });
const many = Array.from({ length: 12 }, (_, at) => option(`file_${at}`));
const groups = [
  { name: "files", label: "Files", options: many },
  {
    name: "tickets__",
    label: "tickets",
    options: [option("tickets__open"), option("tickets__close")],
    pattern: "tickets__*",
  },
];

function show(value: string[] | null) {
  render(Picker, { label: "Tools", groups, patterns: true, value });
  return userEvent.setup();
}
const box = (name: RegExp | string) => screen.getByRole("checkbox", { name });
const filter = () => screen.getByRole("textbox", { name: "Tools: filter" });

test("all hides the list; what was selected comes back", async () => {
  const user = show(["file_1"]);
  expect(screen.getByRole("radio", { name: "Selected (1)" })).toBeChecked();
  expect(box("file_1")).toBeChecked();
  await user.click(screen.getByRole("radio", { name: "All" }));
  expect(screen.queryByRole("checkbox")).toBeNull();
  await user.click(screen.getByRole("radio", { name: "Selected" }));
  expect(box("file_1")).toBeChecked();
});

test("a server is one choice, which covers its tools", async () => {
  const user = show([]);
  await user.click(box(/^tickets All of this server/));
  await user.click(screen.getByRole("button", { name: /^Show tickets/ }));
  expect(box("tickets__open")).toBeChecked();
  expect(box("tickets__open")).toBeDisabled();
  expect(screen.getByRole("radio", { name: "Selected (1)" })).toBeChecked();
  await user.click(box(/^tickets All of this server/));
  expect(box("tickets__open")).not.toBeChecked();
  expect(box("tickets__open")).toBeEnabled();
});

test("a name that is not listed is added by Enter, and a pattern covers the listed ones", async () => {
  const user = show([]);
  await user.type(filter(), "telepathy{Enter}");
  expect(box(/telepathy Not available now/)).toBeChecked();
  expect(filter()).toHaveValue("");
  await user.type(filter(), "file_1*");
  await user.click(screen.getByRole("button", { name: "Add “file_1*”" }));
  await user.click(screen.getByRole("button", { name: /^Show Files/ }));
  expect(box("file_11")).toBeChecked();
  expect(box("file_2")).not.toBeChecked();
  // It stays in view, so that it can be taken again.
  await user.click(box(/telepathy/));
  expect(box(/telepathy/)).not.toBeChecked();
});
