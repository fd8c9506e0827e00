/** German texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "Anmeldeanbieter",
  "signInProvider.intro":
    "Damit melden sich Personen über OpenID Connect mit einem vorhandenen Konto an. Passwörter funktionieren weiterhin.",
  "signInProvider.setUp": "Einrichten",
  "signInProvider.setUpTitle": "Anmeldeanbieter einrichten",
  "signInProvider.editTitle": "Anmeldeanbieter bearbeiten",
  "signInProvider.clientIdOf": "Client-ID: {id}",
  "signInProvider.preset": "Anbieter",
  "signInProvider.other": "Anderer",
  "signInProvider.hint.entra":
    "Entra ID lässt Gruppen ab 201 im Token weg. Falls Personen so viele haben, legen Sie unter „Erweitert“ die Gruppen-URL fest.",
  "signInProvider.hint.google": "Google sendet keine Gruppen.",
  "signInProvider.hint.keycloak": "Keycloak sendet alle Gruppen einer Person.",
  "signInProvider.hint.okta":
    "Bei Okta scheitert die Anmeldung, wenn mehr als 100 Gruppen auf den Gruppen-Claim passen: Filtern Sie sie dort.",
  "signInProvider.hint.authentik":
    "authentik sendet alle Gruppen einer Person. Der Schrägstrich am Ende gehört zum Issuer.",
  "signInProvider.redirect": "Weiterleitungsadresse",
  "signInProvider.redirectHint":
    "Tragen Sie sie beim Anbieter ein, bei einem vertraulichen Client für Webanwendungen.",
  "signInProvider.issuer": "Issuer",
  "signInProvider.issuerHint": "Genau so, wie ihn der Anbieter schreibt.",
  "signInProvider.placeholder": "Ersetzen Sie {text} durch Ihren eigenen Wert.",
  "signInProvider.clientId": "Client-ID",
  "signInProvider.clientSecret": "Client-Secret",
  "signInProvider.secretHint": "Für einen öffentlichen Client leer lassen.",
  "signInProvider.secretMoved":
    "Das gespeicherte Secret wird nicht an einen anderen Host gesendet. Geben Sie das dieses Anbieters ein.",
  "signInProvider.removeSecret": "Gespeichertes Client-Secret entfernen",
  "signInProvider.name": "Name auf der Schaltfläche",
  "signInProvider.advanced": "Erweitert",
  "signInProvider.scopes": "Scopes",
  "signInProvider.scopesHint":
    "Durch Leerzeichen getrennt. Manche Anbieter senden Gruppen nur mit dem Scope groups.",
  "signInProvider.groupsClaim": "Gruppen-Claim",
  "signInProvider.groupsClaimHint": "Ein Punkt führt in einen verschachtelten Claim: realm_access.roles.",
  "signInProvider.groupsUrl": "Gruppen-URL",
  "signInProvider.groupsUrlHint":
    "Hier werden Gruppen abgefragt, die im Token fehlen. Entra ID braucht dafür auch die Scopes User.Read und GroupMember.Read.All.",
  "signInProvider.adminGroups": "Admin-Gruppen",
  "signInProvider.adminGroupsHint":
    "Eine pro Zeile. Bei jeder Anmeldung werden ihre Mitglieder zu Admins und andere zu normalen Nutzern. Leer lassen, um Admins hier zu bestimmen.",
  "signInProvider.allowedGroups": "Zugelassene Gruppen",
  "signInProvider.allowedGroupsHint":
    "Eine pro Zeile. Nur ihre Mitglieder und die der Admin-Gruppen können sich anmelden. Leer lassen für alle beim Anbieter.",
  "signInProvider.createAccounts": "Konten bei der ersten Anmeldung anlegen",
  "signInProvider.createAccountsHint": "Sonst müssen Admins die Personen vorher hinzufügen.",
  "signInProvider.linkByEmail": "Vorhandene Konten über die E-Mail-Adresse verknüpfen",
  "signInProvider.linkByEmailHint":
    "Nur bei Anbietern, die Adressen prüfen: Wer dort eine Adresse bekommt, bekommt das Konto.",
  "signInProvider.newIssuer":
    "Personen werden an ihrer ID bei diesem Issuer erkannt. Bei einem anderen gelten sie als neu, sofern Konten nicht über die E-Mail-Adresse verknüpft werden.",
  "signInProvider.works": "Funktioniert. Die Anmeldung erfolgt bei {host}.",
  "signInProvider.turnOff": "Deaktivieren",
  "signInProvider.turnOffTitle": "Anmeldeanbieter deaktivieren",
  "signInProvider.turnOffStay": "Wer angemeldet ist, bleibt es bis zum Ende der Sitzung.",
  "signInProvider.turnOffWho":
    "Danach können sich Personen ohne Passwort und ohne Passkey nicht mehr anmelden. Um jemandem ein Passwort zu geben, wählen Sie bei den Aktionen der Person „Passwort zurücksetzen“.",
  "signInProvider.turnOffYou":
    "Sie selbst haben keines von beiden. Erstellen Sie zuerst einen Link für sich.",
  "signInProvider.turnedOff": "Anmeldeanbieter deaktiviert",
};
