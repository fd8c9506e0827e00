/** The menu of an account. */
import { expect, test } from "vitest";
import type { Account } from "../../../api/types.ts";
import { actsOn } from "./acts.ts";

const person = { role: "user", suspended_at: null, second_factor: false, passkeys: false } as Account;
const viewer = { isSelf: false, canReadChats: false, hasPasswords: true, hasGroups: false };

test("only what applies is offered, and deletion only after suspension", () => {
  expect(actsOn(person, viewer)).toEqual(["makeAdmin", "reset", "suspend"]);
  expect(actsOn({ ...person, role: "admin", second_factor: true, passkeys: true }, viewer)).toEqual([
    "makeUser",
    "reset",
    "endTwoStep",
    "removePasskeys",
    "suspend",
  ]);
  expect(
    actsOn(
      { ...person, suspended_at: 1, passkeys: true },
      { ...viewer, canReadChats: true, hasGroups: true },
    ),
  ).toEqual(["readChats", "groups", "makeAdmin", "letIn", "delete"]);
});

test("administrators can only give up their own role", () => {
  expect(actsOn({ ...person, role: "admin" }, { ...viewer, isSelf: true })).toEqual(["giveUp"]);
});
