/** Russian texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "Ключи доступа",
  "passkeys.intro":
    "Входите по отпечатку пальца, лицу или PIN-коду устройства, без пароля и кода. Ключ доступа нельзя подобрать или выманить. Пароль продолжает действовать.",
  "passkeys.name": "Название",
  "passkeys.nameHint": "Например: телефон, ключ безопасности",
  "passkeys.make": "Добавить ключ доступа",
  "passkeys.makeText": "Подтвердите пароль. Затем браузер спросит, где сохранить ключ доступа.",
  "passkeys.made": "Ключ доступа добавлен. Теперь с ним можно входить.",
  "passkeys.madeAt": "Создан {date} для {host}",
  "passkeys.used": "последний вход {date}",
  "passkeys.unused": "ещё не использован",
  "passkeys.copied": "Возможно, этот ключ был скопирован, поэтому он отключён. Удалите его.",
  "passkeys.remove": "Удалить ключ доступа",
  "passkeys.removeConfirm":
    "Удалить «{name}»? Войти с ним будет нельзя. Удалите его и на устройстве, иначе оно будет его предлагать.",
  "passkeys.known": "На этом устройстве уже есть ваш ключ доступа для этого сервера.",
  "passkeys.notMade":
    "Ключ доступа не добавлен: операция отменена, время истекло или устройство его не поддерживает.",
  "passkeys.notHere": "Для ключей доступа нужен поддерживаемый браузер и HTTPS с именем хоста или localhost.",
  "passkeys.logIn": "Войти с ключом доступа",
  "passkeys.notUsed":
    "Ключ доступа не использован: операция отменена, время истекло или на этом устройстве его нет.",
  "passkeys.wrong": "Этот ключ доступа здесь больше не действует. Войдите с паролем и проверьте свои ключи.",
  "passkeys.has": "ключи доступа",
  "passkeys.removeShort": "Удалить ключи",
  "passkeys.removeOfConfirm":
    "{name} сможет входить с паролем и создавать новые ключи доступа. Все сеансы {name} завершатся.",
};
