/** German texts for the configuration page. */
import type { configuration as en } from "../en/configuration.ts";
import type { Entry } from "../index.svelte.ts";

export const configuration: Record<keyof typeof en, Entry> = {
  "settings.configuration": "Konfiguration",
  "configuration.intro":
    "Änderungen gelten sofort, ohne Neustart. Werte aus der Datei {file}, aus Umgebungsvariablen und Kommandozeilen-Flags haben Vorrang und lassen sich nur dort ändern.",
  "configuration.search": "Suchen",
  "configuration.show": "Anzeigen",
  "configuration.show.here": "Hier änderbar",
  "configuration.show.changed": "Vom Standard abweichend",
  "configuration.show.all": "Alle Einstellungen",
  "configuration.none": "Keine passenden Einstellungen",
  "configuration.searchAll": "In allen Einstellungen suchen",
  "configuration.server": "Server",
  "configuration.secret": "(geheim)",
  "configuration.default": "Standard: {value}",
  "configuration.reset": "Auf Standard zurücksetzen",
  "configuration.unsaved": "Nicht gespeichert. Aktueller Wert: {value}",
  "configuration.zero": "0: kein Limit.",
  "configuration.noModel": "Keines",
  "configuration.on": "An",
  "configuration.off": "Aus",
  "configuration.number": "Geben Sie eine Zahl ab 0 ein.",
  "configuration.wholeNumber": "Geben Sie eine ganze Zahl ab 0 ein.",
  "configuration.changeUnder": "Ändern unter „{place}“",
  "configuration.place.start": "Wird beim Start des Servers gelesen",
  "configuration.place.operator": "Nur wer den Server betreibt, kann dies ändern",
  "configuration.from.default": "Standard",
  "configuration.from.web_app": "In der Web-App geändert",
  "configuration.from.file": "Gesetzt in {file}",
  "configuration.from.environment": "Gesetzt durch {variable}",
  "configuration.from.flag": "Gesetzt durch ein Kommandozeilen-Flag",
  "configuration.range": "Geben Sie eine Zahl von {least} bis {most} ein.",
};
