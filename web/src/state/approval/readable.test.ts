/** Identifiers as words. */
import { expect, test } from "vitest";
import { actionOf, readable, unhidden } from "./readable.ts";

test.each([
  ["due_date", "Due date"],
  ["dueDate", "Due date"],
  ["project-id", "Project ID"],
  ["url", "URL"],
  ["Title", "Title"],
  ["приоритет", "Приоритет"],
  ["__", "__"],
])("%s is read as %s", (identifier, expected) => {
  expect(readable(identifier)).toBe(expected);
});

test.each([
  ["create_ticket", "Create a ticket"],
  ["sendEmail", "Send an email"],
  ["update_user", "Update a user"],
  ["open_pull_request", "Open a pull request"],
  ["add_url", "Add a URL"],
  ["list_issues", "List issues"],
  ["delete_labels", "Delete labels"],
  ["add_content", "Add content"],
  ["search", "Search"],
  ["create", "Create"],
])("%s is the action “%s”", (tool, expected) => {
  expect(actionOf(tool)).toBe(expected);
});

test("hidden characters are shown", () => {
  expect(unhidden("a\tb\nc")).toBe("a\tb\nc");
  expect(unhidden("evil\u202egpj.exe\u0007")).toBe("evil⟨U+202E⟩gpj.exe⟨U+0007⟩");
  expect(unhidden("שלום 👩‍🚀")).toBe("שלום 👩‍🚀");
});
