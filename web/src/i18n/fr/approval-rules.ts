/** French texts for the administrator's approval rules. */
import type { approvalRules as en } from "../en/approval-rules.ts";
import type { Entry } from "../index.svelte.ts";

export const approvalRules: Record<keyof typeof en, Entry> = {
  "approvalRules.title": "Règles d’approbation",
  "approvalRules.intro":
    "Pour tout le monde : les appels d’outils exécutés, soumis à approbation ou refusés. La première règle qui correspond à un appel s’applique ; sinon, le réglage par défaut de l’outil.",
  "approvalRules.none": "Aucune règle. Le réglage par défaut de chaque outil s’applique.",
  "approvalRules.add": "Ajouter une règle",
  "approvalRules.addTitle": "Ajouter une règle d’approbation",
  "approvalRules.editTitle": "Modifier la règle {number}",
  "approvalRules.edit": "Modifier la règle {number}",
  "approvalRules.up": "Déplacer la règle {number} vers le haut",
  "approvalRules.down": "Déplacer la règle {number} vers le bas",
  "approvalRules.remove": "Retirer la règle {number}",
  "approvalRules.moved": "Règle déplacée en position {number} sur {total}.",
  "approvalRules.removed": "Règle retirée",
  "approvalRules.changedElsewhere":
    "Quelqu’un d’autre a modifié les règles entre-temps. Vérifiez-les, puis réessayez.",
  "approvalRules.tool": "Outil",
  "approvalRules.choose": "Choisir un outil…",
  "approvalRules.everyTool": "n’importe quel outil",
  "approvalRules.general": "Plusieurs outils",
  "approvalRules.anyTool": "Tous les outils",
  "approvalRules.allOf": "Tous les outils de {server}",
  "approvalRules.byPattern": "Selon un modèle de nom…",
  "approvalRules.pattern": "Modèle de nom d’outil",
  "approvalRules.patternHint":
    "* remplace n’importe quel texte : *delete* désigne tout outil dont le nom contient « delete ».",
  "approvalRules.conditions": "Seulement si ses arguments correspondent",
  "approvalRules.conditionsHint":
    "Toutes les conditions doivent être remplies. Sans condition, la règle s’applique à tous les appels. * remplace n’importe quel texte.",
  "approvalRules.harmless":
    "Dans les règles qui autorisent, * ne remplace ni saut de ligne, ni opérateur du shell comme ; | & ou $, ni « .. ».",
  "approvalRules.argument": "Argument",
  "approvalRules.value": "Valeur ou modèle",
  "approvalRules.addCondition": "Ajouter une condition",
  "approvalRules.removeCondition": "Retirer la condition {number}",
  "approvalRules.noName": "Saisissez le nom de l’argument.",
  "approvalRules.noPattern": "Saisissez un modèle, comme /site/*.",
  "approvalRules.twice": "Cet argument a déjà une condition.",
  "approvalRules.tooLong": "Ce modèle est trop long.",
  "approvalRules.then": "Effet",
  "approvalRules.allow": "Autoriser",
  "approvalRules.allowHint": "L’appel s’exécute sans demander d’accord.",
  "approvalRules.ask": "Demander",
  "approvalRules.askHint":
    "La personne doit d’abord donner son accord, et peut autoriser durablement de tels appels.",
  "approvalRules.ask_each_time": "Demander à chaque fois",
  "approvalRules.ask_each_timeHint": "La personne doit donner son accord avant chaque appel.",
  "approvalRules.deny": "Refuser",
  "approvalRules.denyHint": "L’appel n’est pas exécuté et le modèle reçoit une erreur.",
  "approvalRules.allowSentence": "Autoriser {tool}",
  "approvalRules.askSentence": "Demander avant {tool}",
  "approvalRules.ask_each_timeSentence": "Demander à chaque fois avant {tool}",
  "approvalRules.denySentence": "Refuser {tool}",
  "approvalRules.when": "{sentence} quand {conditions}",
  "approvalRules.is": "{name} correspond à {pattern}",
  "approvalRules.matches": {
    one: "Correspond à {count} outil connu",
    many: "Correspond à {count} d’outils connus",
    other: "Correspond à {count} outils connus",
  },
  "approvalRules.matchesNone":
    "Ne correspond à aucun outil connu. La règle s’appliquera dès qu’il y en aura un.",
  "approvalRules.never": "Ne s’applique jamais : la règle {number} correspond déjà à tous ces appels.",
};
