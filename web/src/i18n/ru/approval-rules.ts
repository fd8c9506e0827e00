/** Russian texts for the administrator's approval rules. */
import type { approvalRules as en } from "../en/approval-rules.ts";
import type { Entry } from "../index.svelte.ts";

export const approvalRules: Record<keyof typeof en, Entry> = {
  "approvalRules.title": "Правила подтверждения",
  "approvalRules.intro":
    "Какие вызовы инструментов выполняются, требуют подтверждения или отклоняются — для всех. Действует первое подходящее правило; если такого нет — настройка самого инструмента.",
  "approvalRules.none": "Правил пока нет. Действуют настройки самих инструментов.",
  "approvalRules.add": "Добавить правило",
  "approvalRules.addTitle": "Новое правило подтверждения",
  "approvalRules.editTitle": "Правило {number}",
  "approvalRules.edit": "Изменить правило {number}",
  "approvalRules.up": "Переместить правило {number} выше",
  "approvalRules.down": "Переместить правило {number} ниже",
  "approvalRules.remove": "Удалить правило {number}",
  "approvalRules.moved": "Правило теперь на месте {number} из {total}.",
  "approvalRules.removed": "Правило удалено",
  "approvalRules.changedElsewhere":
    "Правила тем временем изменил кто-то ещё. Проверьте их и попробуйте снова.",
  "approvalRules.tool": "Инструмент",
  "approvalRules.choose": "Выберите инструмент…",
  "approvalRules.everyTool": "любого инструмента",
  "approvalRules.general": "Несколько инструментов",
  "approvalRules.anyTool": "Все инструменты",
  "approvalRules.allOf": "Все инструменты сервера {server}",
  "approvalRules.byPattern": "По шаблону…",
  "approvalRules.pattern": "Шаблон имени инструмента",
  "approvalRules.patternHint":
    "Звёздочка (*) заменяет любой текст: *delete* — все инструменты, в имени которых есть «delete».",
  "approvalRules.conditions": "Только если подходят аргументы",
  "approvalRules.conditionsHint":
    "Должны выполняться все условия. Без условий правило действует для любого вызова. Звёздочка (*) заменяет любой текст.",
  "approvalRules.harmless":
    "В разрешающих правилах звёздочка не заменяет переводы строк, операторы оболочки (например, ; | & и $) и «..».",
  "approvalRules.argument": "Аргумент",
  "approvalRules.value": "Шаблон",
  "approvalRules.addCondition": "Добавить условие",
  "approvalRules.removeCondition": "Удалить условие {number}",
  "approvalRules.noName": "Введите имя аргумента.",
  "approvalRules.noPattern": "Введите шаблон, например /site/*.",
  "approvalRules.twice": "Для этого аргумента уже есть условие.",
  "approvalRules.tooLong": "Слишком длинный шаблон.",
  "approvalRules.then": "Действие",
  "approvalRules.allow": "Разрешать",
  "approvalRules.allowHint": "Вызов выполняется без вопросов.",
  "approvalRules.ask": "Спрашивать",
  "approvalRules.askHint": "Пользователь подтверждает вызов и может разрешить такие вызовы навсегда.",
  "approvalRules.ask_each_time": "Спрашивать каждый раз",
  "approvalRules.ask_each_timeHint": "Пользователь подтверждает каждый вызов.",
  "approvalRules.deny": "Отклонять",
  "approvalRules.denyHint": "Вызов не выполняется, модель получает ошибку.",
  "approvalRules.allowSentence": "Разрешать вызовы {tool}",
  "approvalRules.askSentence": "Спрашивать перед вызовом {tool}",
  "approvalRules.ask_each_timeSentence": "Каждый раз спрашивать перед вызовом {tool}",
  "approvalRules.denySentence": "Отклонять вызовы {tool}",
  "approvalRules.when": "{sentence}, если {conditions}",
  "approvalRules.is": "{name} соответствует {pattern}",
  "approvalRules.matches": {
    one: "Подходит {count} известный инструмент",
    few: "Подходят {count} известных инструмента",
    many: "Подходят {count} известных инструментов",
    other: "Подходят {count} известного инструмента",
  },
  "approvalRules.matchesNone":
    "Подходящих инструментов сейчас нет. Правило начнёт действовать, когда они появятся.",
  "approvalRules.never": "Никогда не применяется: под эти вызовы уже подходит правило {number}.",
};
