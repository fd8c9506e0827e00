/** French texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "Fournisseur de connexion",
  "signInProvider.intro":
    "Permet de se connecter avec un compte existant, via OpenID Connect. Les mots de passe restent utilisables.",
  "signInProvider.setUp": "Configurer",
  "signInProvider.setUpTitle": "Configurer un fournisseur de connexion",
  "signInProvider.editTitle": "Modifier le fournisseur de connexion",
  "signInProvider.clientIdOf": "ID client : {id}",
  "signInProvider.preset": "Fournisseur",
  "signInProvider.other": "Autre",
  "signInProvider.hint.entra":
    "À partir de 201 groupes, Entra ID les omet du jeton. Si des personnes en ont autant, indiquez l’URL des groupes sous « Avancé ».",
  "signInProvider.hint.google": "Google n’envoie pas de groupes.",
  "signInProvider.hint.keycloak": "Keycloak envoie tous les groupes d’une personne.",
  "signInProvider.hint.okta":
    "Avec Okta, la connexion échoue si plus de 100 groupes correspondent à son claim de groupes : filtrez-les là-bas.",
  "signInProvider.hint.authentik":
    "authentik envoie tous les groupes d’une personne. La barre oblique finale fait partie de l’émetteur.",
  "signInProvider.redirect": "Adresse de redirection",
  "signInProvider.redirectHint": "Enregistrez-la chez le fournisseur, pour un client web confidentiel.",
  "signInProvider.issuer": "Émetteur",
  "signInProvider.issuerHint": "Exactement comme l’écrit le fournisseur.",
  "signInProvider.placeholder": "Remplacez {text} par votre propre valeur.",
  "signInProvider.clientId": "ID client",
  "signInProvider.clientSecret": "Secret client",
  "signInProvider.secretHint": "Laissez vide pour un client public.",
  "signInProvider.secretMoved":
    "Le secret enregistré n’est pas envoyé à un autre hôte. Saisissez celui de ce fournisseur.",
  "signInProvider.removeSecret": "Retirer le secret client enregistré",
  "signInProvider.name": "Nom sur le bouton",
  "signInProvider.advanced": "Avancé",
  "signInProvider.scopes": "Scopes",
  "signInProvider.scopesHint":
    "Séparés par des espaces. Certains fournisseurs n’envoient les groupes qu’avec le scope groups.",
  "signInProvider.groupsClaim": "Claim des groupes",
  "signInProvider.groupsClaimHint": "Un point mène à un claim imbriqué : realm_access.roles.",
  "signInProvider.groupsUrl": "URL des groupes",
  "signInProvider.groupsUrlHint":
    "Adresse où demander les groupes absents du jeton. Entra ID exige aussi les scopes User.Read et GroupMember.Read.All.",
  "signInProvider.adminGroups": "Groupes d’administrateurs",
  "signInProvider.adminGroupsHint":
    "Un par ligne. À chaque connexion, leurs membres deviennent administrateurs et les autres, simples utilisateurs. Laissez vide pour choisir les administrateurs ici.",
  "signInProvider.allowedGroups": "Groupes autorisés",
  "signInProvider.allowedGroupsHint":
    "Un par ligne. Seuls leurs membres et ceux des groupes d’administrateurs peuvent se connecter. Laissez vide pour admettre tout le monde chez ce fournisseur.",
  "signInProvider.createAccounts": "Créer les comptes à la première connexion",
  "signInProvider.createAccountsHint": "Sinon, les administrateurs ajoutent d’abord les personnes.",
  "signInProvider.linkByEmail": "Associer les comptes existants par e-mail",
  "signInProvider.linkByEmailHint":
    "Seulement si le fournisseur vérifie les adresses : qui y obtient une adresse obtient le compte.",
  "signInProvider.newIssuer":
    "Chaque personne est reconnue par son ID chez cet émetteur. Chez un autre, elle compte comme nouvelle, sauf si les comptes sont associés par e-mail.",
  "signInProvider.works": "Ça marche. La connexion se fait chez {host}.",
  "signInProvider.turnOff": "Désactiver",
  "signInProvider.turnOffTitle": "Désactiver le fournisseur de connexion",
  "signInProvider.turnOffStay": "Les personnes connectées le restent jusqu’à la fin de leur session.",
  "signInProvider.turnOffWho":
    "Ensuite, les personnes sans mot de passe ni clé d’accès ne pourront plus se connecter. Pour donner un mot de passe à quelqu’un, choisissez « Réinitialiser le mot de passe » dans ses actions.",
  "signInProvider.turnOffYou": "Vous n’avez ni l’un ni l’autre. Créez d’abord un lien pour vous.",
  "signInProvider.turnedOff": "Fournisseur de connexion désactivé",
};
