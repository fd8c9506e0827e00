/** The settings of the server, and changes to them; for use in a component. */
import { getConfiguration } from "../api/calls.ts";
import type { Configuration, ServerSetting } from "../api/configuration.ts";
import { changeSettings, isFixed, type SettingValues } from "../api/server-settings.ts";
import { t } from "../i18n/index.svelte.ts";
import { session } from "./session.svelte.ts";
import { attempt } from "./toasts.svelte.ts";

export class ServerSettings {
  /** `null` until they are loaded. */
  read = $state.raw<Configuration | null>(null);

  constructor() {
    void attempt(() => this.load());
  }

  async load(): Promise<void> {
    this.read = await getConfiguration();
  }

  get all(): readonly ServerSetting[] {
    return this.read?.settings ?? [];
  }

  find(name: string): ServerSetting | undefined {
    return this.all.find((setting) => setting.name === name);
  }

  async change(values: SettingValues): Promise<void> {
    this.read = await changeSettings(values);
    // Other parts of the page show some of them, such as the example prompts.
    await session.load().catch(() => undefined);
  }

  /** Where the setting is set. */
  sourceOf({ from, variable }: ServerSetting): string {
    return t(`configuration.from.${from}`, { variable, file: this.read?.file ?? "" });
  }

  /** Where the setting is set if the web app cannot change it; otherwise empty. */
  fixedBy(setting: ServerSetting | undefined): string {
    return setting && isFixed(setting) ? this.sourceOf(setting) : "";
  }
}
