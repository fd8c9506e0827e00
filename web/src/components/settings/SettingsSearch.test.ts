/** The search field of the settings: which place the keys choose, and what administrators find in addition. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import type { Me } from "../../api/me.ts";
import { session } from "../../state/session.svelte.ts";
import SettingsSearch from "./SettingsSearch.svelte";

function show(role: "admin" | "user") {
  const user = { id: "user_1", name: "Ada", email: "ada@example.org", role };
  session.me = { user, rights: [], auth: "password" } as unknown as Me;
  const onopen = vi.fn();
  render(SettingsSearch, { query: "", onopen });
  return { user: userEvent.setup(), onopen, field: screen.getByRole<HTMLInputElement>("combobox") };
}

const chosen = () => screen.getByRole("option", { selected: true }).textContent;

afterEach(() => {
  session.me = null;
});

test("the arrow keys go around, and Enter opens what is chosen", async () => {
  const { user, onopen, field } = show("user");
  await user.type(field, "passw");
  expect(chosen()).toContain("Password");
  expect(field).toHaveAttribute("aria-activedescendant", screen.getAllByRole("option")[0]?.id);
  await user.keyboard("{ArrowDown}");
  expect(chosen()).toContain("Current password");
  await user.keyboard("{ArrowUp}{ArrowUp}");
  expect(chosen()).toContain("New password");
  await user.keyboard("{Enter}");
  expect(onopen).toHaveBeenCalledExactlyOnceWith({
    href: "/settings/account#password.new",
    title: "New password",
    path: ["Account and security", "Password"],
  });
});

test("Escape clears it, and typing begins at the first place again", async () => {
  const { user, field } = show("user");
  await user.type(field, "pass");
  await user.keyboard("{ArrowDown}w");
  expect(chosen()).toContain("Password");
  await user.keyboard("{Escape}");
  expect(field).toHaveValue("");
  expect(screen.queryByRole("listbox")).toBeNull();
});

test("where nothing fits, only administrators can go on in the configuration", async () => {
  const { user, onopen, field } = show("user");
  await user.type(field, "nothing like it{Enter}");
  expect(screen.getByRole("status")).toHaveTextContent("No matching settings");
  expect(onopen).not.toHaveBeenCalled();
});

test("administrators search the configuration for the same words", async () => {
  const { user, onopen, field } = show("admin");
  await user.type(field, "a & b{Enter}");
  expect(onopen).toHaveBeenCalledWith(
    expect.objectContaining({ href: "/settings/configuration?q=a%20%26%20b" }),
  );
});
