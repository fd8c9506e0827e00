/** Arabic texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "أمثلة الطلبات",
  "startPrompts.intro": "يراها الجميع في صفحة المحادثة الجديدة كما كُتبت هنا تمامًا.",
  "startPrompts.builtIn": "تعرض المحادثات الجديدة الأمثلة المدمجة بلغة كل مستخدم.",
  "startPrompts.of": "المثال {number}",
  "startPrompts.title": "العنوان (اختياري)",
  "startPrompts.text": "الطلب",
  "startPrompts.clickHint": "نقرة واحدة ترسل الطلب. وإذا انتهى بنقطتين فإنه يوضع في مربع الرسالة لإكماله.",
  "startPrompts.add": "إضافة مثال",
  "startPrompts.up": "نقل المثال {number} إلى أعلى",
  "startPrompts.down": "نقل المثال {number} إلى أسفل",
  "startPrompts.remove": "إزالة المثال {number}",
  "startPrompts.removed": "أُزيل المثال",
  "startPrompts.missing": "أدخل الطلب.",
  "startPrompts.tooLong": "{limit} حرف على الأكثر، بما في ذلك العنوان.",
  "startPrompts.useBuiltIn": "استخدام الأمثلة المدمجة",
  "startPrompts.usesBuiltIn": "تعرض المحادثات الجديدة الأمثلة المدمجة",
};
