/** French texts for passkeys. */
import type { passkeys as en } from "../en/passkeys.ts";
import type { Entry } from "../index.svelte.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "Clés d’accès",
  "passkeys.intro":
    "Connectez-vous avec votre empreinte, votre visage ou le code PIN de votre appareil, sans mot de passe ni code. Une clé d’accès ne peut être ni devinée ni hameçonnée. Votre mot de passe reste utilisable.",
  "passkeys.name": "Nom",
  "passkeys.nameHint": "Par exemple : téléphone, clé de sécurité",
  "passkeys.make": "Ajouter une clé d’accès",
  "passkeys.makeText":
    "Confirmez votre mot de passe. Votre navigateur vous demandera ensuite où enregistrer la clé d’accès.",
  "passkeys.made": "Clé d’accès ajoutée. Vous pouvez maintenant l’utiliser pour vous connecter.",
  "passkeys.madeAt": "Créée le {date} pour {host}",
  "passkeys.used": "dernière utilisation le {date}",
  "passkeys.unused": "jamais utilisée",
  "passkeys.copied": "Cette clé d’accès, peut-être clonée, a été désactivée. Retirez-la.",
  "passkeys.remove": "Retirer la clé d’accès",
  "passkeys.removeConfirm":
    "Retirer « {name} » ? Vous ne pourrez plus l’utiliser pour vous connecter. Supprimez-la aussi de l’appareil, sinon il continuera à la proposer.",
  "passkeys.known": "Cet appareil possède déjà votre clé d’accès pour ce serveur.",
  "passkeys.notMade":
    "Clé d’accès non ajoutée : opération annulée, délai dépassé ou appareil non compatible.",
  "passkeys.notHere":
    "Les clés d’accès nécessitent un navigateur compatible et HTTPS avec un nom d’hôte, ou localhost.",
  "passkeys.logIn": "Se connecter avec une clé d’accès",
  "passkeys.notUsed":
    "Clé d’accès non utilisée : opération annulée, délai dépassé ou clé absente de cet appareil.",
  "passkeys.wrong":
    "Cette clé d’accès ne fonctionne plus ici. Connectez-vous avec votre mot de passe et vérifiez vos clés d’accès.",
  "passkeys.has": "clés d’accès",
  "passkeys.removeShort": "Retirer les clés d’accès",
  "passkeys.removeOfConfirm":
    "{name} pourra ensuite se connecter avec son mot de passe et ajouter de nouvelles clés d’accès. Toutes ses sessions seront fermées.",
};
