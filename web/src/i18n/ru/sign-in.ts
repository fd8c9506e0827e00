/** Russian texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Сеансы",
  "sessions.intro": {
    one: "Где вы вошли. Сеанс заканчивается через {count} час после начала.",
    few: "Где вы вошли. Сеанс заканчивается через {count} часа после начала.",
    many: "Где вы вошли. Сеанс заканчивается через {count} часов после начала.",
    other: "Где вы вошли. Сеанс заканчивается через {count} часа после начала.",
  },
  "sessions.on": "{browser}, {system}",
  "sessions.unknown": "Неизвестный браузер",
  "sessions.this": "этот браузер",
  "sessions.began": "начат {date}",
  "sessions.from": "с адреса {address}",
  "sessions.used": "последняя активность {date}",
  "sessions.end": "Завершить",
  "sessions.endOf": "Завершить: {device}",
  "sessions.endConfirm": "Завершить сеанс «{device}»? Всё, что там открыто, сразу закроется.",
  "sessions.endOthers": "Выйти на других устройствах",
  "sessions.endOthersConfirm": "Все другие ваши сеансы сразу завершатся. Ключи API продолжат работать.",
  "sessions.endAll": "Выйти везде",
  "sessions.endAllConfirm": "Все ваши сеансы сразу завершатся, включая этот. Ключи API продолжат работать.",
  "sessions.ended": "Другие сеансы завершены.",

  "reset.title": "Новый пароль",
  "reset.over": "Ссылка устарела или уже использована. Попросите у администратора новую.",
  "reset.done": "Пароль изменён. Теперь можно войти.",
  "reset.make": "Сбросить пароль",
  "reset.makeOf": "Сбросить пароль: {name}",
  "reset.made":
    "Отправьте эту ссылку: по ней {name} выберет новый пароль. Она действует один раз, до {date}, и видна только сейчас.",

  "signUp.title": "Новая учётная запись",
  "signUp.submit": "Создать учётную запись",
  "signUp.closed": "Чтобы создать учётную запись, нужно приглашение. Обратитесь к администратору.",
  "signUp.over":
    "Приглашение уже использовано, устарело, отозвано или выдано на другой адрес. Попросите новое.",
  "signUp.taken": "Не удалось войти с этим паролем. Если учётная запись уже есть, используйте её пароль.",
  "signUp.toLogin": "Войти",
  "signUp.link": "Создать учётную запись",
  "signUp.who": "Регистрация",
  "signUp.closedMode": "Закрыта",
  "signUp.closedText": "Учётные записи создают только администраторы; приглашения приостановлены.",
  "signUp.invitationMode": "По приглашению",
  "signUp.invitationText": "По вашей ссылке.",
  "signUp.openMode": "Открыта",
  "signUp.openText":
    "Для всех, кому доступен сервер. Каждая учётная запись расходует ваши средства: задайте лимиты.",

  "invitations.title": "Приглашения",
  "invitations.email": "Только для почты",
  "invitations.emailHint": "Пусто — для всех, у кого есть ссылка",
  "invitations.most": "Максимум учётных записей",
  "invitations.days": "Срок действия, дней",
  "invitations.create": "Создать ссылку",
  "invitations.made": "Отправьте эту ссылку. Она видна только сейчас.",
  "invitations.anybody": "Все, у кого есть ссылка",
  "invitations.used": "использовано",
  "invitations.uses": "использовано: {uses} из {most}",
  "invitations.until": "до {date}",
  "invitations.over": "истекло {date}",
  "invitations.takeBack": "Отозвать",
  "invitations.takeBackConfirm":
    "Отозвать приглашение «{who}»? Ссылка сразу перестанет работать. Уже созданные учётные записи останутся.",

  "signIns.title": "Ваши входы",
  "signIns.intro":
    "Когда вы войдёте, ваши агенты будут работать с этими серверами от вашего имени. Другие не увидят того, что видите там вы.",
  "signIns.none": "Ни одному инструменту здесь не нужен ваш вход.",
  "signIns.kind.oauth": "нужен ваш вход",
  "signIns.kind.user_token": "нужен ваш токен",
  "signIns.state.signed_out": "вход не выполнен",
  "signIns.state.lapsed": "срок входа истёк",
  "signIns.signIn": "Войти в {name}",
  "signIns.signOut": "Выйти из {name}",
  "signIns.signOutConfirm":
    "Ваш вход будет удалён. Пока вы не войдёте снова, агенты не смогут работать с {name} от вашего имени.",
  "signIns.token": "Ваш токен для {name}",
  "signIns.save": "Сохранить",
  "signIns.ended.done": "Вход выполнен.",
  "signIns.ended.unknown":
    "Этот вход уже использован, занял слишком много времени или начат в другом месте. Начните заново.",
  "signIns.ended.denied": "Сервер отказал в доступе.",
  "signIns.ended.wrong_issuer":
    "Вы вернулись с неожиданного адреса, поэтому вход отклонён. Сообщите администратору.",
  "signIns.ended.refused": "Сервер отклонил вход. Попробуйте ещё раз.",
  "signIns.ended.unreachable": "Сервер недоступен. Попробуйте позже.",
  "signIns.ended.signed_out": "Войдите в Glasshouse в этом браузере и попробуйте ещё раз.",
};
