/** French texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "E-mail",
  "mail.intro":
    "Les invitations et les liens de réinitialisation de mot de passe sont envoyés par SMTP, via votre propre serveur de messagerie.",
  "mail.server": "Serveur de messagerie",
  "mail.serverHint": "Port {port} par défaut. Pour en utiliser un autre, ajoutez-le : {example}",
  "mail.serverProblem": "Saisissez un nom d’hôte tel que smtp.example.org, avec ou sans port.",
  "mail.security": "Chiffrement",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "Aucun",
  "mail.clearText":
    "Le mot de passe et les liens sont transmis en clair. À réserver à un serveur sur la même machine ou le même réseau.",
  "mail.user": "Nom d’utilisateur",
  "mail.userHint": "Laissez vide si le serveur ne demande pas de connexion.",
  "mail.passwordProblem": "Saisissez le mot de passe de cet utilisateur.",
  "mail.from": "Expéditeur",
  "mail.fromHint": "Une adresse e-mail, avec ou sans nom.",
  "mail.fromProblem": "Saisissez une adresse telle que ai@example.org ou Glasshouse <ai@example.org>.",
  "mail.test": "Envoyer un e-mail de test",
  "mail.testing": "Envoi…",
  "mail.tested": "E-mail de test envoyé à {email}. Vérifiez qu’il arrive.",
  "mail.turnOff": "Désactiver",
  "mail.turnedOff": "E-mail désactivé",
};
