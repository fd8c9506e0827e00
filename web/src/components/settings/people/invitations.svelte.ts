/** Invitations and who may sign up; knows the links that were created since the page was opened. */
import { SvelteMap } from "svelte/reactivity";
import { urlOf } from "../../../api/base.ts";
import {
  createInvitation,
  deleteInvitation,
  getSignUp,
  listInvitations,
  putSignUp,
  renewInvitation,
} from "../../../api/calls.ts";
import type { Invitation, InvitationWithLink, MailOutcome, SignUpMode, User } from "../../../api/types.ts";
import { attempt, sentenceOf } from "../../../state/toasts.svelte.ts";

/** An invitation with its link, which the server returns only once. */
export interface Created {
  invitation: Invitation;
  link: string;
  /** Whether the link was sent by mail; absent if that was not asked for. */
  mail?: MailOutcome;
}

export const isSent = ({ mail }: Created) => mail?.problem === null;

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
  /** The language of the mails that the links are sent by; absent if they are not sent. */
  mailLanguage?: string | undefined;
}

/** Addresses that were typed before the dialog was left for the mail settings; until they are invited. */
export const left = { addresses: "" };

export const isPending = (one: Invitation) => one.uses < one.most_uses && one.expires_at > Date.now();

export class Invitations {
  mode = $state<SignUpMode | null>(null);
  /** Whether the server can send mail; `null` until it is known. */
  canSendMail = $state<boolean | null>(null);
  list = $state.raw<Invitation[]>([]);
  /** Links by invitation ID. */
  readonly links = new SvelteMap<string, string>();

  readonly pending = $derived(this.list.filter(isPending));
  readonly past = $derived(this.list.filter((one) => !isPending(one)));

  async load(): Promise<void> {
    const [{ mode }, { invitations, can_send_mail }] = await Promise.all([getSignUp(), listInvitations()]);
    [this.mode, this.list, this.canSendMail] = [mode, invitations, can_send_mail];
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
   * on if it is closed. Calls `onnext` before each address with its index, and stops if it returns `false`.
   */
  async create(
    { emails, uses, mailLanguage, ...rest }: NewInvitations,
    onnext: (at: number) => boolean = () => true,
  ): Promise<{ created: Created[]; failed: Failed[] }> {
    const created: Created[] = [];
    const failed: Failed[] = [];
    if (this.mode === null) await this.load();
    if (this.mode === "closed") await putSignUp("invitation");
    if (emails.length === 0) created.push(this.#withLink(await createInvitation({ uses, ...rest })));
    const mail = mailLanguage === undefined ? {} : { send_mail: true, language: mailLanguage };
    for (const [at, email] of emails.entries()) {
      if (!onnext(at)) break;
      try {
        created.push(this.#withLink(await createInvitation({ email, uses: 1, ...rest, ...mail })));
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

  #withLink({ invitation, path, mail }: InvitationWithLink): Created {
    const link = urlOf(path);
    this.links.set(invitation.id, link);
    return mail ? { invitation, link, mail } : { invitation, link };
  }
}
