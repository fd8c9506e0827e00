/** What an invitation gives to the accounts that are created with it, in words. */
import type { Group } from "../../../api/groups.ts";
import type { Invitation } from "../../../api/types.ts";
import { formatList } from "../../../i18n/format.ts";
import { t } from "../../../i18n/index.svelte.ts";

/** The role, unless it is the usual one, and the groups. */
export function grantsOf({ role, groups }: Invitation, all: Group[]): string {
  const names = all.filter(({ id }) => groups.includes(id)).map(({ name }) => name);
  const facts = [
    role === "admin" && t("people.admin"),
    names.length > 0 && t("people.groups", { names: formatList(names) }),
  ];
  return facts.filter(Boolean).join(" · ");
}
