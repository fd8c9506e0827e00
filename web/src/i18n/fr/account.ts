/** French texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Bienvenue dans Glasshouse",
  "setup.intro":
    "Un serveur d’agents aux parois de verre : vous voyez chaque étape au moment où elle se déroule. Pour commencer, créez le compte administrateur.",
  "setup.submit": "Créer le compte",
  "login.title": "Connexion",
  "login.submit": "Se connecter",
  "login.forgotten": "Mot de passe oublié ?",
  "login.forgottenHelp": "Demandez un lien de réinitialisation à un administrateur de ce serveur.",
  "login.resetHelp": "Le lien pour choisir un nouveau mot de passe est envoyé à l’adresse e-mail ci-dessus.",
  "login.sendReset": "M’envoyer un lien",
  "login.resetSent":
    "Si un compte avec mot de passe existe pour {email}, un lien vient de partir. Vérifiez aussi vos courriers indésirables.",
  "login.or": "ou",
  "login.with": "Continuer avec {name}",
  "login.problem.unknown":
    "Cette connexion a commencé dans un autre navigateur ou a pris trop de temps. Réessayez.",
  "login.problem.denied": "Selon {name}, vous avez refusé l’accès. Réessayez.",
  "login.problem.refused":
    "{name} n’a pas pu confirmer votre identité. Réessayez ; si le problème persiste, contactez un administrateur.",
  "login.problem.unreachable": "{name} est injoignable. Réessayez plus tard.",
  "login.problem.notAllowed":
    "Aucun de vos groupes chez {name} n’a accès à ce serveur. Contactez un administrateur.",
  "login.problem.groupsUnknown":
    "{name} n’a pas transmis vos groupes, et seuls certains groupes ont accès à ce serveur. Contactez un administrateur.",
  "login.groupsKept":
    "{name} n’a pas transmis vos groupes cette fois-ci : vos groupes et votre rôle restent inchangés.",
  "login.problem.noAccount": "Vous n’avez pas encore de compte ici. Demandez-en un à un administrateur.",
  "login.problem.addressTaken":
    "Un compte utilise déjà votre adresse e-mail. Connectez-vous avec son mot de passe.",
  "login.problem.noAddress":
    "{name} n’a pas transmis votre adresse e-mail, obligatoire ici. Contactez un administrateur.",
  "login.problem.suspended": "Ce compte est suspendu. Contactez un administrateur.",
  "login.problem.codeNeeded":
    "Le proxy a validé votre connexion, mais ce compte exige aussi un code. Connectez-vous avec votre mot de passe.",
  "proxy.name": "Le proxy en amont",
  "proxy.signsOut":
    "Votre connexion est gérée par le proxy placé devant ce serveur. Déconnectez-vous auprès de celui-ci.",
  "proxy.sessions":
    "Votre connexion est gérée par le proxy placé devant ce serveur ; ce navigateur n’a donc pas besoin de session. Déconnectez-vous auprès du proxy.",
  "login.problem.notSetUp":
    "Ce serveur n’est pas encore configuré. Son administrateur doit créer le premier compte.",
  "close.open": "Supprimer le compte…",
  "close.title": "Supprimer mon compte",
  "close.text":
    "Votre compte est supprimé immédiatement et définitivement, avec tous vos chats, fichiers, souvenirs, tâches planifiées et clés. Les totaux d’utilisation restent sur le serveur, sans votre nom. Confirmez avec votre mot de passe ; si vous n’en avez pas, contactez un administrateur.",
  "close.wrong": "Mot de passe incorrect.",
  "settings.profile": "Profil",
  "profile.role": "Rôle",
  "profile.save": "Enregistrer",
  "profile.saved": "Nom modifié.",
  "profile.others": "Seul un administrateur peut modifier votre adresse e-mail et votre rôle.",
};
