/** Arabic texts for the configuration page. */
export const configuration = {
  "settings.configuration": "التكوين",
  "configuration.intro":
    "الإعدادات التي بدأ بها هذا الخادم. لتغيير أحدها عدّل {file} أو عيّن متغير البيئة الخاص به، ثم أعد تشغيل الخادم.",
  "configuration.introNoFile":
    "الإعدادات التي بدأ بها هذا الخادم. لتغيير أحدها أنشئ الملف {file} أو عيّن متغير البيئة الخاص به، ثم أعد تشغيل الخادم.",
  "configuration.search": "بحث",
  "configuration.onlySet": "الإعدادات المغيّرة فقط",
  "configuration.none": "لا توجد إعدادات مطابقة",
  "configuration.server": "الخادم",
  "configuration.secret": "(سري)",
  "configuration.default": "الافتراضي {value}",
  "configuration.from.default": "افتراضي",
  "configuration.from.file": "من الملف",
  "configuration.from.environment": "من متغيرات البيئة",
  "configuration.from.flag": "من خيار في سطر الأوامر",
};
