/** Russian texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "Двухфакторный вход",
  "twoStep.intro":
    "После пароля нужно ввести код из приложения-аутентификатора: Aegis, Google Authenticator, 1Password и других. Тот, кто узнал ваш пароль, всё равно не войдёт. Ключи API работают как раньше.",
  "twoStep.begin": "Настроить",
  "twoStep.beginText": "Понадобится телефон с приложением-аутентификатором. Сначала подтвердите пароль:",
  "twoStep.next": "Продолжить",
  "twoStep.scan": "Отсканируйте это приложением, затем введите код, который оно покажет.",
  "twoStep.qr": "QR-код для приложения",
  "twoStep.type": "Или введите в приложение:",
  "twoStep.code": "Код из приложения",
  "twoStep.codeHint": "Шесть цифр",
  "twoStep.wrong": "Неверный код. Дождитесь следующего и проверьте часы телефона.",
  "twoStep.turnOn": "Включить",
  "twoStep.onSince": "Включён {date}.",
  "twoStep.left": {
    one: "Остался {count} резервный код.",
    few: "Осталось {count} резервных кода.",
    many: "Осталось {count} резервных кодов.",
    other: "Осталось {count} резервного кода.",
  },
  "twoStep.renew": "Новые резервные коды",
  "twoStep.renewText": "Вы получите десять новых кодов. Прежние перестанут действовать.",
  "twoStep.end": "Выключить двухфакторный вход",
  "twoStep.endText":
    "Для входа хватит одного пароля. Коды приложения и резервные коды перестанут действовать.",
  "twoStep.isOff": "Двухфакторный вход выключен.",
  "twoStep.noPassword":
    "Вы входите через провайдера, и пароля здесь у вас нет. Второй фактор настраивается там.",
  "twoStep.recoveryText":
    "Двухфакторный вход включён. Храните резервные коды там, где найдёте их без телефона: каждый один раз заменяет код из приложения. Они видны только сейчас.",
  "twoStep.copyCodes": "Скопировать все",
  "twoStep.kept": "Коды сохранены",
  "twoStep.enter": "Ещё один шаг",
  "twoStep.recoveryCode": "Резервный код",
  "twoStep.recoveryCodeHint": "Шестнадцать букв и цифр; каждый код действует один раз",
  "twoStep.submit": "Продолжить",
  "twoStep.used": "Код неверен или уже использован.",
  "twoStep.lost": "Ввести резервный код",
  "twoStep.useApp": "Ввести код из приложения",
  "twoStep.startOver": "Начать заново",
  "twoStep.has": "двухфакторный вход",
  "twoStep.endOfConfirm":
    "{name} сможет войти с одним паролем. Убедитесь, что вас просит действительно {name}. Все сеансы этой учётной записи завершатся.",
};
