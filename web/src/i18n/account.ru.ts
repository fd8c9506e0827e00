/** Russian for the pages before one is signed in. */
import type { account as en } from "./account.en.ts";
import type { Entry } from "./index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Добро пожаловать в Glasshouse",
  "setup.intro":
    "Сервер агентов со стеклянными стенами: каждый шаг виден в тот момент, когда он происходит. Сначала создайте учётную запись администратора.",
  "setup.submit": "Создать учётную запись",
  "login.title": "Вход",
  "login.submit": "Войти",
  "login.or": "или",
  "login.with": "Войти через {name}",
  "login.problem.unknown": "Этот вход начат в другом браузере или длился слишком долго. Попробуйте ещё раз.",
  "login.problem.denied": "{name} сообщает, что вы не дали согласия. Попробуйте ещё раз.",
  "login.problem.refused":
    "{name} не подтверждает, кто вы. Попробуйте ещё раз; если не поможет, спросите администратора.",
  "login.problem.unreachable": "{name} недоступен. Попробуйте позже.",
  "login.problem.notAllowed": "Вас нет в группах {name}, которым сюда можно. Спросите администратора.",
  "login.problem.noAccount": "У вас здесь ещё нет учётной записи. Попросите её у администратора.",
  "login.problem.addressTaken": "Учётная запись с вашим адресом уже есть. Войдите в неё с паролем.",
  "login.problem.noAddress": "{name} не сообщает ваш адрес почты, а он здесь нужен. Спросите администратора.",
  "login.problem.suspended": "Эта учётная запись приостановлена. Спросите администратора.",
  "login.problem.notSetUp": "Этот сервер ещё не настроен. Первую учётную запись создаёт его администратор.",
};
