/** French texts for model connections. */
import type { Entry } from "../index.svelte.ts";
import type { connections as en } from "../en/connections.ts";

export const connections: Record<keyof typeof en, Entry> = {
  "connection.name": "Nom",
  "connection.namePlaceholder": "Mon serveur",
  "connection.url": "URL de base",
  "connection.key": "Clé API",
  "connection.keyOptional": "laisser vide si inutile",
  "connection.provider": "Fournisseur",
  "connection.otherProvider": "Autre serveur compatible OpenAI",
  "connection.getKey": "Obtenir une clé API",
  "connection.more": "Plus d’options",
  "connection.kind": "Format d’API",
  "connection.region": "Région AWS",
  "connection.profile": "Profil AWS, en l’absence de clé",
  "connection.api_version": "Version de l’API, pour les adresses de déploiement",
  "connection.project": "Projet Google Cloud",
  "connection.location": "Emplacement",
  "connection.bedrockKey":
    "Une clé API Bedrock ou ACCESS_KEY_ID:SECRET_ACCESS_KEY. Laissez vide pour utiliser les identifiants AWS du serveur.",
  "connection.vertexKey":
    "Le JSON d’un compte de service ou une clé API. Sur Google Cloud, laissez vide pour utiliser le compte de service de la machine.",
  "connection.file": "du fichier de configuration",
  "connection.test": "Tester",
  "connection.testing": "Test en cours…",
  "connection.added": {
    one: "Connecté. {count} modèle disponible.",
    many: "Connecté. {count} de modèles disponibles.",
    other: "Connecté. {count} modèles disponibles.",
  },
  "connection.testOk": {
    one: "La connexion fonctionne. {count} modèle disponible.",
    many: "La connexion fonctionne. {count} de modèles disponibles.",
    other: "La connexion fonctionne. {count} modèles disponibles.",
  },
  "connection.add": "Connecter",
  "connection.refresh": "Actualiser les modèles",
  "connection.remove": "Retirer",
  "connection.removeConfirm":
    "Retirer « {name} » ? Ses modèles ne seront plus disponibles ; les chats sont conservés.",
  "connection.environment": "de l’environnement",
  "connection.withKey": { one: "{count} clé", many: "{count} de clés", other: "{count} clés" },
  "connection.trusted": "Transmettre les infos utilisateur",
  "connection.trustedHint":
    "Envoie à ce serveur, avec chaque requête, le nom, l’e-mail et le rôle de l’utilisateur, ainsi que les métadonnées du chat et de la requête.",
  "connection.none": "Aucun serveur connecté pour le moment",
  "connection.settings": "Paramètres de {name}",
  "connection.off": "désactivée",
  "connection.enabled": "Activée",
  "connection.enabledHint": "Si elle est désactivée, ses modèles ne sont pas disponibles.",
  "connection.together": "Répartition de charge",
  "connection.togetherHint":
    "Les modèles de même nom de toutes les connexions où cette option est activée n’en forment plus qu’un : les requêtes sont réparties selon le poids et basculent vers un autre serveur en cas d’échec.",
  "connection.weight": "Poids",
  "connection.weightHint":
    "Part des requêtes, de 0 à 1000. Avec 0, la connexion ne sert que si les autres échouent.",
  "connection.badWeight": "Saisissez un nombre entier de {least} à 1000.",
  "connection.leftAlone": {
    one: "En pause pendant {time} après {count} échec.",
    many: "En pause pendant {time} après {count} d’échecs consécutifs.",
    other: "En pause pendant {time} après {count} échecs consécutifs.",
  },
  "connection.halfOpen": "La prochaine requête fera un nouvel essai.",
  "connection.lastFailure": "Il y a {ago} : {message}",
  "connection.keys": "Clés",
  "connection.noKeys": "Les requêtes sont envoyées sans clé.",
  "connection.keyEnding": "Clé …{ending}",
  "connection.keyHidden": "Clé {number}",
  "connection.keyUnreadable":
    "Impossible à déchiffrer avec le fichier de clé de ce serveur. Retirez-la et saisissez-la à nouveau.",
  "connection.keyUses": {
    one: "{count} réponse depuis le démarrage du serveur",
    many: "{count} de réponses depuis le démarrage du serveur",
    other: "{count} réponses depuis le démarrage du serveur",
  },
  "connection.keyRests": "en pause pendant {time}",
  "connection.keyWeight": "Poids de {key}",
  "connection.removeKey": "Retirer {key}",
  "connection.removeKeyConfirm": "La clé est retirée de ce serveur. Elle reste valide chez le fournisseur.",
  "connection.newKey": "Nouvelle clé",
  "connection.addKey": "Ajouter une clé",
  "connection.tryModel": "Modèle à tester",
  "connection.tryNoModel": "lister les modèles seulement",
  "connection.tryTook": {
    one: "Répond en {time}. {count} modèle disponible.",
    many: "Répond en {time}. {count} de modèles disponibles.",
    other: "Répond en {time}. {count} modèles disponibles.",
  },
  "connection.tryAnswer": "Le modèle a répondu au bout de {time} : {text}",
  "connection.trySilent": "Le modèle a renvoyé une réponse vide au bout de {time}.",
};
