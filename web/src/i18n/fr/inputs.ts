/** French texts for messages to a run that is going. */
import type { inputs as en } from "../en/inputs.ts";
import type { Entry } from "../index.svelte.ts";

export const inputs: Record<keyof typeof en, Entry> = {
  "inputs.label": "Messages en file d’attente",
  "inputs.steer": "Envoi à la prochaine étape",
  "inputs.queue": "Envoi après cette réponse",
  "inputs.interrupt": "Interruption…",
  "inputs.nextTurn": "Envoi dès que possible",
  "inputs.givenUp": "Envoi impossible",
  "inputs.toAgent": "Envoi au sous-agent {agent} à sa prochaine étape",
  "inputs.edit": "Modifier",
  "inputs.remove": "Retirer",
  "inputs.how": "Mode d’envoi",
  "inputs.sendSteer": "Envoyer à la prochaine étape",
  "inputs.sendSteerHint": "L’agent le lit dès que son action en cours est terminée.",
  "inputs.sendQueue": "Envoyer après cette réponse",
  "inputs.sendQueueHint": "Il devient le prochain message du chat.",
  "inputs.sendInterrupt": "Interrompre et envoyer",
  "inputs.sendInterruptHint": "L’étape en cours s’arrête. Le texte déjà rédigé est conservé.",
  "inputs.withFiles": "Envoi avec ses pièces jointes après cette réponse ; appuyez pour annuler",
  "inputs.read": "Envoyé pendant que l’agent travaillait",
  "inputs.readBy": "{name}, pendant que l’agent travaillait",
  "inputs.placeholder": "Ajoutez une précision pendant l’exécution",
  "inputs.messageAgent": "Écrire à ce sous-agent",
  "inputs.messageTo": "Message à {name}",
  "inputs.fromYou": "Vous",
};
