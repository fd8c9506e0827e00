/** A form field: the control of its type, its label, description and error. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { FormField as Field } from "../../../state/form.ts";
import FormField from "./FormField.svelte";

function show(field: Partial<Field>, value: string | string[] = "", problem = "") {
  const onchange = vi.fn<(value: string | string[]) => void>();
  const whole: Field = {
    name: "field",
    label: "City",
    help: "",
    required: true,
    input: "text",
    choices: [],
    min: null,
    max: null,
    default: undefined,
    ...field,
  };
  render(FormField, { field: whole, value, problem, onchange });
  return { user: userEvent.setup(), onchange };
}

const choices = (...names: string[]) => names.map((name) => ({ value: name.toLowerCase(), title: name }));

test("a text has its label, its help and what is wrong", async () => {
  const { user, onchange } = show({ help: "Where you live" }, "", "Fill in this field.");
  const field = screen.getByRole("textbox", { name: "City" });
  expect(field).toBeRequired();
  expect(field).toBeInvalid();
  expect(field).toHaveAccessibleDescription("Where you live Fill in this field.");
  await user.type(field, "B");
  expect(onchange).toHaveBeenCalledWith("B");
});

test("one that may be left out says so and is not invalid", () => {
  show({ required: false });
  const field = screen.getByRole("textbox", { name: /^City\s+optional$/ });
  expect(field).not.toBeRequired();
  expect(field).toBeValid();
  expect(field).not.toHaveAccessibleDescription();
});

test.each([
  ["email", "email", null],
  ["url", "url", null],
  ["date", "date", null],
  ["date_time", "datetime-local", null],
  ["number", "text", "decimal"],
  ["integer", "text", "numeric"],
] as const)("%s has the browser's own input and keyboard", (input, type, mode) => {
  show({ input });
  const field = screen.getByLabelText("City");
  expect(field).toHaveAttribute("type", type);
  expect(field.getAttribute("inputmode")).toBe(mode);
});

test("a long text has several lines", () => {
  show({ input: "long_text" }, "one\ntwo");
  const field = screen.getByRole("textbox", { name: "City" });
  expect(field.tagName).toBe("TEXTAREA");
  expect(field).toHaveValue("one\ntwo");
});

test("yes or no is chosen by mouse and by key", async () => {
  const { user, onchange } = show({ input: "boolean" }, "true");
  expect(screen.getByRole("group", { name: "City" })).toBeVisible();
  expect(screen.getByRole("radio", { name: "Yes" })).toBeChecked();
  expect(screen.queryByRole("radio", { name: "Not specified" })).toBeNull();
  await user.click(screen.getByRole("radio", { name: "No" }));
  expect(onchange).toHaveBeenLastCalledWith("false");
});

test("an optional choice of a few can be left open", async () => {
  const { user, onchange } = show(
    { input: "choice", required: false, choices: choices("Rome", "Oslo") },
    "rome",
  );
  await user.click(screen.getByRole("radio", { name: "Not specified" }));
  expect(onchange).toHaveBeenLastCalledWith("");
});

test("a choice of many folds into a list", async () => {
  const { user, onchange } = show({ input: "choice", choices: choices("A", "B", "C", "D", "E", "F") });
  const list = screen.getByRole("combobox", { name: "City" });
  expect(screen.getByRole("option", { name: "Choose…" })).toBeVisible();
  await user.selectOptions(list, "E");
  expect(onchange).toHaveBeenLastCalledWith("e");
});

test("what is ticked is kept in the order of the form", async () => {
  const { user, onchange } = show({ input: "choices", choices: choices("A", "B", "C") }, ["c"]);
  await user.tab();
  expect(screen.getByRole("checkbox", { name: "A" })).toHaveFocus();
  await user.keyboard(" ");
  expect(onchange).toHaveBeenLastCalledWith(["a", "c"]);
  await user.click(screen.getByRole("checkbox", { name: "C" }));
  expect(onchange).toHaveBeenLastCalledWith([]);
});

test("a group has its help and what is wrong as its description", () => {
  show({ input: "choices", choices: choices("A", "B"), help: "Any of them" }, [], "Choose at least 1.");
  const group = screen.getByRole("group", { name: "City" });
  expect(group).toHaveAccessibleDescription("Any of them Choose at least 1.");
});
