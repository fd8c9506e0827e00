/** Spanish texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "Correo",
  "mail.intro":
    "Las invitaciones y los enlaces para restablecer contraseñas se envían por SMTP a través de tu propio servidor de correo.",
  "mail.server": "Servidor de correo",
  "mail.serverHint": "Usa el puerto {port}. Para usar otro, añádelo: {example}",
  "mail.serverProblem": "Introduce un nombre de host como smtp.example.org, con o sin puerto.",
  "mail.security": "Cifrado",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "Ninguno",
  "mail.clearText":
    "La contraseña y los enlaces se envían sin cifrar. Úsalo solo con un servidor del mismo equipo o de la misma red.",
  "mail.user": "Nombre de usuario",
  "mail.userHint": "Déjalo vacío si el servidor no requiere iniciar sesión.",
  "mail.passwordProblem": "Introduce la contraseña de este usuario.",
  "mail.from": "Remitente",
  "mail.fromHint": "Una dirección de correo, con o sin nombre.",
  "mail.fromProblem": "Introduce una dirección como ai@example.org o Glasshouse <ai@example.org>.",
  "mail.test": "Enviar correo de prueba",
  "mail.testing": "Enviando…",
  "mail.tested": "Correo de prueba enviado a {email}. Comprueba que llegue.",
  "mail.turnOff": "Desactivar",
  "mail.turnedOff": "Correo desactivado",
};
