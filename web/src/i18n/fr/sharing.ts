/** French texts for shared chats and collections, and for administrator access. */
import type { sharing as en } from "../en/sharing.ts";
import type { Entry } from "../index.svelte.ts";

export const sharing: Record<keyof typeof en, Entry> = {
  "share.open": "Partager le chat",
  "share.intro":
    "Les personnes avec qui vous le partagez voient tout le chat : messages, étapes, outils et fichiers. Celles qui peuvent répondre peuvent aussi y écrire.",
  "share.all": "Toute personne de ce serveur disposant du lien",
  "share.allHint": "Toute personne ayant un compte sur ce serveur et qui ouvre le lien.",
  "share.copy": "Copier le lien",
  "share.people": "Personnes",
  "share.email": "Adresse e-mail",
  "share.add": "Partager",
  "share.added": "Partagé avec {name}",
  "share.remove": "Ne plus partager",
  "share.removeOf": "Ne plus partager avec {name}",
  "share.removeConfirm": "Ne plus partager avec {name} ? Cette personne ne pourra plus lire ce chat.",
  "share.files": "Ses fichiers sont dans un dossier du serveur que les lecteurs ne voient pas.",
  "shared.title": "Partagés avec moi",
  "shared.of": "Partagé par {name}",
  "share.mayReply": "Peut répondre",
  "share.mayRead": "Peut lire",
  "share.rights": "Accès de {name}",
  "share.rightsOfNew": "Accès",
  "share.replyHint":
    "Les personnes qui peuvent répondre utilisent vos modèles, vos outils, vos fichiers et vos limites. Vous restez la seule personne à pouvoir approuver les appels et arrêter les réponses.",
  "shared.byWritable": "Partagé par {name} ({email}) · vous pouvez répondre",
  "shared.by": "Partagé par {name} ({email}) · lecture seule",
  "shared.waiting": "En attente de {name}",
  "shared.notAnswerable": "Réponse réservée à {name}.",
  "moderation.note":
    "Les administrateurs peuvent lire les chats de ce serveur. Chaque consultation est consignée.",
  "moderation.chats": "Chats",
  "moderation.chatsOf": "Chats de {name}",
  "moderation.noted": "Votre consultation est consignée dans le journal d’audit.",
  "moderation.none": "Aucun chat",
  "collectionShare.open": "Partager",
  "collectionShare.title": "Partager « {name} »",
  "collectionShare.intro":
    "Ces personnes peuvent la consulter et y faire des recherches, mais pas la modifier. Les modifications s’appliquent immédiatement.",
  "collectionShare.introAdmin":
    "Vous faites cette modification en tant qu’administrateur. Elle est consignée dans le journal d’audit.",
  "collectionShare.all": "Tout le monde sur ce serveur",
  "collectionShare.allHint": "Toute personne ayant un compte sur ce serveur.",
  "collectionShare.groups": "Groupes",
  "collectionShare.noGroups": "Aucun groupe à choisir",
  "collectionShare.removeConfirm":
    "Ne plus partager avec {name} ? Il ne sera plus possible d’y chercher ni de lire ces documents.",
  "collectionShare.closeConfirm":
    "Vous pouvez lire cette collection uniquement parce qu’elle est partagée avec vous. Si ce partage prend fin, seul son propriétaire pourra la partager à nouveau avec vous.",
  "collectionShare.is": "Partagée",
};
