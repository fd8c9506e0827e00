/** Arabic texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "التحقق بخطوتين",
  "twoStep.intro":
    "بعد كلمة المرور تُدخل رمزًا من تطبيق مصادقة مثل Aegis أو Google Authenticator أو 1Password. فلا يستطيع من يعرف كلمة مرورك تسجيل الدخول بها وحدها. تعمل مفاتيح API كما كانت.",
  "twoStep.begin": "إعداد",
  "twoStep.beginText": "تحتاج إلى هاتف عليه تطبيق مصادقة. أكّد كلمة مرورك أولًا:",
  "twoStep.next": "متابعة",
  "twoStep.scan": "امسح رمز QR هذا بالتطبيق، ثم أدخل الرمز الذي يعرضه.",
  "twoStep.qr": "رمز QR للتطبيق",
  "twoStep.type": "أو أدخل هذا المفتاح في التطبيق:",
  "twoStep.code": "الرمز من التطبيق",
  "twoStep.codeHint": "ستة أرقام",
  "twoStep.wrong": "الرمز غير صحيح. انتظر الرمز التالي وتحقق من صحة الساعة في هاتفك.",
  "twoStep.turnOn": "تفعيل",
  "twoStep.onSince": "مفعّل منذ {date}.",
  "twoStep.left": {
    zero: "بقي {count} رمز استرداد.",
    one: "بقي رمز استرداد واحد.",
    two: "بقي رمزا استرداد.",
    few: "بقيت {count} رموز استرداد.",
    many: "بقي {count} رمز استرداد.",
    other: "بقي {count} رمز استرداد.",
  },
  "twoStep.renew": "رموز استرداد جديدة",
  "twoStep.renewText": "تحصل على عشرة رموز جديدة، وتبطل القديمة.",
  "twoStep.end": "إيقاف التحقق بخطوتين",
  "twoStep.endText": "ستسجّل الدخول بكلمة المرور وحدها. تبطل رموز التطبيق ورموز الاسترداد.",
  "twoStep.isOff": "التحقق بخطوتين متوقف.",
  "twoStep.noPassword": "تسجّل الدخول عبر مزوّد وليست لديك كلمة مرور هنا. أعدّ الخطوة الثانية هناك.",
  "twoStep.recoveryText":
    "تم تفعيل التحقق بخطوتين. احتفظ برموز الاسترداد هذه حيث تصل إليها دون هاتفك: يحل كل منها محل رمز التطبيق مرة واحدة. لا تُعرض إلا الآن.",
  "twoStep.copyCodes": "نسخ الكل",
  "twoStep.kept": "حفظتُها",
  "twoStep.enter": "خطوة واحدة بعد",
  "twoStep.recoveryCode": "رمز الاسترداد",
  "twoStep.recoveryCodeHint": "ستة عشر حرفًا ورقمًا؛ يصلح كل رمز مرة واحدة",
  "twoStep.submit": "متابعة",
  "twoStep.used": "الرمز غير صحيح أو استُخدم من قبل.",
  "twoStep.lost": "استخدام رمز استرداد",
  "twoStep.useApp": "استخدام التطبيق",
  "twoStep.startOver": "البدء من جديد",
  "twoStep.has": "التحقق بخطوتين",
  "twoStep.endOfConfirm":
    "بعدها يمكن لصاحب الحساب {name} تسجيل الدخول بكلمة المرور وحدها. تأكد من أن {name} هو من طلب ذلك فعلًا. وتنتهي كل جلساته.",
};
