/** The field for tags: how they are added and removed. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import TagField from "./TagField.svelte";

function shown(tags: string[]) {
  const onchange = vi.fn();
  render(TagField, { label: "Tags", tags, suggestions: ["HR", "legal"], onchange });
  const chips = () => screen.queryAllByRole("listitem").map((item) => item.textContent.trim());
  return { onchange, chips, field: screen.getByLabelText("Tags", { selector: "input" }) };
}

test("a comma, Enter and leaving the field add tags, each once", async () => {
  const user = userEvent.setup();
  const { chips, field, onchange } = shown(["HR"]);
  await user.type(field, "legal,");
  expect(chips()).toEqual(["HR", "legal"]);
  await user.type(field, "#to  do{Enter}");
  expect(chips()).toEqual(["HR", "legal", "to do"]);
  await user.type(field, "hr{Enter}");
  expect(chips()).toEqual(["HR", "legal", "to do"]);
  await user.type(field, "last");
  await user.tab();
  expect(chips()).toEqual(["HR", "legal", "to do", "last"]);
  expect(onchange).toHaveBeenCalledTimes(3);
});

test("Backspace in the empty field and the button of a tag remove it", async () => {
  const user = userEvent.setup();
  const { chips, field } = shown(["HR", "legal", "draft"]);
  await user.click(field);
  await user.keyboard("{Backspace}");
  expect(chips()).toEqual(["HR", "legal"]);
  await user.click(screen.getByRole("button", { name: "Remove the tag “HR”" }));
  expect(chips()).toEqual(["legal"]);
  await user.type(field, "x{Backspace}");
  expect(chips()).toEqual(["legal"]);
});
