/** Portuguese texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "E-mail",
  "mail.intro":
    "Os convites e os links de redefinição de senha são enviados por SMTP, pelo seu próprio servidor de e-mail.",
  "mail.server": "Servidor de e-mail",
  "mail.serverHint": "Usa a porta {port}. Para usar outra, acrescente-a: {example}",
  "mail.serverProblem": "Informe um nome de host como smtp.example.org, com ou sem porta.",
  "mail.security": "Criptografia",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "Nenhuma",
  "mail.clearText":
    "A senha e os links são enviados sem criptografia. Use apenas com um servidor na mesma máquina ou rede.",
  "mail.user": "Nome de usuário",
  "mail.userHint": "Deixe em branco se o servidor não exigir login.",
  "mail.passwordProblem": "Informe a senha deste usuário.",
  "mail.from": "Remetente",
  "mail.fromHint": "Um endereço de e-mail, com ou sem nome.",
  "mail.fromProblem": "Informe um endereço como ai@example.org ou Glasshouse <ai@example.org>.",
  "mail.test": "Enviar e-mail de teste",
  "mail.testing": "Enviando…",
  "mail.tested": "E-mail de teste enviado para {email}. Verifique se ele chega.",
  "mail.turnOff": "Desativar",
  "mail.turnedOff": "E-mail desativado",
};
