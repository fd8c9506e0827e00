/** Notice in the URL after returning from a sign-in provider. */
import { t } from "../i18n/index.svelte.ts";
import { session } from "./session.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

/** Shows it once and removes it from the URL. */
export function tellSignInNotice(): void {
  const address = new URL(location.href);
  if (address.searchParams.get("notice") !== "groups_kept") return;
  address.searchParams.delete("notice");
  history.replaceState(null, "", address.pathname + address.search + address.hash);
  toasts.add(t("login.groupsKept", { name: session.me?.oidc ?? "" }));
}
