/** German texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Sitzungen",
  "sessions.intro": {
    one: "Wo Sie angemeldet sind. Eine Sitzung endet {count} Stunde nach ihrem Beginn.",
    other: "Wo Sie angemeldet sind. Eine Sitzung endet {count} Stunden nach ihrem Beginn.",
  },
  "sessions.on": "{browser} unter {system}",
  "sessions.unknown": "Unbekannter Browser",
  "sessions.this": "dieser Browser",
  "sessions.began": "begonnen: {date}",
  "sessions.from": "von {address}",
  "sessions.used": "zuletzt genutzt: {date}",
  "sessions.end": "Abmelden",
  "sessions.endOf": "Abmelden: {device}",
  "sessions.endConfirm": "{device} abmelden? Alles dort Geöffnete wird sofort geschlossen.",
  "sessions.endOthers": "Überall sonst abmelden",
  "sessions.endOthersConfirm":
    "Alle Ihre anderen Sitzungen enden sofort. API-Schlüssel funktionieren weiter.",
  "sessions.endAll": "Überall abmelden",
  "sessions.endAllConfirm":
    "Alle Ihre Sitzungen enden sofort, auch diese. API-Schlüssel funktionieren weiter.",
  "sessions.ended": "Andere Sitzungen beendet.",

  "reset.title": "Neues Passwort wählen",
  "reset.over":
    "Dieser Link ist abgelaufen oder wurde bereits verwendet. Einen neuen erhalten Sie auf der Anmeldeseite unter „{forgotten}“.",
  "reset.done": "Passwort geändert. Sie können sich jetzt anmelden.",
  "reset.make": "Passwort zurücksetzen",
  "reset.made":
    "Senden Sie diesen Link an {name}, um ein neues Passwort zu wählen. Er funktioniert einmal, bis {date}, und wird nur jetzt angezeigt.",

  "signUp.title": "Konto erstellen",
  "signUp.submit": "Konto erstellen",
  "signUp.closed":
    "Für ein Konto auf diesem Server brauchen Sie eine Einladung. Wenden Sie sich an die Administration.",
  "signUp.over":
    "Diese Einladung wurde verwendet, ist abgelaufen, wurde widerrufen oder gilt für eine andere E-Mail-Adresse. Bitten Sie um eine neue.",
  "signUp.taken":
    "Die Anmeldung mit diesem Passwort ist fehlgeschlagen. Wenn Sie bereits ein Konto haben, verwenden Sie dessen Passwort.",
  "signUp.toLogin": "Stattdessen anmelden",
  "signUp.link": "Konto erstellen",
  "signUp.who": "Registrierung",
  "signUp.closedMode": "Geschlossen",
  "signUp.closedText": "Nur Admins fügen Konten hinzu; bestehende Einladungen sind ausgesetzt.",
  "signUp.invitationMode": "Auf Einladung",
  "signUp.invitationText": "Mit einem Link, den Sie senden.",
  "signUp.openMode": "Offen",
  "signUp.openText":
    "Alle, die diesen Server erreichen können. Jedes Konto kostet, was seine Ausführungen kosten: Setzen Sie Limits.",

  "invitations.title": "Einladungen",
  "invitations.invite": "Personen einladen",
  "invitations.way": "Für wen die Links sind",
  "invitations.byEmail": "Per E-Mail-Adresse",
  "invitations.shared": "Ein gemeinsamer Link",
  "invitations.most": "Max. Konten",
  "invitations.days": "Gültig (Tage)",
  "invitations.turnsOn":
    "Die Registrierung ist geschlossen. Das Erstellen eines Links aktiviert die Registrierung auf Einladung.",
  "invitations.reopens": {
    one: "{count} frühere Einladung wird wieder gültig.",
    other: "{count} frühere Einladungen werden wieder gültig.",
  },
  "invitations.invalid": { one: "Keine E-Mail-Adresse: {names}", other: "Keine E-Mail-Adressen: {names}" },
  "invitations.accounts": {
    one: "Hat bereits ein Konto: {names}",
    other: "Haben bereits ein Konto: {names}",
  },
  "invitations.repeated": { one: "Mehrfach eingegeben: {names}", other: "Mehrfach eingegeben: {names}" },
  "invitations.invited": {
    one: "Bereits eingeladen: {names}. Der neue Link ersetzt den alten.",
    other: "Bereits eingeladen: {names}. Die neuen Links ersetzen die alten.",
  },
  "invitations.createLinks": { one: "Link erstellen", other: "{count} Links erstellen" },
  "invitations.ready":
    "Gültig bis {date}, für ein Konto. Es wird keine E-Mail gesendet: Geben Sie den Link selbst weiter.",
  "invitations.readyEach":
    "Jeder Link ist bis {date} gültig, für ein Konto. Es wird keine E-Mail gesendet: Geben Sie die Links selbst weiter.",
  "invitations.readyAnybody": {
    one: "Gültig bis {date}, für {count} Konto. Es wird keine E-Mail gesendet: Geben Sie den Link selbst weiter.",
    other:
      "Gültig bis {date}, für {count} Konten. Es wird keine E-Mail gesendet: Geben Sie den Link selbst weiter.",
  },
  "invitations.sendMail": "Links per E-Mail senden",
  "invitations.noMail": "Es wird keine E-Mail gesendet: Sie geben die Links selbst weiter.",
  "invitations.setUpMail": "E-Mail einrichten",
  "invitations.send": { one: "Einladung senden", other: "{count} Einladungen senden" },
  "invitations.sendingOf": "Wird gesendet: {at} von {count}…",
  "invitations.sent": "E-Mail gesendet",
  "invitations.allSent": {
    one: "Einladung gesendet. Der Link ist bis {date} gültig, für ein Konto.",
    other: "{count} Einladungen gesendet. Jeder Link ist bis {date} gültig, für ein Konto.",
  },
  "invitations.someSent":
    "{sent} von {count} Einladungen gesendet. Geben Sie die übrigen Links selbst weiter. Jeder Link ist bis {date} gültig, für ein Konto.",
  "invitations.turnedOn": "Die Registrierung auf Einladung ist jetzt aktiviert.",
  "invitations.copy": "Link kopieren",
  "invitations.copyAll": "Alle kopieren",
  "invitations.copyOf": "Link kopieren: {who}",
  "invitations.mail": "E-Mail schreiben",
  "invitations.mailTo": "E-Mail schreiben: {who}",
  "invitations.mailSubject": "Einladung zu Glasshouse",
  "invitations.mailText": "Erstellen Sie hier Ihr Konto: {link}\n\nDer Link ist bis {date} gültig.",
  "invitations.failed": "{email} konnte nicht eingeladen werden: {problem}",
  "invitations.done": "Fertig",
  "invitations.pending": "Offene Einladungen",
  "invitations.paused": "Die Registrierung ist geschlossen, daher funktionieren diese Links derzeit nicht.",
  "invitations.past": {
    one: "{count} verwendet oder abgelaufen",
    other: "{count} verwendet oder abgelaufen",
  },
  "invitations.renew": "Neuer Link",
  "invitations.renewOf": "Neuer Link: {who}",
  "invitations.renewConfirm": "Neuen Link für „{who}“ erstellen? Der aktuelle funktioniert dann nicht mehr.",
  "invitations.renewed": "Neuer Link für {who}, gültig bis {date}:",
  "invitations.anybody": "Alle mit dem Link",
  "invitations.anybodyHint":
    "Alle mit dem Link können ein Konto erstellen, bis er aufgebraucht ist oder abläuft.",
  "invitations.emails": "E-Mail-Adressen",
  "invitations.emailsHint":
    "Mit Kommas, Leerzeichen oder Zeilenumbrüchen trennen. Jede erhält einen Link, den nur diese Adresse nutzen kann.",
  "invitations.used": "verwendet",
  "invitations.uses": "{uses} von {most} verwendet",
  "invitations.until": "bis {date}",
  "invitations.over": "abgelaufen: {date}",
  "invitations.takeBack": "Widerrufen",
  "invitations.takeBackConfirm":
    "Einladung „{who}“ widerrufen? Der Link funktioniert sofort nicht mehr. Damit erstellte Konten bleiben.",

  "signIns.title": "Ihre Anmeldungen",
  "signIns.intro":
    "Nach der Anmeldung nutzen Agenten, die für Sie arbeiten, diese Server in Ihrem Namen. Andere sehen nicht, was Sie dort sehen.",
  "signIns.none": "Hier braucht kein Tool Ihre eigene Anmeldung.",
  "signIns.kind.oauth": "Anmeldung erforderlich",
  "signIns.kind.user_token": "Token erforderlich",
  "signIns.state.signed_out": "nicht angemeldet",
  "signIns.state.lapsed": "Anmeldung abgelaufen",
  "signIns.signIn": "Bei {name} anmelden",
  "signIns.signOut": "Von {name} abmelden",
  "signIns.signOutConfirm":
    "Ihre Anmeldung wird hier entfernt. Agenten können {name} erst nach erneuter Anmeldung wieder für Sie nutzen.",
  "signIns.token": "Ihr Token für {name}",
  "signIns.save": "Speichern",
  "signIns.ended.done": "Sie sind angemeldet.",
  "signIns.ended.unknown":
    "Diese Anmeldung wurde bereits verwendet, hat zu lange gedauert oder wurde woanders begonnen. Versuchen Sie es erneut.",
  "signIns.ended.denied": "Der Server hat den Zugriff verweigert.",
  "signIns.ended.wrong_issuer":
    "Sie kamen von einer unerwarteten Adresse zurück, die Anmeldung wurde daher abgelehnt. Informieren Sie die Administration.",
  "signIns.ended.refused": "Der Server hat die Anmeldung abgelehnt. Versuchen Sie es erneut.",
  "signIns.ended.unreachable": "Der Server ist nicht erreichbar. Versuchen Sie es später erneut.",
  "signIns.ended.signed_out":
    "Melden Sie sich in diesem Browser bei Glasshouse an und versuchen Sie es dann erneut.",
};
