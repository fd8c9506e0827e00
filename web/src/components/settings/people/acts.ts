/** What an administrator can do with an account. */
import type { Account } from "../../../api/types.ts";

export type Act =
  | "readChats"
  | "groups"
  | "makeAdmin"
  | "makeUser"
  | "giveUp"
  | "reset"
  | "endTwoStep"
  | "removePasskeys"
  | "letIn"
  | "suspend"
  | "delete";

export interface Viewer {
  /** Whether the account is the administrator's own. */
  isSelf: boolean;
  canReadChats: boolean;
  /** Whether people sign in with passwords. */
  hasPasswords: boolean;
  hasGroups: boolean;
}

/** The actions in the order of the menu. An account is deleted only after it was suspended. */
export function actsOn(person: Account, { isSelf, canReadChats, hasPasswords, hasGroups }: Viewer): Act[] {
  // Nobody locks themselves out; the server keeps the last administrator.
  if (isSelf) return hasGroups ? ["groups", "giveUp"] : ["giveUp"];
  const isSuspended = person.suspended_at !== null;
  const acts: [Act, boolean][] = [
    ["readChats", canReadChats],
    ["groups", hasGroups],
    ["makeAdmin", person.role !== "admin"],
    ["makeUser", person.role === "admin"],
    ["reset", hasPasswords && !isSuspended],
    ["endTwoStep", person.second_factor && !isSuspended],
    ["removePasskeys", person.passkeys && !isSuspended],
    ["letIn", isSuspended],
    ["suspend", !isSuspended],
    ["delete", isSuspended],
  ];
  return acts.filter(([, isOffered]) => isOffered).map(([act]) => act);
}

export const isDangerous = (act: Act) => act === "suspend" || act === "delete";
