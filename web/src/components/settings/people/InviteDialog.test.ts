/** Inviting people: addresses are checked, links are created and shown, and sign-up is turned on if it is closed. */
import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Group } from "../../../api/groups.ts";
import type { Account, Invitation, NewInvitation } from "../../../api/types.ts";
import { prefer } from "../../../state/preferences.svelte.ts";
import { unsaved } from "../../../state/unsaved.svelte.ts";
import { noContent, ok, refused, serve, type Request } from "../../../test/server.ts";
import InvitationList from "./InvitationList.svelte";
import { Invitations } from "./invitations.svelte.ts";
import InviteDialog from "./InviteDialog.svelte";

const dayMs = 24 * 3_600_000;
const people = [{ email: "ada@example.org" }] as Account[];
const groups = [
  { id: "finance", name: "Finance" },
  { id: "sales", name: "Sales" },
] as Group[];
/** What is sent unless something else is chosen. */
const usual = { days: 7, role: "user", groups: [] };

function invitation(id: string, change: Partial<Invitation> = {}): Invitation {
  const created_at = Date.now();
  return {
    id,
    email: null,
    most_uses: 1,
    uses: 0,
    role: "user",
    groups: [],
    created_at,
    expires_at: created_at + 7 * dayMs,
    ...change,
  };
}

/** A server that keeps invitations. */
function serving(mode: string, list: Invitation[] = [], can_send_mail = false) {
  return serve({
    "GET /api/v1/settings/sign-up": () => ok({ mode }),
    "PUT /api/v1/settings/sign-up": (body) => {
      ({ mode } = body as { mode: string });
      return noContent();
    },
    "GET /api/v1/invitations": () => ok({ invitations: list, can_send_mail }),
    "POST /api/v1/invitations": (body) => {
      const { email, uses, days, role, groups, send_mail } = body as Required<NewInvitation>;
      if (email?.startsWith("bad")) return refused(400, "invalid_request", "no such address");
      const made = invitation(`new-${list.length}`, {
        email: email ?? null,
        most_uses: uses ?? 1,
        expires_at: Date.now() + (days ?? 7) * dayMs,
        role: role ?? "user",
        groups,
      });
      list = list.filter((other) => email == null || other.email?.toLowerCase() !== email.toLowerCase());
      list = [made, ...list];
      const message = "The mail was not sent: 550 no such person";
      const mail = { problem: email?.startsWith("refused") ? { message } : null };
      return ok({ invitation: made, path: `/sign-up#${made.id}`, ...(send_mail ? { mail } : {}) });
    },
    "POST /api/v1/invitations/old/link": () =>
      ok({ invitation: list.find(({ id }) => id === "old"), path: "/sign-up#renewed" }),
  });
}

async function show(mode: string, list: Invitation[] = [], canSendMail = false) {
  const requests = serving(mode, list, canSendMail);
  const invitations = new Invitations();
  await invitations.load();
  const onclose = vi.fn();
  render(InviteDialog, { invitations, people, groups, onclose });
  requests.length = 0;
  return { user: userEvent.setup(), requests, invitations, onclose };
}

const field = () => screen.getByRole("textbox", { name: "Email addresses", hidden: true });
const button = (name: string | RegExp) => screen.getByRole("button", { name, hidden: true });
const writes = (requests: Request[]) => requests.filter(({ call }) => !call.startsWith("GET"));

test("each new address gets a link, and what is skipped is named", async () => {
  const { user, requests, invitations } = await show("closed");
  expect(button("Create link")).toBeDisabled();
  expect(screen.getByText(/turns on sign-up by invitation/)).toBeInTheDocument();
  await user.click(field());
  await user.paste("Bob <bob@example.org>, carol@example.org\nADA@example.org; bob@example.org");
  expect(screen.getByText("Already has an account: ADA@example.org")).toBeInTheDocument();
  expect(screen.getByText("Entered more than once: bob@example.org")).toBeInTheDocument();
  await user.click(button("Create 2 links"));
  expect(writes(requests).map(({ call, body }) => [call, body])).toEqual([
    ["PUT /api/v1/settings/sign-up", { mode: "invitation" }],
    ["POST /api/v1/invitations", { ...usual, email: "bob@example.org", uses: 1 }],
    ["POST /api/v1/invitations", { ...usual, email: "carol@example.org", uses: 1 }],
  ]);
  expect(await screen.findByText(`${location.origin}/sign-up#new-0`)).toBeInTheDocument();
  expect(screen.getByText(/Sign-up by invitation is now on/)).toBeInTheDocument();
  expect(button("Copy all")).toBeInTheDocument();
  expect(screen.getByRole("link", { name: "Write an email: bob@example.org", hidden: true })).toHaveAttribute(
    "href",
    expect.stringMatching(/^mailto:bob%40example\.org\?subject=.*sign-up%23new-0/),
  );
  expect(invitations.pending.map(({ email }) => email)).toEqual(["carol@example.org", "bob@example.org"]);
});

test("what is no address is named, and nothing is sent", async () => {
  const { user, requests } = await show("invitation");
  await user.type(field(), "bob@example.org nobody");
  expect(screen.queryByText(/Not an email address/)).toBeNull();
  await user.click(button("Create link"));
  expect(screen.getByText("Not an email address: nobody")).toBeInTheDocument();
  expect(field()).toHaveAttribute("aria-invalid", "true");
  expect(writes(requests)).toEqual([]);
  const event = new Event("beforeunload", { cancelable: true }) as BeforeUnloadEvent;
  unsaved.unload(event);
  expect(event.defaultPrevented).toBe(true);
});

test("a new link replaces that of a pending invitation, and other failures are shown", async () => {
  const { user, requests } = await show("open", [invitation("old", { email: "Bob@example.org" })]);
  await user.click(field());
  await user.paste("bob@example.org bad@example.org");
  expect(
    screen.getByText("Already invited: bob@example.org. The new link replaces the old one."),
  ).toBeInTheDocument();
  await user.click(button("Create 2 links"));
  expect(await screen.findByText(/Couldn’t invite bad@example\.org: no such address/)).toBeInTheDocument();
  expect(button("Copy link")).toBeInTheDocument();
  expect(writes(requests).map(({ call }) => call)).toEqual([
    "POST /api/v1/invitations",
    "POST /api/v1/invitations",
  ]);
});

test("one link for several people", async () => {
  const { user, requests } = await show("invitation");
  await user.click(screen.getByRole("radio", { name: "One shared link", hidden: true }));
  const uses = screen.getByRole("spinbutton", { name: "Max accounts", hidden: true });
  await user.clear(uses);
  await user.type(uses, "25");
  await user.click(button("Create link"));
  expect(writes(requests)).toEqual([{ call: "POST /api/v1/invitations", body: { ...usual, uses: 25 } }]);
  expect(await screen.findByText(/for 25 accounts/)).toBeInTheDocument();
});

test("accounts get the chosen role and groups", async () => {
  const { user, requests } = await show("invitation");
  await user.selectOptions(screen.getByRole("combobox", { name: "Role", hidden: true }), "Administrator");
  expect(screen.getByText(/Administrators also manage/)).toBeInTheDocument();
  await user.click(screen.getByRole("checkbox", { name: "Sales", hidden: true }));
  await user.type(field(), "bob@example.org");
  await user.click(button("Create link"));
  expect(await screen.findByText("Administrator · Groups: Sales")).toBeInTheDocument();
  const body = { ...usual, email: "bob@example.org", uses: 1, role: "admin", groups: ["sales"] };
  expect(writes(requests)).toEqual([{ call: "POST /api/v1/invitations", body }]);
});

test("a shared link for an administrator is good for one account", async () => {
  const { user, requests } = await show("invitation");
  await user.click(screen.getByRole("radio", { name: "One shared link", hidden: true }));
  await user.selectOptions(screen.getByRole("combobox", { name: "Role", hidden: true }), "Administrator");
  expect(screen.queryByRole("spinbutton", { name: "Max accounts", hidden: true })).toBeNull();
  await user.click(button("Create link"));
  const body = { ...usual, uses: 1, role: "admin" };
  expect(writes(requests)).toEqual([{ call: "POST /api/v1/invitations", body }]);
});

test("a pending invitation shows its role and groups, and gets a new link in one request", async () => {
  const old = invitation("old", { email: "bob@example.org", role: "admin", groups: ["finance", "sales"] });
  const requests = serving("closed", [old, invitation("used", { email: "eve@example.org", uses: 1 })]);
  const invitations = new Invitations();
  await invitations.load();
  render(InvitationList, { invitations, groups });
  const user = userEvent.setup();
  expect(screen.getByText("Administrator · Groups: Finance, Sales")).toBeVisible();
  expect(screen.getByText("Sign-up is closed, so these links don’t work now.")).toBeVisible();
  expect(screen.getByText("1 used or expired")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Copy link: bob@example.org" })).toBeNull();
  requests.length = 0;
  await user.click(screen.getByRole("button", { name: "New link: bob@example.org" }));
  await user.click(button("New link"));
  expect(await screen.findByText(`${location.origin}/sign-up#renewed`)).toBeVisible();
  expect(writes(requests)).toEqual([{ call: "POST /api/v1/invitations/old/link", body: undefined }]);
  expect(screen.getByRole("button", { name: "Copy link: bob@example.org" })).toBeVisible();
});

const send = () => screen.getByRole("checkbox", { name: "Send the links by email", hidden: true });

test("links are sent by mail in the page's language, and each address has its result", async () => {
  const { user, requests } = await show("invitation", [], true);
  expect(send()).toBeChecked();
  await user.click(field());
  await user.paste("bob@example.org refused@example.org");
  await user.click(button("Send 2 invitations"));
  expect(await screen.findByText("Email sent")).toBeInTheDocument();
  expect(screen.getByText(/^1 of 2 invitations sent\./)).toBeInTheDocument();
  expect(screen.getByText("The mail was not sent: 550 no such person")).toBeInTheDocument();
  const mail = { send_mail: true, language: "en" };
  expect(writes(requests).map(({ body }) => body)).toEqual([
    { ...usual, email: "bob@example.org", uses: 1, ...mail },
    { ...usual, email: "refused@example.org", uses: 1, ...mail },
  ]);
  expect(screen.getAllByText(/\/sign-up#new-/)).toHaveLength(2);
  expect(screen.queryByRole("link", { name: "Write an email: bob@example.org", hidden: true })).toBeNull();
  expect(
    screen.getByRole("link", { name: "Write an email: refused@example.org", hidden: true }),
  ).toBeInTheDocument();
});

test("whether links are sent is remembered, and is no work to lose", async () => {
  const first = await show("invitation", [], true);
  await first.user.click(send());
  expect(button("Create link")).toBeDisabled();
  await first.user.keyboard("{Escape}");
  expect(first.onclose).toHaveBeenCalledOnce();
  cleanup();
  const { user, requests } = await show("invitation", [], true);
  expect(send()).not.toBeChecked();
  await user.type(field(), "bob@example.org");
  await user.click(button("Create link"));
  expect(writes(requests).map(({ body }) => body)).toEqual([{ ...usual, email: "bob@example.org", uses: 1 }]);
  prefer({ mailsInvitations: true });
});

test("without a mail server, a link leads to its settings and the addresses stay", async () => {
  const first = await show("invitation");
  expect(screen.queryByRole("checkbox", { name: "Send the links by email", hidden: true })).toBeNull();
  await first.user.type(field(), "bob@example.org");
  await first.user.click(screen.getByRole("link", { name: "Set up email", hidden: true }));
  expect(location.pathname).toBe("/settings/mail");
  cleanup();
  const { user } = await show("invitation", [], true);
  expect(field()).toHaveValue("bob@example.org");
  await user.click(button("Send invitation"));
  expect(await screen.findByText(/^Invitation sent\. The link is valid/)).toBeInTheDocument();
  cleanup();
  await show("invitation", [], true);
  expect(field()).toHaveValue("");
});
