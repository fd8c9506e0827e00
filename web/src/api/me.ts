/** What the API says of whoever is calling, and of the ways in. */
import type { User } from "./types.ts";

/** Something that people do, and that may be for some only. */
export type Right = "api_keys" | "sharing" | "schedules" | "programs";

export interface Me {
  user: User | null;
  /** What the caller may do of what may be for some only. */
  rights: Right[];
  setup_needed: boolean;
  /** Whether anybody may make an account without an invitation; told to whoever is not signed in. */
  sign_up_open: boolean;
  /** Whether administrators may read everybody's chats. */
  moderation: boolean;
  auth: "password" | "none";
  /** Whether what people write can be completed here. */
  autocomplete: boolean;
  /** The longest text that is completed, in characters; any where negative. */
  autocomplete_max_length: number;
  /** Whether answers can be merged here. */
  merging: boolean;
  /** How often one model is asked for answers side by side, where nobody says. */
  moa_samples: number;
  /** Whether the web can be searched for the caller. */
  web_search: boolean;
  /** What the provider is called that signs people in, if there is one. */
  oidc?: string;
  /** Whether somebody can sign in with a passkey here; told to whoever is not signed in. */
  passkeys: boolean;
  /** The proxy in front, where one signs people in. */
  proxy?: Proxy;
  version: string;
}

/** A proxy in front that signs people in. */
export interface Proxy {
  /** Whether it has signed in whoever is calling. */
  signs_in: boolean;
  /** Why it has not, though it names somebody. */
  problem: string | null;
  /** Where people sign out. */
  sign_out_url: string | null;
}
