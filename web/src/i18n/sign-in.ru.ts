/** Russian texts for sign-in settings. */
import type { signIn as en } from "./sign-in.en.ts";
import type { Entry } from "./index.svelte.ts";

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
  "sessions.this": "этот",
  "sessions.began": "начат {date}",
  "sessions.from": "с адреса {address}",
  "sessions.used": "последнее действие {date}",
  "sessions.end": "Завершить",
  "sessions.endOf": "Завершить: {device}",
  "sessions.endConfirm": "Завершить сеанс «{device}»? Всё, что там открыто, сразу закроется.",
  "sessions.endOthers": "Выйти везде, кроме этого браузера",
  "sessions.endOthersConfirm":
    "Все другие ваши сеансы завершатся сразу, вместе со всем, что в них открыто. Ключи останутся как есть.",
  "sessions.endAll": "Выйти везде",
  "sessions.endAllConfirm": "Завершатся все ваши сеансы, и этот тоже. Ключи останутся как есть.",
  "sessions.ended": "Другие сеансы завершены.",

  "reset.title": "Новый пароль",
  "reset.over": "Эта ссылка уже использована или устарела. Попросите у администратора другую.",
  "reset.done": "Пароль изменён. Войдите с ним.",
  "reset.make": "Новый пароль",
  "reset.makeOf": "Новый пароль: {name}",
  "reset.made": "По этой ссылке {name} один раз выбирает новый пароль, до {date}. Она видна только сейчас.",

  "signUp.title": "Новая учётная запись",
  "signUp.submit": "Создать учётную запись",
  "signUp.closed": "Без приглашения учётную запись здесь не создать. Попросите его у администратора.",
  "signUp.over":
    "Приглашение уже использовано, устарело, отозвано или выдано на другой адрес. Попросите новое.",
  "signUp.taken": "С этим паролем войти нельзя. Если учётная запись у вас уже есть, войдите с её паролем.",
  "signUp.toLogin": "Войти",
  "signUp.link": "Создать учётную запись",
  "signUp.who": "Кто может создать себе учётную запись",
  "signUp.closedMode": "Никто",
  "signUp.closedText": "Учётные записи создают администраторы. Приглашения не действуют.",
  "signUp.invitationMode": "Кого пригласили",
  "signUp.invitationText": "По ссылке, которую вы пришлёте.",
  "signUp.openMode": "Все",
  "signUp.openText":
    "Каждый, кому доступен сервер. Каждая запись стоит столько, сколько её запуски: задайте лимиты.",

  "invitations.title": "Приглашения",
  "invitations.email": "Только для этого адреса",
  "invitations.emailHint": "Пусто: для всех, у кого есть ссылка",
  "invitations.most": "Сколько записей",
  "invitations.days": "Сколько дней действует",
  "invitations.create": "Создать ссылку",
  "invitations.made": "Отправьте эту ссылку. Она видна только сейчас.",
  "invitations.anybody": "Все, у кого есть ссылка",
  "invitations.used": "использовано",
  "invitations.uses": "использовано: {uses} из {most}",
  "invitations.until": "до {date}",
  "invitations.over": "устарело {date}",
  "invitations.takeBack": "Отозвать",
  "invitations.takeBackConfirm":
    "Отозвать приглашение «{who}»? Ссылка сразу перестанет работать. Уже созданные учётные записи останутся.",

  "signIns.title": "Ваши входы",
  "signIns.intro":
    "Когда вы войдёте, агенты, работающие для вас, будут пользоваться этими серверами от вашего имени. Другие не увидят того, что видите там вы.",
  "signIns.kind.oauth": "вход на самом сервере",
  "signIns.kind.user_token": "вход по вашему токену",
  "signIns.state.signed_out": "вход не выполнен",
  "signIns.state.lapsed": "срок входа истёк",
  "signIns.signIn": "Войти в {name}",
  "signIns.signOut": "Выйти из {name}",
  "signIns.signOutConfirm":
    "Ваш вход будет забыт. Пока вы не войдёте снова, агенты не смогут пользоваться {name} от вашего имени.",
  "signIns.token": "Ваш токен для {name}",
  "signIns.save": "Сохранить",
  "signIns.ended.done": "Вход выполнен.",
  "signIns.ended.unknown":
    "Этот вход уже использован, занял слишком много времени или начат в другом месте. Начните заново.",
  "signIns.ended.denied": "Вас не впустили: сервер сообщает, что доступ не разрешён.",
  "signIns.ended.wrong_issuer":
    "Вы вернулись не с того адреса, на который вас отправили, поэтому вход отклонён. Сообщите администратору.",
  "signIns.ended.refused": "Сервер не принял вход. Начните заново.",
  "signIns.ended.unreachable": "Сервер недоступен. Попробуйте позже.",
  "signIns.ended.signed_out":
    "Нужно войти в Glasshouse в том браузере, в который вы возвращаетесь. Начните заново.",
};
