/** Invitations and who may sign up; knows the links that were created since the page was opened. */
import { SvelteMap } from "svelte/reactivity";
import {
  createInvitation,
  deleteInvitation,
  getSignUp,
  listInvitations,
  putSignUp,
  renewInvitation,
} from "../../../api/calls.ts";
import type { Invitation, SignUpMode, User } from "../../../api/types.ts";
import { attempt, sentenceOf } from "../../../state/toasts.svelte.ts";

/** An invitation with its link, which the server returns only once. */
export interface Created {
  invitation: Invitation;
  link: string;
}

/** An address that could not be invited, and why. */
export interface Failed {
  email: string;
  problem: string;
}

export interface NewInvitations {
  /** Empty for one link that anyone may use. */
  emails: string[];
  uses: number;
  days: number;
  role: User["role"];
  /** Ids of groups. */
  groups: string[];
}

export const isPending = (one: Invitation) => one.uses < one.most_uses && one.expires_at > Date.now();

export class Invitations {
  mode = $state<SignUpMode | null>(null);
  list = $state.raw<Invitation[]>([]);
  /** Links by invitation ID. */
  readonly links = new SvelteMap<string, string>();

  readonly pending = $derived(this.list.filter(isPending));
  readonly past = $derived(this.list.filter((one) => !isPending(one)));

  async load(): Promise<void> {
    const [{ mode }, { invitations }] = await Promise.all([getSignUp(), listInvitations()]);
    [this.mode, this.list] = [mode, invitations];
  }

  async setMode(mode: SignUpMode): Promise<void> {
    try {
      await putSignUp(mode);
    } finally {
      // Also after an error, to show the stored state.
      await this.load();
    }
  }

  /**
   * Creates a link for each address, which replaces one that is pending, or one for anyone; turns sign-up by invitation
   * on if it is closed.
   */
  async create({ emails, uses, ...rest }: NewInvitations): Promise<{ created: Created[]; failed: Failed[] }> {
    const created: Created[] = [];
    const failed: Failed[] = [];
    if (this.mode === null) await this.load();
    if (this.mode === "closed") await putSignUp("invitation");
    if (emails.length === 0) created.push(this.#withLink(await createInvitation({ uses, ...rest })));
    for (const email of emails) {
      try {
        created.push(this.#withLink(await createInvitation({ email, uses: 1, ...rest })));
      } catch (error) {
        failed.push({ email, problem: sentenceOf(error) });
      }
    }
    // The links are shown even if the list cannot be loaded.
    await attempt(() => this.load());
    return { created, failed };
  }

  /** Replaces the link of an invitation, valid as long as the first one was. */
  async renew(one: Invitation): Promise<Created> {
    try {
      return this.#withLink(await renewInvitation(one.id));
    } finally {
      await this.load();
    }
  }

  async revoke(one: Invitation): Promise<void> {
    try {
      await deleteInvitation(one.id);
    } finally {
      await this.load();
    }
  }

  #withLink({ invitation, path }: Awaited<ReturnType<typeof createInvitation>>): Created {
    const link = location.origin + path;
    this.links.set(invitation.id, link);
    return { invitation, link };
  }
}
