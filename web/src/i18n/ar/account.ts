/** Arabic texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "مرحبًا بك في Glasshouse",
  "setup.intro": "خادم وكلاء بجدران من زجاج: تظهر كل خطوة لحظة حدوثها. أنشئ أولًا حساب المشرف.",
  "setup.submit": "إنشاء الحساب",
  "login.title": "تسجيل الدخول",
  "login.submit": "تسجيل الدخول",
  "login.forgotten": "نسيت كلمة المرور؟",
  "login.forgottenHelp": "اطلب رابط إعادة التعيين من أحد مشرفي هذا الخادم.",
  "login.or": "أو",
  "login.with": "المتابعة باستخدام {name}",
  "login.problem.unknown": "بدأ تسجيل الدخول هذا في متصفح آخر أو استغرق وقتًا طويلًا. أعد المحاولة.",
  "login.problem.denied": "أفاد {name} برفضك منح الإذن. أعد المحاولة.",
  "login.problem.refused":
    "تعذّر على {name} تأكيد هويتك. أعد المحاولة، وإن تكرّر الأمر فتواصل مع أحد المشرفين.",
  "login.problem.unreachable": "يتعذّر الوصول إلى {name}. حاول لاحقًا.",
  "login.problem.notAllowed": "لا يحق لأي من مجموعاتك في {name} الدخول إلى هنا. تواصل مع أحد المشرفين.",
  "login.problem.groupsUnknown":
    "لم يرسل {name} مجموعاتك، والدخول إلى هنا مقصور على مجموعات معيّنة. تواصل مع أحد المشرفين.",
  "login.groupsKept": "لم يرسل {name} مجموعاتك هذه المرة، لذا بقيت مجموعاتك ودورك هنا كما هي.",
  "login.problem.noAccount": "ليس لديك حساب هنا بعد. اطلبه من أحد المشرفين.",
  "login.problem.addressTaken": "يوجد حساب ببريدك الإلكتروني بالفعل. سجّل الدخول بكلمة مروره.",
  "login.problem.noAddress": "لم يشارك {name} بريدك الإلكتروني، وهو مطلوب هنا. تواصل مع أحد المشرفين.",
  "login.problem.suspended": "هذا الحساب معلّق. تواصل مع أحد المشرفين.",
  "login.problem.codeNeeded":
    "سجّل الخادم الوسيط دخولك، لكن هذا الحساب يتطلب رمزًا أيضًا. سجّل الدخول بكلمة المرور.",
  "proxy.name": "الخادم الوسيط",
  "proxy.signsOut": "يتولى الخادم الوسيط أمام هذا الخادم تسجيل دخولك. سجّل الخروج من هناك.",
  "proxy.sessions":
    "يتولى الخادم الوسيط أمام هذا الخادم تسجيل دخولك، فلا يحتاج هذا المتصفح إلى جلسة. سجّل الخروج من هناك.",
  "login.problem.notSetUp": "لم يُجهَّز هذا الخادم بعد. ينشئ مشرفه الحساب الأول.",
  "close.open": "حذف الحساب…",
  "close.title": "حذف حسابي",
  "close.text":
    "يُحذف حسابك فورًا ونهائيًا مع كل محادثاتك وملفاتك وذكرياتك ومهامك المجدولة ومفاتيحك. تبقى إجماليات الاستخدام على الخادم دون اسمك. أكّد بكلمة المرور، وإن لم تكن لديك فتواصل مع أحد المشرفين.",
  "close.wrong": "كلمة المرور غير صحيحة.",
  "settings.profile": "الملف الشخصي",
  "profile.role": "الدور",
  "profile.save": "حفظ",
  "profile.saved": "تم تغيير الاسم.",
  "profile.others": "لا يمكن تغيير بريدك الإلكتروني ودورك إلا لمشرف.",
};
