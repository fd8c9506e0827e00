/** French texts for two-step sign-in. */
import type { twoStep as en } from "../en/two-step.ts";
import type { Entry } from "../index.svelte.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "Validation en deux étapes",
  "twoStep.intro":
    "Après votre mot de passe, vous saisissez le code d’une application d’authentification comme Aegis, Google Authenticator ou 1Password. Connaître votre mot de passe ne suffit alors plus pour se connecter. Les clés API fonctionnent comme avant.",
  "twoStep.begin": "Configurer",
  "twoStep.beginText":
    "Il vous faut un téléphone avec une application d’authentification. Confirmez d’abord votre mot de passe :",
  "twoStep.next": "Continuer",
  "twoStep.scan": "Scannez ce QR code avec l’application, puis saisissez le code qu’elle affiche.",
  "twoStep.qr": "QR code pour l’application",
  "twoStep.type": "Ou saisissez cette clé dans l’application :",
  "twoStep.code": "Code de l’application",
  "twoStep.codeHint": "Six chiffres",
  "twoStep.wrong":
    "Code incorrect. Attendez le suivant et vérifiez que l’horloge de votre téléphone est à l’heure.",
  "twoStep.turnOn": "Activer",
  "twoStep.onSince": "Activée depuis le {date}.",
  "twoStep.left": {
    one: "Il reste {count} code de récupération.",
    many: "Il reste {count} de codes de récupération.",
    other: "Il reste {count} codes de récupération.",
  },
  "twoStep.renew": "Nouveaux codes de récupération",
  "twoStep.renewText": "Vous recevez dix nouveaux codes. Les anciens ne fonctionnent plus.",
  "twoStep.end": "Désactiver la validation en deux étapes",
  "twoStep.endText":
    "Vous vous connecterez avec votre seul mot de passe. Les codes de l’application et les codes de récupération ne fonctionneront plus.",
  "twoStep.isOff": "La validation en deux étapes est désactivée.",
  "twoStep.noPassword":
    "Vous vous connectez via un fournisseur et n’avez pas de mot de passe ici. Configurez une deuxième étape chez ce fournisseur.",
  "twoStep.recoveryText":
    "La validation en deux étapes est activée. Conservez ces codes de récupération dans un endroit accessible sans votre téléphone : chacun remplace une fois un code de l’application. Ils ne sont affichés que maintenant.",
  "twoStep.copyCodes": "Tout copier",
  "twoStep.kept": "Je les ai enregistrés",
  "twoStep.enter": "Encore une étape",
  "twoStep.recoveryCode": "Code de récupération",
  "twoStep.recoveryCodeHint": "Seize lettres et chiffres ; chaque code fonctionne une seule fois",
  "twoStep.submit": "Continuer",
  "twoStep.used": "Le code est incorrect ou a déjà été utilisé.",
  "twoStep.lost": "Utiliser un code de récupération",
  "twoStep.useApp": "Utiliser l’application",
  "twoStep.startOver": "Recommencer",
  "twoStep.has": "validation en deux étapes",
  "twoStep.endOfConfirm":
    "{name} pourra ensuite se connecter avec son seul mot de passe. Vérifiez que la demande vient bien de {name}. Toutes ses sessions seront fermées.",
};
