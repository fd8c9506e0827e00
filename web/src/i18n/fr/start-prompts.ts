/** French texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "Exemples de prompts",
  "startPrompts.intro": "Tout le monde les voit sur la page d’un nouveau chat, tels qu’ils sont écrits ici.",
  "startPrompts.builtIn":
    "Les nouveaux chats affichent les exemples intégrés, dans la langue de chaque personne.",
  "startPrompts.of": "Exemple {number}",
  "startPrompts.title": "Titre (facultatif)",
  "startPrompts.text": "Prompt",
  "startPrompts.clickHint":
    "Un clic envoie le prompt. S’il se termine par deux-points, il est placé dans la zone de message pour être complété.",
  "startPrompts.add": "Ajouter un exemple",
  "startPrompts.up": "Déplacer l’exemple {number} vers le haut",
  "startPrompts.down": "Déplacer l’exemple {number} vers le bas",
  "startPrompts.remove": "Retirer l’exemple {number}",
  "startPrompts.removed": "Exemple retiré",
  "startPrompts.missing": "Saisissez le prompt.",
  "startPrompts.tooLong": "{limit} caractères au plus, titre compris.",
  "startPrompts.useBuiltIn": "Utiliser les exemples intégrés",
  "startPrompts.usesBuiltIn": "Les nouveaux chats affichent les exemples intégrés",
};
