/** French texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Sessions",
  "sessions.intro": {
    one: "Appareils connectés à votre compte. Une session prend fin {count} heure après son début.",
    many: "Appareils connectés à votre compte. Une session prend fin {count} d’heures après son début.",
    other: "Appareils connectés à votre compte. Une session prend fin {count} heures après son début.",
  },
  "sessions.on": "{browser} sur {system}",
  "sessions.unknown": "Navigateur inconnu",
  "sessions.this": "ce navigateur",
  "sessions.began": "ouverte le {date}",
  "sessions.from": "depuis {address}",
  "sessions.used": "dernière utilisation le {date}",
  "sessions.end": "Déconnecter",
  "sessions.endOf": "Déconnecter : {device}",
  "sessions.endConfirm": "Déconnecter {device} ? Tout ce qui y est ouvert se ferme immédiatement.",
  "sessions.endOthers": "Déconnecter les autres sessions",
  "sessions.endOthersConfirm":
    "Toutes vos autres sessions prennent fin immédiatement. Les clés API restent valables.",
  "sessions.endAll": "Tout déconnecter",
  "sessions.endAllConfirm":
    "Toutes vos sessions prennent fin immédiatement, y compris celle-ci. Les clés API restent valables.",
  "sessions.ended": "Autres sessions déconnectées.",

  "reset.title": "Choisir un nouveau mot de passe",
  "reset.over":
    "Ce lien a expiré ou a déjà été utilisé. Pour en obtenir un nouveau, choisissez « {forgotten} » sur la page de connexion.",
  "reset.done": "Mot de passe modifié. Vous pouvez maintenant vous connecter.",
  "reset.make": "Réinitialiser le mot de passe",
  "reset.made":
    "Envoyez ce lien à {name} pour le choix d’un nouveau mot de passe. Il fonctionne une seule fois, jusqu’au {date}, et n’est affiché que maintenant.",

  "signUp.title": "Créer un compte",
  "signUp.submit": "Créer le compte",
  "signUp.closed": "La création d’un compte ici nécessite une invitation. Contactez un administrateur.",
  "signUp.over":
    "Cette invitation a été utilisée, a expiré, a été révoquée ou est destinée à une autre adresse e-mail. Demandez-en une nouvelle.",
  "signUp.taken":
    "Connexion impossible avec ce mot de passe. Si vous avez déjà un compte, utilisez son mot de passe.",
  "signUp.toLogin": "Retour à la connexion",
  "signUp.link": "Créer un compte",
  "signUp.who": "Inscription",
  "signUp.closedMode": "Fermée",
  "signUp.closedText":
    "Seuls les administrateurs ajoutent des comptes ; les invitations existantes sont suspendues.",
  "signUp.invitationMode": "Sur invitation",
  "signUp.invitationText": "Avec un lien que vous envoyez.",
  "signUp.openMode": "Ouverte",
  "signUp.openText":
    "Toute personne pouvant accéder à ce serveur. Chaque compte coûte ce que coûtent ses exécutions : fixez des limites.",

  "invitations.title": "Invitations",
  "invitations.invite": "Inviter des personnes",
  "invitations.way": "Destinataires des liens",
  "invitations.byEmail": "Par adresse e-mail",
  "invitations.shared": "Un lien partagé",
  "invitations.most": "Max. de comptes",
  "invitations.days": "Validité (jours)",
  "invitations.turnsOn": "L’inscription est fermée. Créer un lien active l’inscription sur invitation.",
  "invitations.reopens": {
    one: "{count} invitation antérieure redevient valable.",
    many: "{count} d’invitations antérieures redeviennent valables.",
    other: "{count} invitations antérieures redeviennent valables.",
  },
  "invitations.invalid": {
    one: "Adresse e-mail non valide : {names}",
    many: "Adresses e-mail non valides : {names}",
    other: "Adresses e-mail non valides : {names}",
  },
  "invitations.accounts": {
    one: "A déjà un compte : {names}",
    many: "Ont déjà un compte : {names}",
    other: "Ont déjà un compte : {names}",
  },
  "invitations.repeated": {
    one: "Saisie plusieurs fois : {names}",
    many: "Saisies plusieurs fois : {names}",
    other: "Saisies plusieurs fois : {names}",
  },
  "invitations.invited": {
    one: "Invitation déjà créée : {names}. Le nouveau lien remplace l’ancien.",
    many: "Invitations déjà créées : {names}. Les nouveaux liens remplacent les anciens.",
    other: "Invitations déjà créées : {names}. Les nouveaux liens remplacent les anciens.",
  },
  "invitations.createLinks": {
    one: "Créer le lien",
    many: "Créer {count} de liens",
    other: "Créer {count} liens",
  },
  "invitations.ready":
    "Valable jusqu’au {date}, pour un seul compte. Aucun e-mail n’est envoyé : transmettez vous-même le lien.",
  "invitations.readyEach":
    "Chaque lien est valable jusqu’au {date}, pour un seul compte. Aucun e-mail n’est envoyé : transmettez vous-même les liens.",
  "invitations.readyAnybody": {
    one: "Valable jusqu’au {date}, pour {count} compte. Aucun e-mail n’est envoyé : transmettez vous-même le lien.",
    many: "Valable jusqu’au {date}, pour {count} de comptes. Aucun e-mail n’est envoyé : transmettez vous-même le lien.",
    other:
      "Valable jusqu’au {date}, pour {count} comptes. Aucun e-mail n’est envoyé : transmettez vous-même le lien.",
  },
  "invitations.sendMail": "Envoyer les liens par e-mail",
  "invitations.noMail": "Aucun e-mail n’est envoyé : vous transmettez vous-même les liens.",
  "invitations.setUpMail": "Configurer l’e-mail",
  "invitations.send": {
    one: "Envoyer l’invitation",
    many: "Envoyer {count} d’invitations",
    other: "Envoyer {count} invitations",
  },
  "invitations.sendingOf": "Envoi {at} sur {count}…",
  "invitations.sent": "E-mail envoyé",
  "invitations.allSent": {
    one: "Invitation envoyée. Le lien est valable jusqu’au {date}, pour un seul compte.",
    many: "{count} d’invitations envoyées. Chaque lien est valable jusqu’au {date}, pour un seul compte.",
    other: "{count} invitations envoyées. Chaque lien est valable jusqu’au {date}, pour un seul compte.",
  },
  "invitations.someSent":
    "Invitations envoyées : {sent} sur {count}. Transmettez vous-même les autres liens. Chaque lien est valable jusqu’au {date}, pour un seul compte.",
  "invitations.turnedOn": "L’inscription sur invitation est maintenant activée.",
  "invitations.copy": "Copier le lien",
  "invitations.copyAll": "Tout copier",
  "invitations.copyOf": "Copier le lien : {who}",
  "invitations.mail": "Rédiger un e-mail",
  "invitations.mailTo": "Rédiger un e-mail : {who}",
  "invitations.mailSubject": "Invitation à Glasshouse",
  "invitations.mailText": "Créez votre compte ici : {link}\n\nLe lien est valable jusqu’au {date}.",
  "invitations.failed": "Impossible d’inviter {email} : {problem}",
  "invitations.done": "Terminé",
  "invitations.pending": "Invitations en attente",
  "invitations.paused": "L’inscription est fermée ; ces liens ne fonctionnent donc pas pour le moment.",
  "invitations.past": {
    one: "{count} utilisée ou expirée",
    many: "{count} utilisées ou expirées",
    other: "{count} utilisées ou expirées",
  },
  "invitations.renew": "Nouveau lien",
  "invitations.renewOf": "Nouveau lien : {who}",
  "invitations.renewConfirm": "Créer un nouveau lien pour « {who} » ? Le lien actuel cessera de fonctionner.",
  "invitations.renewed": "Nouveau lien pour {who}, valable jusqu’au {date} :",
  "invitations.anybody": "Toute personne ayant le lien",
  "invitations.anybodyHint":
    "Toute personne ayant le lien peut créer un compte, tant qu’il n’est ni épuisé ni expiré.",
  "invitations.emails": "Adresses e-mail",
  "invitations.emailsHint":
    "Séparez-les par des virgules, des espaces ou des retours à la ligne. Chacune reçoit un lien que seule cette adresse peut utiliser.",
  "invitations.used": "utilisée",
  "invitations.uses": "{uses} utilisations sur {most}",
  "invitations.until": "jusqu’au {date}",
  "invitations.over": "expirée le {date}",
  "invitations.takeBack": "Révoquer",
  "invitations.takeBackConfirm":
    "Révoquer l’invitation « {who} » ? Son lien cesse de fonctionner immédiatement. Les comptes déjà créés sont conservés.",

  "signIns.title": "Vos connexions",
  "signIns.intro":
    "Une fois la connexion établie, les agents qui travaillent pour vous utilisent ces serveurs en votre nom. Les autres ne voient pas ce que vous y voyez.",
  "signIns.none": "Aucun outil ici ne nécessite votre propre connexion.",
  "signIns.kind.oauth": "nécessite votre connexion",
  "signIns.kind.user_token": "nécessite votre jeton",
  "signIns.state.signed_out": "non connecté",
  "signIns.state.lapsed": "connexion expirée",
  "signIns.signIn": "Se connecter à {name}",
  "signIns.signOut": "Se déconnecter de {name}",
  "signIns.signOutConfirm":
    "Votre connexion est supprimée ici. Les agents ne pourront plus utiliser {name} pour vous tant que vous ne vous reconnectez pas.",
  "signIns.token": "Votre jeton pour {name}",
  "signIns.save": "Enregistrer",
  "signIns.ended.done": "Connexion réussie.",
  "signIns.ended.unknown":
    "Cette connexion a déjà été utilisée, a pris trop de temps ou a commencé ailleurs. Réessayez.",
  "signIns.ended.denied": "Le serveur a refusé l’accès.",
  "signIns.ended.wrong_issuer":
    "Le retour provient d’une adresse inattendue ; la connexion a donc été rejetée. Signalez-le à un administrateur.",
  "signIns.ended.refused": "Le serveur a rejeté la connexion. Réessayez.",
  "signIns.ended.unreachable": "Serveur injoignable. Réessayez plus tard.",
  "signIns.ended.signed_out": "Connectez-vous à Glasshouse dans ce navigateur, puis réessayez.",
};
