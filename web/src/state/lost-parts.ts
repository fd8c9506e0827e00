/** Parts of the app that do not come when they are needed: the program was updated since, or the connection broke. */
import { getMe } from "../api/calls.ts";
import { t } from "../i18n/index.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

const key = "glasshouse.reloaded";
/** What is missing again this soon does not come by loading the page again. */
const soonMs = 60_000;

export function watchLostParts(): void {
  addEventListener("vite:preloadError", () => void mend());
}

/** Loads the page again, which has the parts that there are now; what was written is kept, and runs go on. */
async function mend(): Promise<void> {
  const isSoon = Date.now() - Number(sessionStorage.getItem(key)) < soonMs;
  // Without a server there would be no page at all.
  if (!isSoon && (await answers())) {
    sessionStorage.setItem(key, String(Date.now()));
    location.reload();
    return;
  }
  const run = () => Promise.resolve(location.reload());
  toasts.add(t("error.partLost"), true, { label: t("action.reload"), run }, undefined, true);
}

const answers = () =>
  getMe().then(
    () => true,
    () => false,
  );
