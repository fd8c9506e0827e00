/** Arabic texts for web search. */
import type { webSearch as en } from "../en/web-search.ts";
import type { Entry } from "../index.svelte.ts";

export const webSearch: Record<keyof typeof en, Entry> = {
  "webSearch.title": "البحث في الويب",
  "webSearch.intro": "يستخدم الوكلاء والبحث الموسّع أول خدمة تستجيب.",
  "webSearch.fixed": "مضبوط في ملف التكوين أو متغيرات البيئة ويُغيَّر هناك.",
  "webSearch.add": "إضافة خدمة بحث",
  "webSearch.choose": "اختر…",
  "webSearch.own": "المواقع التي تم الزحف إليها",
  "webSearch.mcp": "أداة MCP",
  "webSearch.url": "عنوان URL لخادم SearXNG لديك",
  "webSearch.tool": "الأداة",
  "webSearch.toolHint": "اسمها الكامل كما يظهر ضمن «خوادم MCP».",
  "webSearch.ownHint": "يبحث في الصفحات التي أُضيفت إلى المكتبات بالزحف.",
  "webSearch.up": "نقل {name} إلى أعلى",
  "webSearch.remove": "إزالة {name}",
  "webSearch.works": {
    zero: "البحث يعمل: {count} نتيجة. الأولى: {title}",
    one: "البحث يعمل: نتيجة واحدة. الأولى: {title}",
    two: "البحث يعمل: نتيجتان. الأولى: {title}",
    few: "البحث يعمل: {count} نتائج. الأولى: {title}",
    many: "البحث يعمل: {count} نتيجة. الأولى: {title}",
    other: "البحث يعمل: {count} نتيجة. الأولى: {title}",
  },
  "webSearch.nothing": "الخدمة تستجيب، لكنها لم تجد شيئًا.",
};
