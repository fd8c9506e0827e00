/** What the calls about groups answer; see docs/reference/api.md. */

export interface Group {
  id: string;
  name: string;
  description: string;
  /** What it is called at the provider that signs people in. */
  provider_name: string | null;
  created_at: number;
  members: number;
}

export type GroupChange = Partial<Pick<Group, "name" | "description" | "provider_name">>;

export interface GroupMember {
  id: string;
  name: string;
  email: string;
  by_hand: boolean;
  by_provider: boolean;
}

export const thingKinds = ["model", "agent", "tool", "workspace", "right"] as const;
export type ThingKind = (typeof thingKinds)[number];

/** For whom a thing is; a name of `*` stands for the rest of its kind. */
export interface Permission {
  kind: ThingKind;
  name: string;
  /** Nothing where a wider rule says so. */
  everybody: boolean | null;
  groups: string[];
}

export interface Permissions {
  permissions: Permission[];
  /** What there is now. */
  things: Record<ThingKind, string[]>;
}
