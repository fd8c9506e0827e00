/** German texts for shared chats and collections, and for administrator access. */
import type { sharing as en } from "../en/sharing.ts";
import type { Entry } from "../index.svelte.ts";

export const sharing: Record<keyof typeof en, Entry> = {
  "share.open": "Chat teilen",
  "share.intro":
    "Personen, mit denen Sie teilen, sehen den ganzen Chat: Nachrichten, Schritte, Tools und Dateien. Wer antworten darf, kann auch darin schreiben.",
  "share.all": "Alle auf diesem Server mit dem Link",
  "share.allHint": "Alle mit einem Konto auf diesem Server, die den Link öffnen.",
  "share.copy": "Link kopieren",
  "share.people": "Personen",
  "share.email": "E-Mail-Adresse",
  "share.add": "Teilen",
  "share.added": "Mit {name} geteilt",
  "share.remove": "Nicht mehr teilen",
  "share.removeOf": "Nicht mehr mit {name} teilen",
  "share.removeConfirm": "Nicht mehr mit {name} teilen? Dieser Chat ist dann für {name} nicht mehr lesbar.",
  "share.files": "Die Dateien liegen in einem Ordner auf dem Server, den andere nicht sehen können.",
  "shared.title": "Mit mir geteilt",
  "shared.of": "Geteilt von {name}",
  "share.mayReply": "Kann antworten",
  "share.mayRead": "Kann lesen",
  "share.rights": "Zugriff für {name}",
  "share.rightsOfNew": "Zugriff",
  "share.replyHint":
    "Wer antworten kann, nutzt Ihre Modelle, Tools, Dateien und Limits. Nur Sie können Aufrufe genehmigen und Antworten stoppen.",
  "shared.byWritable": "Geteilt von {name} ({email}) · Sie können antworten",
  "shared.by": "Geteilt von {name} ({email}) · schreibgeschützt",
  "shared.waiting": "Wartet auf {name}",
  "shared.notAnswerable": "Nur {name} kann darauf antworten.",
  "moderation.note": "Admins können hier Chats lesen. Jeder Zugriff wird protokolliert.",
  "moderation.chats": "Chats",
  "moderation.chatsOf": "Chats von {name}",
  "moderation.noted": "Ihr Zugriff wird im Audit-Protokoll festgehalten.",
  "moderation.none": "Keine Chats",
  "collectionShare.open": "Teilen",
  "collectionShare.title": "„{name}“ teilen",
  "collectionShare.intro":
    "Diese Personen können die Sammlung durchsuchen und lesen, aber nicht ändern. Änderungen gelten sofort.",
  "collectionShare.introAdmin": "Sie ändern dies als Admin. Das wird im Audit-Protokoll festgehalten.",
  "collectionShare.all": "Alle auf diesem Server",
  "collectionShare.allHint": "Alle mit einem Konto auf diesem Server.",
  "collectionShare.groups": "Gruppen",
  "collectionShare.noGroups": "Keine Gruppen zur Auswahl",
  "collectionShare.removeConfirm":
    "Nicht mehr mit {name} teilen? Diese Dokumente können dann nicht mehr durchsucht oder gelesen werden.",
  "collectionShare.closeConfirm":
    "Sie können diese Sammlung nur lesen, weil sie mit Ihnen geteilt ist. Endet das, kann nur die Person, der sie gehört, sie wieder mit Ihnen teilen.",
  "collectionShare.is": "Geteilt",
};
