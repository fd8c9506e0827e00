/** German texts for the configuration page. */
import type { configuration as en } from "../en/configuration.ts";
import type { Entry } from "../index.svelte.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Konfiguration",
  "configuration.intro":
    "Einstellungen, mit denen dieser Server gestartet wurde. Um eine zu ändern, bearbeiten Sie {file} oder setzen Sie die zugehörige Umgebungsvariable, und starten Sie den Server neu.",
  "configuration.introNoFile":
    "Einstellungen, mit denen dieser Server gestartet wurde. Um eine zu ändern, erstellen Sie die Datei {file} oder setzen Sie die zugehörige Umgebungsvariable, und starten Sie den Server neu.",
  "configuration.search": "Suchen",
  "configuration.onlySet": "Nur geänderte Einstellungen",
  "configuration.none": "Keine passenden Einstellungen",
  "configuration.server": "Server",
  "configuration.secret": "(geheim)",
  "configuration.default": "Standard: {value}",
  "configuration.from.default": "Standard",
  "configuration.from.file": "Aus der Datei",
  "configuration.from.environment": "Aus der Umgebung",
  "configuration.from.flag": "Aus einem Kommandozeilen-Flag",
};
