/** French texts for the pipelines: small model calls around a chat. */
import type { pipelines as en } from "../en/pipelines.ts";
import type { Entry } from "../index.svelte.ts";

export const pipelines: Record<keyof typeof en, Entry> = {
  "settings.pipelines": "Tâches du modèle",
  "pipelines.intro":
    "Titres, tags, suggestions et autres petits appels à un modèle autour d’un chat. Seules les requêtes de recherche retardent une réponse, de quelques secondes au plus. Les totaux portent sur la dernière semaine.",
  "pipelines.taskModel": "Modèle de tâches",
  "pipelines.taskModelHint": "Utilisé dans les chats avec un modèle de cette machine ou de son réseau.",
  "pipelines.taskModelExternal": "Modèle de tâches externe",
  "pipelines.taskModelExternalHint": "Utilisé dans les chats avec un modèle externe.",
  "pipelines.chatModel": "Celui du chat",
  "pipelines.title": "Titre",
  "pipelines.title.hint":
    "Un chat porte le nom de ses premiers mots jusqu’à ce qu’un modèle propose un titre.",
  "pipelines.tags": "Tags",
  "pipelines.tags.hint": "Un à trois mots pour retrouver les chats.",
  "pipelines.follow_ups": "Suggestions",
  "pipelines.follow_ups.hint": "Messages suivants suggérés sous chaque réponse.",
  "pipelines.queries": "Requêtes de recherche",
  "pipelines.queries.hint": "Requêtes de recherche rédigées à partir de tout le chat avant une réponse.",
  "pipelines.queries.web": "Sur le Web",
  "pipelines.queries.webHint":
    "Lorsque la recherche web est activée. Sinon, le message lui-même sert de requête.",
  "pipelines.queries.documents": "Dans les documents",
  "pipelines.queries.documentsHint":
    "Pour les messages suivants dans les chats avec des collections. Le premier message sert lui-même de requête.",
  "pipelines.rag": "Récupération (RAG)",
  "pipelines.rag.hint": "Comment les passages des documents et des pages sont transmis au modèle.",
  "pipelines.rag.system": "Dans le message système",
  "pipelines.rag.systemHint":
    "Au lieu d’être placés avant le message de l’utilisateur. Les serveurs avec cache de prompt recommencent alors à zéro à chaque message.",
  "pipelines.rag.passages": "Max. de passages",
  "pipelines.rag.passagesHint": "Par message : issus des documents, et issus des pages.",
  "pipelines.autocomplete": "Autocomplétion",
  "pipelines.autocomplete.hint": "Un texte gris suggère la suite possible du message ; Tab l’accepte.",
  "pipelines.autocomplete.length": "Longueur max. du texte",
  "pipelines.autocomplete.lengthHint":
    "En caractères. Aucune suggestion n’est faite pour les textes plus longs.",
  "pipelines.autocomplete.any": "illimitée",
  "pipelines.moa": "Fusion des réponses",
  "pipelines.moa.hint": "Comment plusieurs réponses sont fusionnées en une seule, sur demande.",
  "pipelines.moa.samples": "Réponses par modèle",
  "pipelines.moa.samplesHint":
    "Valeur par défaut sous « Comparer » → « Avancé ». Chacun peut choisir un autre nombre.",
  "pipelines.moa.layers": "Couches",
  "pipelines.moa.layersHint":
    "Avec 2 ou 3, les modèles répondent à nouveau avant la fusion, en voyant toutes les réponses de la couche précédente. Chaque couche coûte à peu près autant que les réponses.",
  "pipelines.tools": "Outils dans le prompt",
  "pipelines.tools.hint":
    "Comment les outils sont décrits aux modèles sans appel d’outils. Si l’option est désactivée, ces modèles n’ont pas d’outils.",
  "pipelines.code_interpreter": "Interpréteur de code",
  "pipelines.code_interpreter.hint":
    "Ces modèles écrivent entre des balises du code Python, qui est exécuté. Si l’option est désactivée, ils l’appellent comme tout autre outil.",
  "pipelines.code_interpreter.retries": "Nouveaux essais du code",
  "pipelines.code_interpreter.retriesHint":
    "Combien de fois de suite un modèle peut réessayer un code en échec dans une réponse. Au-delà, le code est affiché mais n’est pas exécuté.",
  "pipelines.calls": { one: "{count} appel", many: "{count} d’appels", other: "{count} appels" },
  "pipelines.failed": "inutilisables : {count}",
  "pipelines.cancelled": "annulés : {count}",
  "pipelines.tokens": "{tokens} tokens",
  "pipelines.lastFailure": "Dernier échec ({at}) :",
  "pipelines.latest": "Appels récents",
  "pipelines.change": "Modifier",
  "pipelines.template": "Template",
  "pipelines.templateHint":
    "Les variables entre doubles accolades sont remplacées : MESSAGES:END:6, prompt, CURRENT_DATE, USER_NAME et d’autres. Vous pouvez coller des templates d’Open WebUI.",
  "pipelines.preview": "Aperçu",
  "pipelines.try": "Tester avec le modèle",
  "pipelines.reset": "Réinitialiser",
  "pipelines.noChat": "Vous n’avez aucun chat à utiliser pour l’aperçu.",
  "pipelines.ofChat": "Avec votre dernier chat : {chat}",
  "pipelines.answerOf": "Réponse de {model}",
  "pipelines.model": "Modèle",
  "pipelines.modelDefault": "Modèle de tâches ou celui du chat",
  "pipelines.outputTokens": "Max. de tokens en sortie",
  "pipelines.seconds": "Délai d’attente en secondes",
  "pipelines.badNumber": "Saisissez un nombre entier.",
  "pipelines.between": "Saisissez un nombre entier de {least} à {most}.",
  "pipelines.outcome.done": "terminé",
  "pipelines.outcome.fallback": "réponse inutilisable",
  "pipelines.outcome.failed": "échec",
  "pipelines.outcome.cancelled": "annulé",
  "debug.beside": {
    one: "{count} appel au modèle hors de l’exécution",
    many: "{count} d’appels au modèle hors de l’exécution",
    other: "{count} appels au modèle hors de l’exécution",
  },
  "followUps.title": "Suggestions",
  "followUps.edit": "Modifier d’abord",
  "settings.completions": "Compléter mes messages",
  "settings.completionsHint":
    "Un texte gris suggère la suite possible de votre message : Tab l’accepte en entier, la flèche droite accepte un mot. Sur un téléphone, touchez-le.",
  "audit.area.pipeline": "Tâches du modèle",
  "audit.pipeline.change": "Tâche du modèle modifiée",
  "audit.pipeline.try": "Tâche du modèle testée",
};
