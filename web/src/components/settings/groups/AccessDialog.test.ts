/** The dialog for access to a resource: groups first, then what changes, and nothing before Apply. */
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Group, Permissions } from "../../../api/groups.ts";
import type { Account } from "../../../api/types.ts";
import { toasts } from "../../../state/toasts.svelte.ts";
import { noContent, serve } from "../../../test/server.ts";
import AccessDialog from "./AccessDialog.svelte";

const put = "PUT /api/v1/permissions";
const groups = [
  { id: "g1", name: "Research", members: 1 },
  { id: "g2", name: "Sales", members: 2 },
] as Group[];
const people = ["Bob", "Carol"].map(
  (name, at) =>
    ({ id: name, name, role: "user", suspended_at: null, groups: at === 0 ? ["g1"] : [] }) as unknown,
) as Account[];
const all: Permissions = {
  permissions: [],
  things: { model: ["large", "small"], agent: [], tool: [], workspace: [], right: [] },
};

function show(name: string, permissions = all.permissions) {
  const onchange = vi.fn(() => Promise.resolve());
  const onclose = vi.fn();
  render(AccessDialog, {
    kind: "model",
    name,
    groups,
    people,
    all: { ...all, permissions },
    onchange,
    onclose,
  });
  return { user: userEvent.setup(), onchange, onclose };
}

const apply = () => screen.getByRole("button", { name: "Apply", hidden: true });
const radio = (name: string) => screen.getByRole("radio", { name, hidden: true });
const box = (name: RegExp) => screen.getByRole("checkbox", { name, hidden: true });

test("groups are asked for first, and applied with what they change on Apply only", async () => {
  const requests = serve({ [put]: noContent });
  const { user, onchange, onclose } = show("large");
  expect(radio("Default: Everyone")).toBeChecked();
  expect(apply()).toBeDisabled();
  await user.click(radio("Selected groups"));
  expect(screen.getByText("Choose at least one group.")).toBeVisible();
  expect(apply()).toBeDisabled();
  await user.click(box(/^Research/));
  expect(screen.getByText("1 person loses access")).toBeInTheDocument();
  expect(screen.getByText("Carol")).toBeInTheDocument();
  expect(requests).toEqual([]);
  await user.click(apply());
  const rule = { kind: "model", name: "large", everybody: false, groups: ["g1"] };
  expect(requests).toEqual([{ call: put, body: rule }]);
  expect(onchange).toHaveBeenCalledOnce();
  expect(onclose).toHaveBeenCalledOnce();
  const undo = toasts.list.at(-1)?.action;
  await undo?.run();
  expect(requests.at(-1)?.body).toEqual({ kind: "model", name: "large", everybody: null, groups: [] });
  expect(onchange).toHaveBeenCalledTimes(2);
});

test("a change of the default counts people and models", async () => {
  serve({});
  const { user } = show("*");
  await user.click(radio("Administrators only"));
  expect(screen.getByText("2 people lose access to 2 models")).toBeInTheDocument();
  expect(screen.getByText("large, small")).toBeInTheDocument();
  await user.click(radio("Everyone"));
  expect(screen.queryByText(/lose access/)).toBeNull();
  expect(apply()).toBeDisabled();
});

test("the last group is not taken away without another audience", async () => {
  serve({});
  const { user } = show("large", [{ kind: "model", name: "large", everybody: false, groups: ["g1"] }]);
  expect(radio("Selected groups")).toBeChecked();
  await user.click(box(/^Research/));
  expect(apply()).toBeDisabled();
  await user.click(box(/^Sales/));
  expect(screen.getByText("1 person loses access")).toBeInTheDocument();
  expect(apply()).toBeEnabled();
});
