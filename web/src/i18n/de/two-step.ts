/** German texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "Zwei-Faktor-Anmeldung",
  "twoStep.intro":
    "Nach dem Passwort geben Sie einen Code aus einer Authenticator-App wie Aegis, Google Authenticator oder 1Password ein. Wer Ihr Passwort erfährt, kann sich damit allein nicht anmelden. API-Schlüssel funktionieren wie bisher.",
  "twoStep.begin": "Einrichten",
  "twoStep.beginText":
    "Sie brauchen ein Smartphone mit einer Authenticator-App. Bestätigen Sie zuerst Ihr Passwort:",
  "twoStep.next": "Weiter",
  "twoStep.scan": "Scannen Sie dies mit der App und geben Sie dann den angezeigten Code ein.",
  "twoStep.qr": "QR-Code für die App",
  "twoStep.type": "Oder geben Sie dies in der App ein:",
  "twoStep.code": "Code aus der App",
  "twoStep.codeHint": "Sechs Ziffern",
  "twoStep.wrong":
    "Falscher Code. Warten Sie auf den nächsten und prüfen Sie, ob die Uhr Ihres Smartphones richtig geht.",
  "twoStep.turnOn": "Aktivieren",
  "twoStep.onSince": "Aktiv seit {date}.",
  "twoStep.left": {
    one: "Noch {count} Wiederherstellungscode übrig.",
    other: "Noch {count} Wiederherstellungscodes übrig.",
  },
  "twoStep.renew": "Neue Wiederherstellungscodes",
  "twoStep.renewText": "Sie erhalten zehn neue Codes. Die alten funktionieren nicht mehr.",
  "twoStep.end": "Zwei-Faktor-Anmeldung deaktivieren",
  "twoStep.endText":
    "Sie melden sich dann nur mit Ihrem Passwort an. App-Codes und Wiederherstellungscodes funktionieren nicht mehr.",
  "twoStep.isOff": "Die Zwei-Faktor-Anmeldung ist deaktiviert.",
  "twoStep.noPassword":
    "Sie melden sich über einen Anbieter an und haben hier kein Passwort. Richten Sie den zweiten Faktor dort ein.",
  "twoStep.recoveryText":
    "Die Zwei-Faktor-Anmeldung ist aktiv. Bewahren Sie diese Wiederherstellungscodes so auf, dass Sie ohne Ihr Smartphone darankommen: Jeder ersetzt einmal einen App-Code. Sie werden nur jetzt angezeigt.",
  "twoStep.copyCodes": "Alle kopieren",
  "twoStep.kept": "Ich habe sie gespeichert",
  "twoStep.enter": "Noch ein Schritt",
  "twoStep.recoveryCode": "Wiederherstellungscode",
  "twoStep.recoveryCodeHint": "Sechzehn Buchstaben und Ziffern; jeder gilt einmal",
  "twoStep.submit": "Weiter",
  "twoStep.used": "Der Code ist falsch oder wurde bereits verwendet.",
  "twoStep.lost": "Wiederherstellungscode verwenden",
  "twoStep.useApp": "App verwenden",
  "twoStep.startOver": "Von vorn beginnen",
  "twoStep.has": "Zwei-Faktor-Anmeldung",
  "twoStep.endOfConfirm":
    "{name} kann sich dann nur mit dem Passwort anmelden. Vergewissern Sie sich, dass die Bitte wirklich von {name} kommt. Alle Sitzungen von {name} werden beendet.",
};
