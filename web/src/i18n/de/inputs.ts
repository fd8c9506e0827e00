/** German texts for messages to a run that is going. */
import type { inputs as en } from "../en/inputs.ts";
import type { Entry } from "../index.svelte.ts";

export const inputs: Record<keyof typeof en, Entry> = {
  "inputs.label": "Wartende Nachrichten",
  "inputs.steer": "Wird beim nächsten Schritt gesendet",
  "inputs.queue": "Wird nach dieser Antwort gesendet",
  "inputs.interrupt": "Wird unterbrochen…",
  "inputs.nextTurn": "Wird so bald wie möglich gesendet",
  "inputs.givenUp": "Konnte nicht gesendet werden",
  "inputs.toAgent": "Geht an Subagent {agent} bei dessen nächstem Schritt",
  "inputs.edit": "Bearbeiten",
  "inputs.remove": "Entfernen",
  "inputs.how": "Sendeoptionen",
  "inputs.sendSteer": "Beim nächsten Schritt senden",
  "inputs.sendSteerHint": "Der Agent liest sie, sobald seine aktuelle Aktion fertig ist.",
  "inputs.sendQueue": "Nach dieser Antwort senden",
  "inputs.sendQueueHint": "Sie wird die nächste Nachricht des Chats.",
  "inputs.sendInterrupt": "Unterbrechen und senden",
  "inputs.sendInterruptHint": "Der aktuelle Schritt wird gestoppt. Bereits Geschriebenes bleibt erhalten.",
  "inputs.withFiles": "Wird nach dieser Antwort mit den Anhängen gesendet; zum Abbrechen drücken",
  "inputs.read": "Gesendet, während der Agent arbeitete",
  "inputs.readBy": "{name}, während der Agent arbeitete",
  "inputs.placeholder": "Ergänzen, während er arbeitet",
  "inputs.messageAgent": "Nachricht an diesen Subagenten",
  "inputs.messageTo": "Nachricht an {name}",
  "inputs.fromYou": "Sie",
};
