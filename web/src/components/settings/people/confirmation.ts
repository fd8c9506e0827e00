/** What is asked before an account is changed. */
import { changeUser, deleteUser, resetSecondFactor } from "../../../api/calls.ts";
import { removePasskeysOf } from "../../../api/passkeys.ts";
import type { Account } from "../../../api/types.ts";
import { t } from "../../../i18n/index.svelte.ts";
import type { Act } from "./acts.ts";

export type ConfirmedAct = Exclude<Act, "readChats" | "groups" | "reset" | "letIn">;

export interface Confirmation {
  title: string;
  text: string | string[];
  action: () => Promise<unknown>;
}

const confirmations: Record<ConfirmedAct, (person: Account) => Confirmation> = {
  makeAdmin: ({ id, name }) => ({
    title: t("people.makeAdmin"),
    text: [t("people.makeAdminConfirm", { name }), t("people.adminMay")],
    action: () => changeUser(id, { role: "admin" }),
  }),
  makeUser: ({ id, name }) => ({
    title: t("people.makeUser"),
    text: [t("people.makeUserConfirm", { name }), t("people.userMay")],
    action: () => changeUser(id, { role: "user" }),
  }),
  // Users cannot restore their own administrator role.
  giveUp: ({ id }) => ({
    title: t("people.giveUp"),
    text: t("people.giveUpConfirm"),
    action: () => changeUser(id, { role: "user" }),
  }),
  endTwoStep: ({ id, name }) => ({
    title: t("twoStep.end"),
    text: t("twoStep.endOfConfirm", { name }),
    action: () => resetSecondFactor(id),
  }),
  removePasskeys: ({ id, name }) => ({
    title: t("passkeys.removeShort"),
    text: t("passkeys.removeOfConfirm", { name }),
    action: () => removePasskeysOf(id),
  }),
  suspend: ({ id, name }) => ({
    title: t("people.suspend"),
    text: t("people.suspendConfirm", { name }),
    action: () => changeUser(id, { suspended: true }),
  }),
  delete: ({ id, name }) => ({
    title: t("action.delete"),
    text: t("people.deleteConfirm", { name }),
    action: () => deleteUser(id),
  }),
};

export const confirmationOf = (act: ConfirmedAct, person: Account) => confirmations[act](person);
