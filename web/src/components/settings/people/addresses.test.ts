/** Reading pasted email addresses. */
import { describe, expect, test } from "vitest";
import type { Account, Invitation } from "../../../api/types.ts";
import { readAddresses, splitAddresses } from "./addresses.ts";

describe("pasted text is split into addresses", () => {
  test.each([
    ["a@x.org, b@x.org; c@x.org\nd@x.org\te@x.org f@x.org", ["a", "b", "c", "d", "e", "f"]],
    ["  a@x.org  ", ["a"]],
    ["", []],
    [" ,;\n", []],
    ["Ann Byte <a@x.org>, Bob <b@x.org>", ["a", "b"]],
    ['"Byte, Ann" <a@x.org>; "Bob" <b@x.org>', ["a", "b"]],
    ["c@x.org Ann Byte <a@x.org>", ["c", "a"]],
    ["<mailto:a@x.org>", ["a"]],
  ])("%j", (text, names) => {
    expect(splitAddresses(text)).toEqual(names.map((name) => `${name}@x.org`));
  });
});

test("what cannot be invited is named", () => {
  const people = [{ email: "Ada@example.org" }] as Account[];
  const pending = [{ email: "carol@example.org" }, { email: null }] as Invitation[];
  const text = `bob@example.org ada@example.org, BOB@example.org bob@example.org carol@example.org bob@ @x a@b@c nobody`;
  expect(readAddresses(text, people, pending)).toEqual({
    fresh: ["bob@example.org", "carol@example.org"],
    accounts: ["ada@example.org"],
    repeated: ["BOB@example.org"],
    invited: ["carol@example.org"],
    invalid: ["bob@", "@x", "a@b@c", "nobody"],
  });
  expect(readAddresses(`${"x".repeat(250)}@x.org`, [], []).invalid.length).toBe(1);
});
