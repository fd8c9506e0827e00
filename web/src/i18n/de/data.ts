/** German texts for data export, import and account deletion in the settings. */
import type { Entry } from "../index.svelte.ts";
import type { data as en } from "../en/data.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Export und Import",
  "data.export": "Export",
  "data.exportText":
    "Eine Datei mit all Ihren Daten: Chats mit allen Zweigen und Ausführungsprotokollen, Dateien, Dokumentsammlungen, Erinnerungen, Zeitpläne und Schlüsselnamen. Passwörter und Schlüssel sind nicht enthalten.",
  "data.exportDo": "Meine Daten herunterladen",
  "data.import": "Import",
  "data.importText":
    "Importiert einen Glasshouse-Export oder Chats aus ChatGPT, Claude, Open WebUI oder LibreChat in dieses Konto. Vorhandene Daten bleiben und werden nicht verdoppelt; Zeitpläne werden deaktiviert importiert.",
  "data.importFiles":
    "ChatGPT und Claude: die ZIP-Datei, wie Sie sie erhalten haben. Andere: .json oder .jsonl.",
  "data.choose": "Datei auswählen",
  "data.dropHere": "oder hier ablegen",
  "data.sending": "{name} wird importiert ({size})…",
  "data.made": "Importiert",
  "data.here": "Bereits vorhanden",
  "data.left": "Übersprungen",
  "data.leftMore": { one: "und {count} weiterer Eintrag", other: "und {count} weitere Einträge" },
  "data.nothingNew": "Nichts Neues zu importieren.",
  "data.count.chats": { one: "{count} Chat", other: "{count} Chats" },
  "data.count.messages": { one: "{count} Nachricht", other: "{count} Nachrichten" },
  "data.count.runs": { one: "{count} Ausführung", other: "{count} Ausführungen" },
  "data.count.files": { one: "{count} Datei", other: "{count} Dateien" },
  "data.count.memories": { one: "{count} Erinnerung", other: "{count} Erinnerungen" },
  "data.count.facts": { one: "{count} gelernter Fakt", other: "{count} gelernte Fakten" },
  "data.count.schedules": { one: "{count} Zeitplan", other: "{count} Zeitpläne" },
  "data.count.collections": { one: "{count} Sammlung", other: "{count} Sammlungen" },
  "data.count.sources": { one: "{count} Quelle", other: "{count} Quellen" },
  "data.count.documents": { one: "{count} Dokument", other: "{count} Dokumente" },
  "data.what.chat": "Chat",
  "data.what.message": "Nachricht",
  "data.what.run": "Ausführung",
  "data.what.file": "Datei",
  "data.what.memory": "Erinnerung",
  "data.what.fact": "Gelernter Fakt",
  "data.what.schedule": "Zeitplan",
  "data.what.collection": "Sammlung",
  "data.what.source": "Quelle",
  "data.what.document": "Dokument",
  "data.what.key": "Schlüssel",
  "data.what.agent": "Agent",
  "data.what.line": "Zeile",
  "data.end": "Konto löschen",
  "data.endText": "Löscht Ihr Konto und alles darin endgültig. Exportieren Sie vorher Ihre Daten.",
};
