/** German texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Willkommen bei Glasshouse",
  "setup.intro":
    "Ein Agenten-Server mit gläsernen Wänden: Jeder Schritt ist live zu sehen. Erstellen Sie zuerst das Administratorkonto.",
  "setup.submit": "Konto erstellen",
  "login.title": "Anmelden",
  "login.submit": "Anmelden",
  "login.forgotten": "Passwort vergessen?",
  "login.forgottenHelp": "Bitten Sie die Administration dieses Servers um einen Link zum Zurücksetzen.",
  "login.resetHelp":
    "Der Link, über den Sie ein neues Passwort wählen, geht an die oben eingegebene E-Mail-Adresse.",
  "login.sendReset": "Link per E-Mail senden",
  "login.resetSent":
    "Falls es zu {email} ein Konto mit Passwort gibt, ist ein Link unterwegs. Sehen Sie auch im Spam-Ordner nach.",
  "login.or": "oder",
  "login.with": "Weiter mit {name}",
  "login.problem.unknown":
    "Diese Anmeldung wurde in einem anderen Browser begonnen oder hat zu lange gedauert. Versuchen Sie es erneut.",
  "login.problem.denied": "Laut {name} wurde der Zugriff abgelehnt. Versuchen Sie es erneut.",
  "login.problem.refused":
    "{name} konnte Ihre Identität nicht bestätigen. Versuchen Sie es erneut; wenn es weiterhin fehlschlägt, wenden Sie sich an die Administration.",
  "login.problem.unreachable": "{name} ist nicht erreichbar. Versuchen Sie es später erneut.",
  "login.problem.notAllowed":
    "Keine Ihrer Gruppen bei {name} hat hier Zugriff. Wenden Sie sich an die Administration.",
  "login.problem.groupsUnknown":
    "{name} hat Ihre Gruppen nicht übermittelt, und nur bestimmte Gruppen haben hier Zugriff. Wenden Sie sich an die Administration.",
  "login.groupsKept":
    "{name} hat Ihre Gruppen diesmal nicht übermittelt; Ihre Gruppen und Ihre Rolle bleiben daher unverändert.",
  "login.problem.noAccount": "Sie haben hier noch kein Konto. Wenden Sie sich an die Administration.",
  "login.problem.addressTaken":
    "Es gibt bereits ein Konto mit Ihrer E-Mail-Adresse. Melden Sie sich mit dessen Passwort an.",
  "login.problem.noAddress":
    "{name} hat Ihre E-Mail-Adresse nicht übermittelt, die hier erforderlich ist. Wenden Sie sich an die Administration.",
  "login.problem.suspended": "Dieses Konto ist gesperrt. Wenden Sie sich an die Administration.",
  "login.problem.codeNeeded":
    "Der Proxy hat Sie angemeldet, aber für dieses Konto ist zusätzlich ein Code nötig. Melden Sie sich mit Ihrem Passwort an.",
  "proxy.name": "Vorgeschalteter Proxy",
  "proxy.signsOut": "Sie sind über den Proxy vor diesem Server angemeldet. Melden Sie sich dort ab.",
  "proxy.sessions":
    "Sie sind über den Proxy vor diesem Server angemeldet, dieser Browser braucht daher keine Sitzung. Melden Sie sich dort ab.",
  "login.problem.notSetUp":
    "Dieser Server ist noch nicht eingerichtet. Das erste Konto erstellt die Administration.",
  "close.open": "Konto löschen…",
  "close.title": "Mein Konto löschen",
  "close.text":
    "Ihr Konto wird sofort und endgültig gelöscht, mit allen Chats, Dateien, Erinnerungen, Zeitplänen und Schlüsseln. Nutzungssummen bleiben ohne Ihren Namen auf dem Server. Bestätigen Sie mit Ihrem Passwort; wenn Sie keines haben, wenden Sie sich an die Administration.",
  "close.wrong": "Falsches Passwort.",
  "settings.profile": "Profil",
  "profile.role": "Rolle",
  "profile.save": "Speichern",
  "profile.saved": "Name geändert.",
  "profile.others": "E-Mail-Adresse und Rolle können nur Admins ändern.",
};
