/** The server settings with their descriptions in the page's language, and changes to them; for use in a component. */
import { getConfiguration } from "../../../api/calls.ts";
import { changeSettings } from "../../../api/server-settings.ts";
import type { Configuration, ServerSetting, SettingValue } from "../../../api/configuration.ts";
import { language, translations } from "../../../i18n/index.svelte.ts";
import { session } from "../../../state/session.svelte.ts";
import { attempt } from "../../../state/toasts.svelte.ts";
import { aboutSetting } from "../configuration.ts";

export class ServerSettings {
  read = $state.raw<Configuration | null>(null);
  #translated = $state.raw<Readonly<Record<string, string>>>({});

  constructor() {
    void attempt(async () => (this.read = await getConfiguration()));
    $effect(() => {
      const shown = language();
      void attempt(async () => {
        const loaded = shown === "en" ? {} : (await translations[shown].serverSettings()).serverSettings;
        if (shown === language()) this.#translated = loaded;
      });
    });
  }

  find(name: string): ServerSetting | undefined {
    return this.read?.settings.find((setting) => setting.name === name);
  }

  about(setting: ServerSetting): string {
    return aboutSetting(setting, this.#translated);
  }

  /** Only in English: the summary is what is translated. */
  details(setting: ServerSetting): string {
    return language() === "en" ? setting.details : "";
  }

  /** `null` returns to the default. */
  async change(name: string, value: SettingValue | null): Promise<void> {
    this.read = await changeSettings({ [name]: value });
    // The page shows some of them elsewhere, such as the example prompts.
    void session.load().catch(() => undefined);
  }
}
