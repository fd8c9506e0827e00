/** What the way back from a sign-in provider left in the address to be told. */
import { t } from "../i18n/index.svelte.ts";
import { session } from "./session.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

/** Tells it once: the address is as it was asked for afterwards. */
export function tellSignInNotice(): void {
  const address = new URL(location.href);
  if (address.searchParams.get("notice") !== "groups_kept") return;
  address.searchParams.delete("notice");
  history.replaceState(null, "", address.pathname + address.search + address.hash);
  toasts.add(t("login.groupsKept", { name: session.me?.oidc ?? "" }));
}
