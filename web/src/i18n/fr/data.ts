/** French texts for data export, import and account deletion in the settings. */
import type { data as en } from "../en/data.ts";
import type { Entry } from "../index.svelte.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Export et import",
  "data.export": "Exporter",
  "data.exportText":
    "Un seul fichier avec toutes vos données : chats avec toutes leurs branches et les journaux d’exécution, fichiers, collections de documents, souvenirs, tâches planifiées et noms des clés. Les mots de passe et les clés n’en font pas partie.",
  "data.exportDo": "Télécharger mes données",
  "data.import": "Importer",
  "data.importText":
    "Importe dans ce compte un export de Glasshouse, ou des chats de ChatGPT, Claude, Open WebUI ou LibreChat. Les données existantes sont conservées, sans doublons ; les tâches planifiées sont importées désactivées.",
  "data.importFiles":
    "ChatGPT et Claude : le fichier ZIP tel que vous l’avez reçu. Autres : .json ou .jsonl.",
  "data.choose": "Choisir un fichier",
  "data.dropHere": "ou déposez-le ici",
  "data.sending": "Importation de {name} ({size})…",
  "data.made": "Importés",
  "data.here": "Déjà présents",
  "data.left": "Ignorés",
  "data.leftMore": { one: "et {count} autre", many: "et {count} d’autres", other: "et {count} autres" },
  "data.nothingNew": "Rien de nouveau à importer.",
  "data.count.chats": { one: "{count} chat", many: "{count} de chats", other: "{count} chats" },
  "data.count.messages": { one: "{count} message", many: "{count} de messages", other: "{count} messages" },
  "data.count.runs": { one: "{count} exécution", many: "{count} d’exécutions", other: "{count} exécutions" },
  "data.count.files": { one: "{count} fichier", many: "{count} de fichiers", other: "{count} fichiers" },
  "data.count.memories": {
    one: "{count} souvenir",
    many: "{count} de souvenirs",
    other: "{count} souvenirs",
  },
  "data.count.facts": {
    one: "{count} information apprise",
    many: "{count} d’informations apprises",
    other: "{count} informations apprises",
  },
  "data.count.schedules": {
    one: "{count} tâche planifiée",
    many: "{count} de tâches planifiées",
    other: "{count} tâches planifiées",
  },
  "data.count.collections": {
    one: "{count} collection",
    many: "{count} de collections",
    other: "{count} collections",
  },
  "data.count.sources": { one: "{count} source", many: "{count} de sources", other: "{count} sources" },
  "data.count.documents": {
    one: "{count} document",
    many: "{count} de documents",
    other: "{count} documents",
  },
  "data.what.chat": "Chat",
  "data.what.message": "Message",
  "data.what.run": "Exécution",
  "data.what.file": "Fichier",
  "data.what.memory": "Souvenir",
  "data.what.fact": "Information apprise",
  "data.what.schedule": "Tâche planifiée",
  "data.what.collection": "Collection",
  "data.what.source": "Source",
  "data.what.document": "Document",
  "data.what.key": "Clé",
  "data.what.agent": "Agent",
  "data.what.line": "Ligne",
  "data.end": "Supprimer le compte",
  "data.endText":
    "Supprime définitivement votre compte et tout ce qu’il contient. Exportez d’abord vos données.",
};
