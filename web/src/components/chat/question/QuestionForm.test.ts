/** A form of an agent: when errors are shown, where the focus goes, what is sent and what is kept. */
import { createRawSnippet } from "svelte";
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { readForm } from "../../../state/form.ts";
import QuestionForm from "./QuestionForm.svelte";

const fields =
  readForm({
    type: "object",
    properties: {
      city: { type: "string", title: "City", maxLength: 5 },
      nights: { type: "integer", title: "Nights", minimum: 1, maximum: 30, default: 2 },
      breakfast: { type: "boolean", title: "Breakfast" },
    },
    required: ["city", "nights"],
  }) ?? [];

function show(props: { busy?: boolean; refused?: { field: string; message: string } } = {}) {
  const onsend = vi.fn<(values: Record<string, unknown>) => void>();
  const all = {
    run: "run-1",
    question: "question-1",
    fields,
    busy: false,
    refused: null,
    submit: "Answer",
    onsend,
    children: createRawSnippet(() => ({ render: () => "<button type='button'>Skip</button>" })),
  };
  const shown = render(QuestionForm, { ...all, ...props });
  return { user: userEvent.setup(), onsend, ...shown };
}

const city = () => screen.getByRole("textbox", { name: "City" });
const nights = () => screen.getByRole("textbox", { name: "Nights" });

test("values have the types of the schema, and what is left open is null", async () => {
  const { user, onsend } = show();
  expect(nights()).toHaveValue("2");
  await user.type(city(), "Rome{Enter}");
  expect(onsend).toHaveBeenCalledExactlyOnceWith({ city: "Rome", nights: 2, breakfast: null });
});

test("faults are shown from the first try to send on, with the focus in the first of them", async () => {
  const { user, onsend } = show();
  await user.clear(nights());
  await user.type(nights(), "31");
  expect(screen.queryByText("From 1 to 30.")).toBeNull();

  await user.click(screen.getByRole("button", { name: "Answer" }));
  expect(city()).toHaveFocus();
  expect(city()).toHaveAccessibleDescription("Fill in this field.");
  expect(nights()).toHaveAccessibleDescription("From 1 to 30.");

  await user.keyboard("London");
  expect(city()).toHaveAccessibleDescription("At most 5 characters.");
  await user.keyboard("{Backspace}");
  expect(city()).toBeValid();
  await user.keyboard("{Enter}");
  expect(nights()).toHaveFocus();
  expect(onsend).not.toHaveBeenCalled();
});

test("what the server refused stands at its field until that is changed", async () => {
  const { user } = show({ refused: { field: "nights", message: "All rooms are taken." } });
  expect(await screen.findByText("All rooms are taken.")).toBeVisible();
  await waitFor(() => expect(nights()).toHaveFocus());
  await user.keyboard("1");
  expect(screen.queryByText("All rooms are taken.")).toBeNull();
});

test("a form that is on its way is not sent again", async () => {
  const { user, onsend } = show({ busy: true });
  expect(screen.getByRole("button", { name: "Answer" })).toBeDisabled();
  await user.type(city(), "Rome{Enter}");
  expect(onsend).not.toHaveBeenCalled();
});

test("what is typed outlives the component", async () => {
  const first = show();
  await first.user.type(city(), "Oslo");
  await first.user.click(screen.getByRole("radio", { name: "Yes" }));
  first.unmount();
  show();
  expect(city()).toHaveValue("Oslo");
  expect(screen.getByRole("radio", { name: "Yes" })).toBeChecked();
});
