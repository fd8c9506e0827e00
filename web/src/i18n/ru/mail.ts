/** Russian texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "Почта",
  "mail.intro": "Приглашения и ссылки для сброса пароля отправляются через ваш почтовый сервер по SMTP.",
  "mail.server": "Почтовый сервер",
  "mail.serverHint": "Порт {port}. Чтобы указать другой, допишите его: {example}",
  "mail.serverProblem": "Введите имя хоста, например smtp.example.org, с портом или без.",
  "mail.security": "Шифрование",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "Без шифрования",
  "mail.clearText":
    "Пароль и ссылки передаются без шифрования. Только для сервера на этой же машине или в её сети.",
  "mail.user": "Имя пользователя",
  "mail.userHint": "Оставьте пустым, если сервер не требует входа.",
  "mail.passwordProblem": "Введите пароль этого пользователя.",
  "mail.from": "Отправитель",
  "mail.fromHint": "Адрес почты, с именем или без.",
  "mail.fromProblem": "Введите адрес, например ai@example.org или Glasshouse <ai@example.org>.",
  "mail.test": "Отправить тестовое письмо",
  "mail.testing": "Отправляется…",
  "mail.tested": "Тестовое письмо отправлено на {email}. Проверьте, что оно дошло.",
  "mail.turnOff": "Отключить",
  "mail.turnedOff": "Почта отключена",
};
