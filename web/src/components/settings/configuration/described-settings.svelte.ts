/** The server settings with their descriptions in the page's language; for use in a component. */
import type { ServerSetting } from "../../../api/configuration.ts";
import { language, translations } from "../../../i18n/index.svelte.ts";
import { ServerSettings } from "../../../state/server-settings.svelte.ts";
import { attempt } from "../../../state/toasts.svelte.ts";
import { aboutSetting } from "../configuration.ts";

export class DescribedSettings extends ServerSettings {
  #translated = $state.raw<Readonly<Record<string, string>>>({});

  constructor() {
    super();
    $effect(() => {
      const shown = language();
      void attempt(async () => {
        const loaded = shown === "en" ? {} : (await translations[shown].serverSettings()).serverSettings;
        if (shown === language()) this.#translated = loaded;
      });
    });
  }

  about(setting: ServerSetting): string {
    return aboutSetting(setting, this.#translated);
  }

  /** Only in English: the summary is what is translated. */
  details(setting: ServerSetting): string {
    return language() === "en" ? setting.details : "";
  }
}
