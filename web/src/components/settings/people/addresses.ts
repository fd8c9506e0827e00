/** Email addresses as pasted from mail programs, spreadsheets and lists. */
import type { Account, Invitation } from "../../../api/types.ts";

/** The server's limit. */
const maxBytes = 254;

export interface Addresses {
  /** To be invited, in order. */
  fresh: string[];
  /** Not email addresses. */
  invalid: string[];
  /** Entered more than once; invited once. */
  repeated: string[];
  /** Have an account already. */
  accounts: string[];
  /** Of the fresh ones, those with a valid invitation. */
  invited: string[];
}

const bracketed = /<([^<>]*)>/g;

/** Splits at commas, semicolons and white space; of `Name <address>` only the address is kept. */
export function splitAddresses(text: string): string[] {
  // Names in quotes may contain commas.
  const parts = text.replace(/"[^"\n]*"/g, " ").split(/[,;،؛\n]/);
  return parts.flatMap((part) => {
    const inside = [...part.matchAll(bracketed)].map(([, address = ""]) => address);
    const words = part.replace(bracketed, " ").split(/\s+/);
    const outside = inside.length > 0 ? words.filter((word) => word.includes("@")) : words;
    return [...outside, ...inside].map((address) => address.trim().replace(/^mailto:/i, "")).filter(Boolean);
  });
}

const keyOf = (address: string) => address.toLowerCase();

function isAddress(address: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(address) && new TextEncoder().encode(address).length <= maxBytes;
}

/** Sorts what was entered into what can be invited, and what cannot or need not. */
export function readAddresses(text: string, people: Account[], pending: Invitation[]): Addresses {
  const known = new Set(people.map(({ email }) => keyOf(email)));
  const invited = new Set(pending.flatMap(({ email }) => (email === null ? [] : [keyOf(email)])));
  const found: Addresses = { fresh: [], invalid: [], repeated: [], accounts: [], invited: [] };
  const seen = new Set<string>();
  for (const address of splitAddresses(text)) {
    const key = keyOf(address);
    if (seen.has(key)) {
      if (!found.repeated.some((other) => keyOf(other) === key)) found.repeated.push(address);
      continue;
    }
    seen.add(key);
    if (!isAddress(address)) found.invalid.push(address);
    else if (known.has(key)) found.accounts.push(address);
    else {
      found.fresh.push(address);
      if (invited.has(key)) found.invited.push(address);
    }
  }
  return found;
}
