/** Arabic texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "مفاتيح المرور",
  "passkeys.intro":
    "تسجيل الدخول ببصمة الإصبع أو الوجه أو رقم PIN للجهاز بدل كلمة المرور والرمز. لا يمكن تخمين مفتاح المرور ولا تصيّده. وتظل كلمة المرور صالحة.",
  "passkeys.name": "الاسم",
  "passkeys.nameHint": "مثل: الهاتف، مفتاح الأمان",
  "passkeys.make": "إضافة مفتاح مرور",
  "passkeys.makeText": "أكّد كلمة المرور، ثم يسألك المتصفح عن مكان حفظ مفتاح المرور.",
  "passkeys.made": "أُضيف مفتاح المرور. يمكنك الآن تسجيل الدخول به.",
  "passkeys.madeAt": "أُنشئ في {date} لـ {host}",
  "passkeys.used": "آخر استخدام {date}",
  "passkeys.unused": "لم يُستخدم قط",
  "passkeys.copied": "ربما نُسخ مفتاح المرور هذا، لذا عُطّل. أزله.",
  "passkeys.remove": "إزالة مفتاح المرور",
  "passkeys.removeConfirm":
    "إزالة «{name}»؟ لن يمكنك تسجيل الدخول به. احذفه من الجهاز أيضًا، وإلا فسيواصل الجهاز عرضه.",
  "passkeys.known": "لدى هذا الجهاز مفتاح مرورك لهذا الخادم بالفعل.",
  "passkeys.notMade": "لم يُضف مفتاح المرور: أُلغيت العملية أو انتهت مهلتها أو لا يدعمها هذا الجهاز.",
  "passkeys.notHere": "تتطلب مفاتيح المرور متصفحًا يدعمها واتصال HTTPS باسم مضيف، أو localhost.",
  "passkeys.logIn": "تسجيل الدخول بمفتاح مرور",
  "passkeys.notUsed": "لم يُستخدم مفتاح المرور: أُلغيت العملية أو انتهت مهلتها أو ليس على هذا الجهاز.",
  "passkeys.wrong": "لم يعد مفتاح المرور هذا صالحًا هنا. سجّل الدخول بكلمة المرور وراجع مفاتيح مرورك.",
  "passkeys.has": "مفاتيح مرور",
  "passkeys.removeShort": "إزالة مفاتيح المرور",
  "passkeys.removeOfConfirm":
    "بعدها يمكن لصاحب الحساب {name} تسجيل الدخول بكلمة المرور وإضافة مفاتيح مرور جديدة. وتنتهي كل جلساته.",
};
