/** Readers of a collection, as shown in its list. */
import type { GroupName, Readers } from "../../api/knowledge.ts";

/** The desired sharing: everyone, groups by ID, and users by ID or email address. */
export interface Wanted {
  open: boolean;
  groups: string[];
  people: string[];
}

export interface ListedGroup extends GroupName {
  /** Whether it is shared with the group. */
  on: boolean;
}

/** Groups it is shared with first, including those the user may not choose, then the others available to the user. */
export function listed({ groups, choice }: Pick<Readers, "groups" | "choice">): ListedGroup[] {
  const others = choice.filter((group) => !groups.some(({ id }) => id === group.id));
  return [
    ...groups.map((group) => ({ ...group, on: true })),
    ...others.map((group) => ({ ...group, on: false })),
  ];
}
