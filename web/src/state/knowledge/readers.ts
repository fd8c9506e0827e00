/** Who reads a collection, as its list shows it. */
import type { GroupName, Readers } from "../../api/knowledge.ts";

/** Whom a collection is to be shared with: everybody here, groups by id, and people by id or address. */
export interface Wanted {
  open: boolean;
  groups: string[];
  people: string[];
}

export interface ListedGroup extends GroupName {
  /** Whether it is shared with it. */
  on: boolean;
}

/** The groups it is shared with first, also those that the person may not choose, then the others that they may. */
export function listed({ groups, choice }: Pick<Readers, "groups" | "choice">): ListedGroup[] {
  const others = choice.filter((group) => !groups.some(({ id }) => id === group.id));
  return [
    ...groups.map((group) => ({ ...group, on: true })),
    ...others.map((group) => ({ ...group, on: false })),
  ];
}
