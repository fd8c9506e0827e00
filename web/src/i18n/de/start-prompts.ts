/** German texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "Beispiel-Prompts",
  "startPrompts.intro": "Alle sehen sie auf der Seite eines neuen Chats, genau wie hier geschrieben.",
  "startPrompts.builtIn":
    "Neue Chats zeigen die mitgelieferten Beispiele, in der Sprache der jeweiligen Person.",
  "startPrompts.of": "Beispiel {number}",
  "startPrompts.title": "Titel (optional)",
  "startPrompts.text": "Prompt",
  "startPrompts.clickHint":
    "Ein Klick sendet einen Prompt. Endet er mit einem Doppelpunkt, kommt er zum Vervollständigen ins Nachrichtenfeld.",
  "startPrompts.add": "Beispiel hinzufügen",
  "startPrompts.up": "Beispiel {number} nach oben verschieben",
  "startPrompts.down": "Beispiel {number} nach unten verschieben",
  "startPrompts.remove": "Beispiel {number} entfernen",
  "startPrompts.removed": "Beispiel entfernt",
  "startPrompts.missing": "Geben Sie den Prompt ein.",
  "startPrompts.tooLong": "Höchstens {limit} Zeichen, einschließlich Titel.",
  "startPrompts.useBuiltIn": "Mitgelieferte Beispiele verwenden",
  "startPrompts.usesBuiltIn": "Neue Chats zeigen die mitgelieferten Beispiele",
};
