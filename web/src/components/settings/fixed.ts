/** Says where a setting that the web app cannot change is set. */
import type { ServerSetting } from "../../api/configuration.ts";
import { t } from "../../i18n/index.svelte.ts";

/** Empty if the web app can change it. */
export function fixedBy({ from, variable }: Pick<ServerSetting, "from" | "variable">): string {
  if (from === "default" || from === "web_app") return "";
  return t(`setting.fixedBy.${from}`, { variable });
}
