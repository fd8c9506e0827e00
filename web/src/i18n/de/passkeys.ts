/** German texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "Passkeys",
  "passkeys.intro":
    "Melden Sie sich per Fingerabdruck, Gesicht oder Geräte-PIN statt mit Passwort und Code an. Ein Passkey lässt sich weder erraten noch per Phishing stehlen. Ihr Passwort funktioniert weiterhin.",
  "passkeys.name": "Name",
  "passkeys.nameHint": "Zum Beispiel: Smartphone, Sicherheitsschlüssel",
  "passkeys.make": "Passkey hinzufügen",
  "passkeys.makeText":
    "Bestätigen Sie Ihr Passwort. Ihr Browser fragt dann, wo der Passkey gespeichert werden soll.",
  "passkeys.made": "Passkey hinzugefügt. Sie können sich jetzt damit anmelden.",
  "passkeys.madeAt": "Erstellt am {date} für {host}",
  "passkeys.used": "zuletzt genutzt: {date}",
  "passkeys.unused": "nie genutzt",
  "passkeys.copied": "Dieser Passkey wurde möglicherweise kopiert und ist deaktiviert. Entfernen Sie ihn.",
  "passkeys.remove": "Passkey entfernen",
  "passkeys.removeConfirm":
    "„{name}“ entfernen? Die Anmeldung damit ist dann nicht mehr möglich. Löschen Sie ihn auch auf dem Gerät, sonst bietet es ihn weiter an.",
  "passkeys.known": "Dieses Gerät hat bereits Ihren Passkey für diesen Server.",
  "passkeys.notMade":
    "Passkey nicht hinzugefügt: Der Vorgang wurde abgebrochen, hat zu lange gedauert oder wird von diesem Gerät nicht unterstützt.",
  "passkeys.notHere":
    "Passkeys brauchen einen unterstützten Browser und HTTPS mit einem Hostnamen, oder localhost.",
  "passkeys.logIn": "Mit Passkey anmelden",
  "passkeys.notUsed":
    "Passkey nicht verwendet: Der Vorgang wurde abgebrochen, hat zu lange gedauert oder der Passkey ist nicht auf diesem Gerät.",
  "passkeys.wrong":
    "Dieser Passkey funktioniert hier nicht mehr. Melden Sie sich mit Ihrem Passwort an und prüfen Sie Ihre Passkeys.",
  "passkeys.has": "Passkeys",
  "passkeys.removeShort": "Passkeys entfernen",
  "passkeys.removeOfConfirm":
    "{name} kann sich dann mit dem Passwort anmelden und neue Passkeys hinzufügen. Alle Sitzungen von {name} werden beendet.",
};
