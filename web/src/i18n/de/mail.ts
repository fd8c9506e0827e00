/** German texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "E-Mail",
  "mail.intro":
    "Einladungen und Links zum Zurücksetzen von Passwörtern werden per SMTP über Ihren eigenen Mailserver versendet.",
  "mail.server": "Mailserver",
  "mail.serverHint": "Nutzt Port {port}. Für einen anderen hängen Sie ihn an: {example}",
  "mail.serverProblem": "Geben Sie einen Hostnamen wie smtp.example.org ein, mit oder ohne Port.",
  "mail.security": "Verschlüsselung",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "Keine",
  "mail.clearText":
    "Das Passwort und die Links werden unverschlüsselt übertragen. Nur für einen Server auf demselben Rechner oder im selben Netz verwenden.",
  "mail.user": "Benutzername",
  "mail.userHint": "Leer lassen, wenn der Server keine Anmeldung verlangt.",
  "mail.passwordProblem": "Geben Sie das Passwort dieses Benutzers ein.",
  "mail.from": "Absender",
  "mail.fromHint": "Eine E-Mail-Adresse, mit oder ohne Namen.",
  "mail.fromProblem": "Geben Sie eine Adresse wie ai@example.org oder Glasshouse <ai@example.org> ein.",
  "mail.test": "Test-E-Mail senden",
  "mail.testing": "Wird gesendet…",
  "mail.tested": "Test-E-Mail an {email} gesendet. Prüfen Sie, ob sie ankommt.",
  "mail.turnOff": "Deaktivieren",
  "mail.turnedOff": "E-Mail deaktiviert",
};
