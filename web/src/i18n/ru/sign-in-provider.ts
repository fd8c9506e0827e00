/** Russian texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "Провайдер входа",
  "signInProvider.intro":
    "Позволяет входить с уже имеющейся учётной записью через OpenID Connect. Вход по паролю тоже остаётся.",
  "signInProvider.setUp": "Настроить",
  "signInProvider.setUpTitle": "Настройка провайдера входа",
  "signInProvider.editTitle": "Провайдер входа",
  "signInProvider.clientIdOf": "ID клиента: {id}",
  "signInProvider.preset": "Провайдер",
  "signInProvider.other": "Другой",
  "signInProvider.hint.entra":
    "Если групп больше 200, Entra ID не включает их в токен. На этот случай задайте URL групп в разделе «Дополнительно».",
  "signInProvider.hint.google": "Google не передаёт группы.",
  "signInProvider.hint.keycloak": "Keycloak передаёт все группы пользователя.",
  "signInProvider.hint.okta":
    "В Okta вход не удаётся, если под утверждение с группами подходит больше 100 групп: отфильтруйте их там.",
  "signInProvider.hint.authentik":
    "authentik передаёт все группы пользователя. Косая черта в конце — часть издателя.",
  "signInProvider.redirect": "Адрес перенаправления",
  "signInProvider.redirectHint": "Укажите его у провайдера, в настройках конфиденциального веб-клиента.",
  "signInProvider.issuer": "Издатель (issuer)",
  "signInProvider.issuerHint": "В точности как его пишет провайдер.",
  "signInProvider.placeholder": "Замените {text} своим значением.",
  "signInProvider.clientId": "ID клиента",
  "signInProvider.clientSecret": "Секрет клиента",
  "signInProvider.secretHint": "Для публичного клиента оставьте пустым.",
  "signInProvider.secretMoved":
    "Сохранённый секрет не отправляется на другой хост. Введите секрет этого провайдера.",
  "signInProvider.removeSecret": "Удалить сохранённый секрет клиента",
  "signInProvider.name": "Название на кнопке",
  "signInProvider.advanced": "Дополнительно",
  "signInProvider.scopes": "Области доступа (scopes)",
  "signInProvider.scopesHint": "Через пробел. Некоторые провайдеры передают группы только с областью groups.",
  "signInProvider.groupsClaim": "Утверждение (claim) с группами",
  "signInProvider.groupsClaimHint": "Точка ведёт во вложенное утверждение: realm_access.roles.",
  "signInProvider.groupsUrl": "URL групп",
  "signInProvider.groupsUrlHint":
    "Отсюда запрашиваются группы, которых нет в токене. Для Entra ID нужны также области User.Read и GroupMember.Read.All.",
  "signInProvider.adminGroups": "Группы администраторов",
  "signInProvider.adminGroupsHint":
    "По одной в строке. При каждом входе их участники становятся администраторами, остальные — обычными пользователями. Оставьте пустым, чтобы назначать администраторов здесь.",
  "signInProvider.allowedGroups": "Допущенные группы",
  "signInProvider.allowedGroupsHint":
    "По одной в строке. Войти могут только их участники и участники групп администраторов. Оставьте пустым, чтобы допустить всех пользователей провайдера.",
  "signInProvider.createAccounts": "Создавать учётные записи при первом входе",
  "signInProvider.createAccountsHint": "Иначе пользователей заранее добавляют администраторы.",
  "signInProvider.linkByEmail": "Связывать с имеющимися учётными записями по адресу почты",
  "signInProvider.linkByEmailHint":
    "Только если провайдер проверяет адреса: кто получит у него адрес, получит и учётную запись.",
  "signInProvider.newIssuer":
    "Пользователи узнаются по их ID у этого издателя. У другого они станут новыми, если не включить связывание по адресу почты.",
  "signInProvider.works": "Работает. Вход — на {host}.",
  "signInProvider.turnOff": "Выключить",
  "signInProvider.turnOffTitle": "Выключить провайдера входа",
  "signInProvider.turnOffStay": "Уже вошедшие остаются в системе до конца своих сеансов.",
  "signInProvider.turnOffWho":
    "После этого не смогут войти те, у кого нет ни пароля, ни ключа доступа. Чтобы дать пользователю пароль, выберите «Сбросить пароль» в его действиях.",
  "signInProvider.turnOffYou": "У вас самих нет ни того, ни другого. Сначала создайте ссылку для себя.",
  "signInProvider.turnedOff": "Провайдер входа выключен",
};
